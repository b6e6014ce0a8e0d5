"""``hookline check FILE``: exactly that file, in the words of whose it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

BAD = '[[hook]]\nname = "b"\non = "PreTolUse"\nrun = "true"\n'


def test_guards_that_cannot_refuse_are_named(project: Any) -> None:
    hook = "[[hook]]\nname = '{0}'\non = 'PreToolUse'\nshell = 'exit 2'\n{1}\n"
    rows = {"open": "on_failure = 'ignore'", "closed": "on_failure = 'deny'", "watcher": "mode = 'background'"}
    rows |= {mode: f"mode = '{mode}'\non_failure = 'deny'" for mode in ("background", "detached", "apply-later")}
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text("".join(hook.format(*row) for row in rows.items()))
    told = project.run("check")
    assert 'goes ahead (on_failure = "deny" refuses it): open\n' in told.out
    for mode in ("background", "detached", "apply-later"):
        assert f"'{mode}' runs in mode {mode}, so its failure comes too late to refuse" in told.out
    assert "'watcher' runs in mode background, so its answer comes too late to refuse" in told.out
    told = project.run("check", "--json").json
    assert (told["fail_open"], len(told["problems"])) == (["open"], 4)


def test_an_exception_that_has_expired_is_named(project: Any) -> None:
    row = '[[guard.exception]]\npath = "/data/{0}"\nuntil = "{1}"\nreason = "once"\n'
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[guard]\n" + row.format("old", "2001-01-31") + row.format("new", "2999-01-31"))
    (told,) = project.run("check", "--json").json["problems"]
    assert (told["file"], told["severity"]) == (str(own), "warning")
    assert told["finding"] == "the exception for '/data/old' ended on 2001-01-31, and has no effect any more"


def test_files_beside_those_that_are_read_are_named_with_their_place(project: Any) -> None:
    project.write(".hookline/local.toml", "")
    project.write(".hookline/hookline.local.toml", BAD)
    project.write("hookline.toml", BAD)
    told = project.run("check", "--json").json
    assert [(one["file"], one["fix"]) for one in told["problems"]] == [
        (f"{project.path}/hookline.toml", f"move it to {project.path}/.hookline/hookline.toml"),
        (f"{project.path}/.hookline/hookline.local.toml", f"move it to {project.path}/.hookline/local.toml"),
    ]


def test_a_named_file_is_checked_and_no_other(project: Any) -> None:
    project.write(".hookline/hookline.toml", BAD)
    project.write("mine.toml", BAD.replace("PreTolUse", "PreToolUse"))
    assert project.run("check").code == 78
    assert project.run("check", "mine.toml").code == 0
    told = project.run("check", ".hookline/hookline.toml")
    assert (told.code, "did you mean 'PreToolUse'?" in told.out) == (78, True)


@pytest.mark.parametrize(
    ("name", "text", "dialect"),
    [
        ("lectic.yaml", "hooks:\n  - on: user_message\n    do: 'true'\n", "lectic"),
        (".letta/settings.json", '{"hooks": {"Foo": []}}', "letta"),
        (".claude/settings.local.json", '{"hooks": {"Foo": []}}', "claude"),
        (".codex/hooks.json", '{"hooks": {"Foo": []}}', "codex"),
        (".gemini/settings.json", '{"hooks": {"Foo": []}}', "gemini"),
        ("lazy-harness/config.toml", "[hooks.session_start]\nscripts = []\n", "lazy"),
        ("plugins.conf", "[plugins]\n", "lash"),
        ("other.toml", "", "native"),
    ],
)
def test_whose_file_it_is_is_seen_by_its_name(project: Any, name: str, text: str, dialect: str) -> None:
    project.write(name, text)
    assert [one["dialect"] for one in project.run("check", name, "--json").json["files"]] == [dialect]


def test_files_of_several_dialects_are_checked_at_once(project: Any) -> None:
    project.write("lectic.yaml", "hooks: []\n")
    project.write(".letta/settings.json", json.dumps({"hooks": {"Foo": []}}))
    told = project.run("check", "lectic.yaml", ".letta/settings.json", "--json").json
    assert [one["dialect"] for one in told["files"]] == ["lectic", "letta"]
    assert ["Foo" in one["finding"] for one in told["problems"]] == [True]


def test_a_file_that_could_be_anybodys_asks_whose_it_is(project: Any) -> None:
    project.write("some.yaml", "hooks: []\n")
    told = project.run("check", "some.yaml")
    assert (told.code, "--dialect" in told.out) == (78, True)
    assert project.run("check", "some.yaml", "--dialect", "lectic").code == 0


def test_a_file_that_is_not_there_is_told(project: Any) -> None:
    told = project.run("check", "nowhere.yaml")
    assert (told.code, "there is no such file" in told.out) == (78, True)


def test_a_directory_is_no_file_of_an_unknown_format(project):
    (project.path / "folder").mkdir()
    told = project.run("check", "folder")
    assert (told.code, told.out.splitlines()[:2]) == (
        78,
        [f"{project.path / 'folder'}: error: this is a directory, not a file", "    fix: name a file in it"],
    )
