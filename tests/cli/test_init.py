"""``hookline init``: one command until agents refuse, and a second one that changes nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Project, Result

PAYLOAD = {
    "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "r''m -rf ~"}, "session_id": "s",
}  # fmt: skip


@pytest.fixture
def found(project: Project) -> Project:
    """Somebody who has used three agents."""
    for folder in (".claude", ".gemini", ".config/opencode"):
        (project.home / folder).mkdir(parents=True)
    return project


def own_file(project: Project) -> Path:
    return project.home / ".config" / "hookline" / "hookline.toml"


#: A project's registration calls hookline by its name.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def init(project: Project, *words: str) -> Any:
    return project.run("init", "--yes", "--json", *words, PATH=PATH).json


def ask(project: Project, **payload: Any) -> Result:
    return project.run("hook", "--agent", "claude-code", "--cold", stdin=json.dumps({**PAYLOAD, **payload}))


def refusal(project: Project, **payload: Any) -> str:
    said = json.loads(ask(project, **payload).out or "{}").get("hookSpecificOutput", {})
    return str(said.get("permissionDecisionReason", ""))


def test_one_command_guards_every_agent_that_is_found(found: Project) -> None:
    result = found.run("init", "--yes")
    assert result.code == 0, result.err
    assert own_file(found).read_text() == '[guard]\npolicy = "standard"\n'
    for agent in ("claude-code", "gemini-cli", "opencode"):
        assert f"{agent} refuses rm -rf ~: guard: rm -rf ~" in result.out
    assert found.run("guard", "report", "--json").json["commands"] == [], "a trial is no agent's call"
    assert "m -rf ~: files are deleted" in refusal(found)


def test_the_probe_goes_through_what_is_registered(found: Project) -> None:
    """An entry that answers something else is not taken for a guard."""
    stub = found.write("bin/hookline", "#!/bin/sh\ntouch called\necho '{}'\n", mode=0o755)
    words = ("init", "--yes", "--json", "--agent", "claude", "--scope", "project")
    told = found.run(*words, PATH=f"{stub.parent}{os.pathsep}{PATH}")
    assert (found.path / "called").exists()
    assert (told.code, told.json["agents"][0]["probe"]["refused"]) == (1, None)
    assert found.run(*words, PATH=PATH).code == 0


def test_doing_it_again_changes_nothing(found: Project) -> None:
    first = init(found)
    files = {path: path.read_bytes() for path in found.home.rglob("*") if path.is_file() and ".local" not in path.parts}
    second = init(found)
    assert (first["changed"], second["changed"]) == (True, False)
    assert {path: path.read_bytes() for path in files} == files
    assert "Nothing to change: the standard guard was set up already." in found.run("init", "--yes").out


def test_what_else_is_in_the_file_stays(found: Project) -> None:
    own_file(found).parent.mkdir(parents=True)
    before = '# mine\n[limits]\ntimeout = "5s" # short\n\n[guard] # ready\nallow = "read-only"\npolicy = "watch" # for now\n\n[[guard.rule]]\neffect = "send"\nthen = "deny"\n'
    own_file(found).write_text(before)
    assert init(found)["policy"] == "watch"
    assert own_file(found).read_text() == before
    assert init(found, "--guard", "strict")["policy"] == "strict"
    assert own_file(found).read_text() == before.replace('"watch"', '"strict"')


def test_watching_refuses_nothing_and_reports(found: Project) -> None:
    told = init(found, "--watch")
    assert told["policy"] == "watch"
    assert [row["probe"]["refused"] for row in told["agents"]] == [False] * 3
    assert refusal(found) == ""
    ask(found, hook_event_name="PermissionRequest")
    report = found.run("guard", "report", "--json").json
    assert [(one["would"], one["count"]) for one in report["commands"]] == [("deny", 1)]
    assert "would have refused" in found.run("guard", "report").out


def test_a_project_gets_a_guard_that_is_approved_and_nothing_else_is(found: Project) -> None:
    found.write(".hookline/hookline.toml", '[[hook]]\nname = "theirs"\non = "PreToolUse"\nshell = "exit 2"\n')
    told = init(found, "--scope", "project", "--agent", "claude")
    assert told["file"] == str(found.path / ".hookline" / "hookline.toml")
    trusted = found.run("trust", "--list", "--json").json["trusted"]
    assert {one["hook"] for one in trusted} == {"guard"}
    assert "m -rf ~: files are deleted" in refusal(found)
    assert refusal(found, tool_input={"command": "ls"}) == ""


def test_a_project_cannot_loosen_ones_own_guard(found: Project) -> None:
    init(found, "--agent", "claude")
    found.write(
        ".hookline/hookline.toml",
        '[guard]\npolicy = "watch"\nallow = "read-only"\n[[guard.rule]]\neffect = "any"\nthen = "allow"\n'
        '[[guard.exception]]\neffect = "delete"\nuntil = "2999-01-01"\nreason = "x"\n',
    )
    assert "m -rf ~: files are deleted" in refusal(found)
    assert found.run("trust", "--yes").code == 0
    assert "m -rf ~: files are deleted" in refusal(found)


def test_a_project_may_tighten_once_it_is_approved(found: Project) -> None:
    init(found, "--agent", "claude")
    found.write(".hookline/hookline.toml", '[[guard.rule]]\neffect = "delete"\nthen = "deny"\n')
    assert refusal(found, tool_input={"command": "rm -r build"}) == ""
    assert found.run("trust", "--yes").code == 0
    assert "rm -r build" in refusal(found, tool_input={"command": "rm -r build"})


@pytest.mark.parametrize(
    "edit",
    [
        '[guard]\npolicy = "watch"\n',
        "",
        '[guard]\npolicy = "standard"\n[[guard.exception]]\ncommand = "r\'\'m -rf ~"\nuntil = "2999-01-01"\nreason = "x"\n',
    ],
)
def test_an_agent_that_edits_the_file_loosens_nothing(found: Project, edit: str) -> None:
    init(found, "--agent", "claude")
    own_file(found).write_text(edit)
    assert "m -rf ~: files are deleted" in refusal(found)
    assert "guard changed since the last deploy and stays in force as it was" in ask(found).err


def test_an_agent_cannot_set_up_its_own_guard(found: Project) -> None:
    init(found, "--agent", "claude")
    result = found.run("init", "--yes", "--watch", CLAUDECODE="1")
    assert result.code == 64
    assert "an agent cannot set up its own guard" in result.err
    assert "standard" in own_file(found).read_text()


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────────────


def test_without_an_agent_it_says_which_there_are(project: Project) -> None:
    result = project.run("init", "--yes", PATH="/nowhere")
    assert (result.code, result.out) == (64, "")
    assert "no agent was found" in result.err
    assert not own_file(project).exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--agent", "nope"), "unknown agent 'nope'"),
        (("--scope", "local"), "--scope cannot be 'local'; write one of user, project"),
    ],
)
def test_a_wrong_word_is_told_before_a_missing_terminal(found: Project, words: tuple[str, str], told: str) -> None:
    result = found.run("init", *words)
    assert result.code == 64
    assert told in result.err


def test_without_a_terminal_nothing_is_asked(found: Project) -> None:
    result = found.run("init")
    assert result.code == 64
    assert "there is no terminal to ask at" in result.err
    assert not own_file(found).exists()


@pytest.mark.parametrize("text", ["[[hook\n", "guard = 3\n"])
def test_a_broken_file_is_left_alone(found: Project, text: str) -> None:
    own_file(found).parent.mkdir(parents=True)
    own_file(found).write_text(text)
    result = found.run("init", "--yes")
    assert result.code == 78
    assert str(own_file(found)) in result.err
    assert own_file(found).read_text() == text
    assert not (found.home / ".claude" / "settings.json").exists()


@pytest.mark.parametrize(
    "words", [("--watch", "--guard", "strict"), ("--scope", "local"), ("--agent", "nobody"), ("--guard", "lax")]
)
def test_what_cannot_be_is_said(found: Project, words: tuple[str, ...]) -> None:
    assert found.run("init", "--yes", *words).code == 64
    assert not own_file(found).exists()


def test_a_misspelt_pack_is_asked_for_again(found: Project) -> None:
    shown = at_a_terminal(found, "claude\nuser\nstandard\nsecrts budget\nsecrets, budget\nn\n")
    assert "There is no pack 'secrts'; did you mean 'secrets'?" in shown
    assert [f"hookline:{name}," in shown for name in ("secrets", "budget")] == [True, True]
    assert "Nothing changed." in shown


def test_a_misspelt_agent_is_asked_for_again_and_the_end_names_the_pack(found: Project) -> None:
    shown = at_a_terminal(found, "banana\nclaude\nproject\nstandard\nsecrets\n\n")
    assert "unknown agent 'banana'; write one of " in shown
    assert "added the pack hookline:secrets" in shown


def test_a_directory_that_cannot_be_written_is_said_with_an_option_of_init(found: Project) -> None:
    (found.home / ".config" / "hookline").touch()
    result = found.run("init", "--yes")
    assert (result.code, "(--scope user or project)" in result.err) == (78, True)


def test_a_person_is_asked_and_sees_what_will_be_written(found: Project) -> None:
    shown = at_a_terminal(found, "claude\nproject\nstr\n\n\n")
    assert "Agents: claude-code, gemini-cli, opencode" in shown
    assert '+ policy = "strict"' in shown
    assert "claude-code refuses rm -rf ~" in shown
    assert "strict" in (found.path / ".hookline" / "hookline.toml").read_text()


def test_a_person_who_says_no_changes_nothing(found: Project) -> None:
    assert "Nothing changed." in at_a_terminal(found, "\n\n\nnone\nn\n")
    assert not own_file(found).exists()


def at_a_terminal(project: Project, typed: str) -> str:
    near, far = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "hookline", "init"], stdin=far, stdout=far, stderr=far, cwd=project.path,
        env={"PATH": PATH, "HOME": str(project.home), "LANG": "C.UTF-8"},
    ) as process:  # fmt: skip
        os.close(far)
        os.write(near, typed.encode())
        shown = b""
        while chunk := _read(near):
            shown += chunk
        process.wait(timeout=60)
    os.close(near)
    return re.sub(r"\x1b\[\d*m", "", shown.decode().replace("\r\n", "\n"))


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""


def test_an_agent_that_cannot_be_approved_does_not_stop_the_others(found: Project) -> None:
    """Its folder is there, its program is not, so nobody can be asked to approve what was registered."""
    (found.home / ".codex").mkdir()
    result = found.run("init", "--yes", PATH="/usr/bin:/bin")
    assert result.code == 1
    assert "claude-code refuses rm -rf ~" in result.out
    assert (
        "codex does not refuse rm -rf ~: Codex could not be asked about its hooks, because codex is not in"
        in result.out
    )
    assert (result.out + result.err).count("could not be asked") == 1
