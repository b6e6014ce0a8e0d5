"""``hookline hook``: what an agent is told, in its own words, about what it can and cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ASKING = """
[[hook]]
name = "asks"
on = "UserPromptSubmit"
on_unsupported = "{policy}"
shell = '''echo '{{"effect": "ask", "reason": "sure?"}}' '''
"""


@pytest.mark.parametrize(("policy", "code"), [("deny", 2), ("ignore", 0)])
def test_what_an_agent_cannot_ask_is_refused_unless_the_hook_may_be_dropped(project, policy, code):
    project.write("hooks.toml", ASKING.format(policy=policy))
    payload = {"event_type": "UserPromptSubmit", "working_directory": str(project.path), "prompt": "hi"}
    result = project.run("hook", "--agent", "letta-code", "--config", "hooks.toml", stdin=json.dumps(payload))
    assert (result.code, "cannot ask" in result.err) == (code, policy == "deny")


def test_a_claude_payload_is_answered_in_claudes_words(project):
    project.write(
        "hooks.toml", "[[hook]]\nname = 'no'\non = 'PreToolUse'\nmatch = 'Bash'\nshell = 'echo never >&2; exit 2'\n"
    )
    payload = {
        "hook_event_name": "PreToolUse",
        "cwd": str(project.path),
        "tool_name": "Bash",
        "tool_input": {"command": "x"},
    }
    result = project.run("hook", "--agent", "claude", "--config", "hooks.toml", stdin=json.dumps(payload))
    assert (result.code, result.json["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")


def test_junk_from_an_agent_is_bad_data_and_never_exit_2(project):
    assert project.run("hook", "--agent", "claude", stdin="{").code == 65
    assert project.run("hook", "--agent", "claude", stdin="[]").code == 65
    assert project.run("hook", "--agent", "claude", stdin="{}").code == 64
    assert project.run("hook", "--agent", "nobody", stdin="{}").code == 64


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        ('[[hook]]\nname = "x"\non = "PreTolUse"\nrun = "true"\n', 3),
        ('[[source]]\ndialect = "lectic"\npath = "gone.yaml"\n', 3),
        ('[[source]]\ndialect = "lectik"\n', 2),
        ("[[hook]\n", 1),
    ],
)
def test_a_mistake_in_ones_own_file_refuses_and_says_where_it_is(project: Any, mistake: str, line: int) -> None:
    folder = Path(project.home) / ".config/hookline"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hookline.toml").write_text(mistake)
    sent = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})
    words = ("hook", "--agent", "claude-code", "--event", "PreToolUse", "--cold")
    refused = project.run(*words, "--on-failure", "deny", stdin=sent)
    said = json.loads(refused.out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert f"hookline.toml:{line}: " in said["permissionDecisionReason"]
    assert "hookline check" in said["permissionDecisionReason"]
    assert project.run(*words, stdin=sent).out == ""  # nobody asked for more than a word about it


def test_what_was_refused_because_the_agent_cannot_do_it_is_recorded_as_a_refusal(project: Any) -> None:
    project.write("hooks.toml", ASKING.format(policy="deny"))
    payload = {"event_type": "UserPromptSubmit", "working_directory": str(project.path), "prompt": "hi"}
    asked = ("hook", "--agent", "letta-code", "--config", "hooks.toml")
    assert project.run(*asked, stdin=json.dumps(payload)).code == 2
    (row,) = [json.loads(line) for line in project.run("log", "--json", "--effect", "deny").out.splitlines()]
    assert "so the call was refused: ask" in row["ignored"][0]["text"]
    assert [one["effect"] for one in row["outcomes"]] == ["ask"]
    again = project.run("replay", "--last", "1", "--config", "hooks.toml")
    assert (again.code, "deny → deny" in again.out) == (0, True)


_REFUSES = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}


def test_the_dialect_of_a_named_file_is_detected_as_check_does(project: Any) -> None:
    project.write(".letta/settings.json", json.dumps({"hooks": _REFUSES}))
    project.write("more.toml", '[[hook]]\nname = "more"\non = "PreToolUse"\nshell = "true"\n')
    payload = {"event_type": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    files = ("--config", "more.toml", "--config", ".letta/settings.json")
    result = project.run("hook", "--agent", "letta-code", *files, stdin=json.dumps(payload))
    assert (result.code, result.err) == (2, "no")
    fired = project.fire("PreToolUse", {"tool_name": "Bash"}, *files)
    assert [one["hook"] for one in fired.json["outcomes"]] == ["more", "echo no >&2; exit 2"]


def test_a_named_file_of_unknown_format_is_reported(project: Any) -> None:
    project.write("strange.json", "{}")
    payload = {"event_type": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    words = ("--agent", "letta-code", "--config", "strange.json", "--on-failure", "deny")
    result = project.run("hook", *words, stdin=json.dumps(payload))
    assert (result.code, "name its dialect with --dialect" in result.err) == (2, True)


@pytest.mark.parametrize("dialect", ["native", "letta"])
def test_guards_in_a_home_inside_the_project_are_not_dropped_silently(project: Any, dialect: str) -> None:
    """As in a container. A repository can set HOME in an agent's settings, so that file cannot count as one's own."""
    home = project.path / "home"
    project.write("home/.config/hookline/hookline.toml", '[[hook]]\nname = "g"\non = "PreToolUse"\nshell = "exit 2"\n')
    project.write("home/.letta/settings.json", json.dumps({"hooks": _REFUSES}))
    payload = {"event_type": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    words = ("hook", "--agent", "letta-code", "--dialect", dialect)
    result = project.run(*words, stdin=json.dumps(payload), HOME=str(home))
    assert (result.code, "lies in the project" in result.err) == (0, True)
    assert project.run(*words, "--on-failure", "deny", stdin=json.dumps(payload), HOME=str(home)).code == 2
    named = project.run(*words, "--home", str(home), stdin=json.dumps(payload), HOME=str(home))
    assert (named.code, "lies in the project" in named.err) == (2, False)
