"""``hookline hook``: what an agent is told, in its own words, about what it can and cannot do."""

from __future__ import annotations

import json

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
