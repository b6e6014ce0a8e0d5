"""``hookline list`` and ``hookline hooks list``: the hooks somebody wrote, and whether they are trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookline.core.event import EVENTS

ECHO = Path(__file__).parents[1] / "processes" / "plugins" / "echo_plugin.py"


def test_the_hooks_of_a_plugin_are_trusted_with_it_and_only_those_that_somebody_wrote_are_listed(project: Any) -> None:
    project.write("plugins.conf", f"[plugins]\necho = {ECHO}\n")
    project.write(".hookline/hookline.toml", '[[source]]\ndialect = "lash"\npath = "plugins.conf"\n')
    assert {one["trust"] for one in project.run("list", "--json").json["hooks"]} == {"unknown"}
    assert project.run("trust", "--yes").code == 0
    for words in (("list",), ("hooks", "list")):
        hooks = project.run(*words, "--json").json["hooks"]
        assert {one["trust"] for one in hooks} == {"trusted"}
        assert "plugin.describe" not in {name for one in hooks for name in one.get("events", [one.get("event")])}
        assert hooks


def test_events_are_listed_with_their_names_what_a_deny_stops_and_who_hears_them(project: Any) -> None:
    project.write("h.toml", '[[hook]]\nname = "guard"\non = "PreToolUse"\nrun = "true"\n')
    events = {
        one["event"]: one for one in project.run("list", "--events", "--config", "h.toml", "--json").json["events"]
    }
    assert set(events) == set(EVENTS)
    one = events["PreToolUse"]
    assert (one["deny_stops"], one["hooks"], one["names"]["gemini"]) == ("the tool call", ["guard"], ["BeforeTool"])
    assert ("claude-code" in one["agents"], events["RunEnd"]["deny_stops"]) == (True, None)
    out = project.run("list", "--events", "--config", "h.toml").out
    (line,) = (line for line in out.splitlines() if line.startswith("PreToolUse "))
    assert "the tool call" in line
    assert "guard" in line
    assert "tool_use_pre (lectic)" in line


def test_the_events_of_one_dialect_or_of_one_name(project: Any) -> None:
    gemini = project.run("list", "--events", "--dialect", "gemini-cli", "--json").json["events"]
    assert len(gemini) == 11
    named = project.run("list", "--events", "--event", "session_start", "--json").json["events"]
    assert [one["event"] for one in named] == ["SessionStart", "UserPromptSubmit"]


def test_hooks_are_found_by_any_name_of_their_event(project: Any) -> None:
    project.write("h.toml", '[[hook]]\nname = "guard"\non = "PreToolUse"\nrun = "true"\n')
    for name, found in (("PreToolUse", 1), ("BeforeTool", 1), ("tool_use_pre", 1), ("Stop", 0), ("session_start", 0)):
        assert len(project.run("list", "--event", name, "--config", "h.toml", "--json").json["hooks"]) == found, name


def test_an_event_that_nobody_knows_is_wrong_usage_and_the_list_is_named(project: Any) -> None:
    for words in (
        ("fire", "PreTool"),
        ("explain", "PreTool"),
        ("list", "--event", "PreTool"),
        ("log", "--event", "PreTool"),
        ("deploy", "--dry-run", "--agent", "codex", "--events", "PreTool"),
    ):
        told = project.run(*words)
        assert (told.code, told.out) == (64, ""), words
        assert "did you mean 'PreToolUse'" in told.err, words
        assert "hookline list --events" in told.err, words


def test_a_file_that_was_named_and_is_not_there_is_bad_configuration(project: Any) -> None:
    for words in (
        ("list",),
        ("list", "--json"),
        ("list", "--events"),
        ("explain", "Stop"),
        ("explain", "Stop", "--json"),
    ):
        told = project.run(*words, "--config", "nowhere.toml")
        assert (told.code, told.out, "there is no such file" in told.err) == (78, "", True), words


def test_a_hook_that_cannot_be_read_is_told_to_programs_too(project: Any) -> None:
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "b"\non = "PreTolUse"\nrun = "true"\n')
    for words in (("list", "--json"), ("explain", "Stop", "--json"), ("trust",)):
        assert "did you mean 'PreToolUse'?" in project.run(*words).err, words


def test_a_hook_of_ones_own_is_on_until_somebody_approves_that_a_project_turns_it_off(project: Any) -> None:
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[hook]]\nname = "guard"\non = "Stop"\nrun = "true"\n')
    project.write(".hookline/hookline.toml", '[[hook]]\nname = "guard"\nenabled = false\n')
    assert project.run("list", "--json").json["hooks"][0]["enabled"] is True
    assert f"it disables your own guard ({own}:1): true" in project.run("trust").out
    project.run("trust", "--yes")
    assert project.run("list", "--json").json["hooks"][0]["enabled"] is False


GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "echo no >&2; exit 2"\non_failure = "deny"\n'


def test_a_new_hook_does_not_show_the_figures_of_the_one_before_it(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    project.fire("PreToolUse")
    assert project.run("list", "--json").json["hooks"][0]["fired"] == 1
    project.write(".hookline/hookline.toml", GUARD.replace('"guard"', '"new"') + GUARD)
    project.run("trust", "--yes")
    assert {one["hook"]: one["fired"] for one in project.run("list", "--json").json["hooks"]}["new"] == 0


def test_a_guard_that_refuses_because_its_file_has_errors_is_listed(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    project.write(".hookline/hookline.toml", GUARD + "x = = 1\n")
    done = project.run("list")
    row = next(line for line in done.out.splitlines() if line.startswith("guard"))
    assert row.split(maxsplit=3)[:3] == ["guard", "PreToolUse", "refuses"]
    assert "file has errors" in row
    assert "hookline check" in done.err
    missing = [{"hook": "guard", "event": "PreToolUse", "file": str(project.path / ".hookline/hookline.toml")}]
    assert project.run("list", "--json").json == {"hooks": [], "missing": missing}
    reason = project.fire("PreToolUse").json["reason"]
    assert (
        reason
        == f"hook failed: {missing[0]['file']} has errors, so this hook cannot be read; see: hookline check (the hook 'guard')"
    )


def test_every_command_counts_hooks_alike(project):
    many = GUARD.replace('"PreToolUse"', '["PreToolUse", "Stop"]')
    project.write(".hookline/hookline.toml", many + GUARD.replace('"guard"', '"off"') + "enabled = false\n")
    assert project.run("trust", "--yes").out.splitlines()[-2] == "Approved 2 hooks."
    assert project.run("check").out.splitlines()[-1] == "1 file, 2 hooks, 0 errors, 0 warnings"
    found = [one["text"] for one in project.run("doctor", "--json").json["hookline"] if one["about"] == "hooks"]
    assert found == ["2 hooks, 1 on"]
    counted = project.run("status", "--json").json["hooks"]
    assert (counted["total"], counted["on"]) == (2, 1)
