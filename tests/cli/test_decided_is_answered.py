"""Once decided, the answer is given: nothing that fails afterwards changes it."""

from __future__ import annotations

import json

import pytest

from .conftest import Project

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}


def ask(project: Project, reply: str) -> str:
    own = project.home / ".config" / "hookline"
    own.mkdir(parents=True)
    (own / "reply.json").write_text(reply)
    (own / "hookline.toml").write_text(f"[[hook]]\nname = 'no'\non = 'PreToolUse'\nshell = 'cat {own}/reply.json'\n")
    result = project.run("hook", "--agent", "claude-code", "--cold", stdin=json.dumps(PAYLOAD))
    assert result.code == 0, result.err
    return str(result.json["hookSpecificOutput"]["permissionDecision"])


@pytest.mark.parametrize("line", ['[["x"],[]]', "[[],[[]]]"])
def test_a_bad_line_in_the_journal_loses_no_deny(project: Project, line: str) -> None:
    state = project.home / ".local" / "state" / "hookline"
    state.mkdir(parents=True, mode=0o700)
    (state / "hookline.db.journal").write_text(f"{line}\n")
    assert ask(project, '{"effect": "deny", "reason": "no"}') == "deny"
    assert (state / "hookline.db.journal.bad").read_text() == f"{line}\n"
    assert project.run("log").code == 0


def test_half_a_character_in_a_reason_loses_no_deny(project: Project) -> None:
    assert ask(project, '{"effect": "deny", "reason": "bad \\ud800 x"}') == "deny"
