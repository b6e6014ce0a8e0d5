"""Hooks that were written for these agents, run here: what they read and what their answers mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.syntax import parse_text
from hookline.core.hook import HookSpec
from hookline.core.result import Context, HookError, Reply, RunResult
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer, Lookup
from hookline.testing import event

BEFORE = {"codex": "PreToolUse", "gemini": "BeforeTool", "qwen": "PreToolUse", "copilot": "preToolUse"}


def specs(agent: str, name: str = "", **hook: Any) -> tuple[HookSpec, ...]:
    name = name or BEFORE[agent]
    told = {"type": "command", "command": "guard", **hook}
    groups = [told] if agent == "copilot" else [{"matcher": "Bash", "hooks": [told]}]
    text = json.dumps({"hooks": {name: groups}})
    dialect = dialect_named(agent)
    tree = parse_text("f", text, "json").tree
    parsed = dialect.parse([Layer(path="/f", name="user", syntax="json", text=text, tree=tree)], Lookup())
    assert not parsed.problems
    return parsed.specs


def reply(agent: str, raw: RunResult, happening: str = "PreToolUse") -> Reply | HookError:
    (spec,) = specs(agent)
    return dialect_named(agent).reply_in(spec, event(happening), raw)


@pytest.mark.parametrize("agent", BEFORE)
def test_a_hook_reads_the_event_under_the_agents_names(agent: str) -> None:
    (spec,) = specs(agent)
    call = dialect_named(agent).event_out(spec, event("PreToolUse"))
    told = json.loads(call.stdin)
    assert call.argv == ("/bin/bash", "-c", "guard")
    assert told.get("tool_input", told.get("toolArgs"))["command"] == "ls -l"
    if agent != "copilot":
        assert (told["hook_event_name"], told["session_id"], told["cwd"]) == (
            BEFORE[agent],
            "session-1",
            "/work/project",
        )


@pytest.mark.parametrize("agent", BEFORE)
def test_exit_2_with_a_reason_denies(agent: str) -> None:
    assert reply(agent, RunResult(exit_code=2, stderr="no\n")) == Reply(effect="deny", reason="no")


@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_exit_2_without_a_word_is_a_failure_where_the_agent_runs_the_tool(agent: str) -> None:
    assert isinstance(reply(agent, RunResult(exit_code=2)), HookError)


@pytest.mark.parametrize("agent", ["codex", "gemini", "qwen"])
def test_any_other_failure_is_a_failure(agent: str) -> None:
    assert isinstance(reply(agent, RunResult(exit_code=1, stderr="oops")), HookError)
    assert isinstance(reply(agent, RunResult(exit_code=0, stdout="{half")), HookError)


def test_before_a_tool_copilot_takes_every_failure_for_a_refusal() -> None:
    assert reply("copilot", RunResult(exit_code=1, stderr="oops")) == Reply(effect="deny", reason="oops")


def test_gemini_lays_a_new_input_over_the_old_one() -> None:
    told = reply("gemini", RunResult(exit_code=0, stdout='{"hookSpecificOutput": {"tool_input": {"command": "pwd"}}}'))
    assert isinstance(told, Reply)
    assert told.data == {"tool_input": {"command": "pwd", "description": "List the files"}}


def test_gemini_reads_stderr_when_stdout_is_empty() -> None:
    told = reply("gemini", RunResult(exit_code=0, stderr='{"decision": "deny", "reason": "no"}'))
    assert told == Reply(effect="deny", reason="no")


def test_gemini_keeps_plain_text_from_the_model() -> None:
    assert reply("gemini", RunResult(exit_code=0, stdout="hello")) == Reply(messages=("hello",))


def test_a_refusal_after_a_tool_is_for_the_model() -> None:
    told = reply("gemini", RunResult(exit_code=0, stdout='{"decision": "deny", "reason": "leaked"}'), "PostToolUse")
    assert told == Reply(context=(Context(text="leaked"),))


def test_copilots_words_are_understood() -> None:
    raw = RunResult(exit_code=0, stdout='{"permissionDecision": "allow", "modifiedArgs": {"command": "pwd"}}')
    told = reply("copilot", raw)
    assert isinstance(told, Reply)
    assert (told.effect, told.data) == ("allow", {"tool_input": {"command": "pwd"}})
    prompt = reply("copilot", RunResult(exit_code=0, stdout='{"modifiedPrompt": "hi"}'), "UserPromptSubmit")
    assert isinstance(prompt, Reply)
    assert prompt.data == {"prompt": "hi"}


def test_claudes_object_is_not_read_under_a_camel_case_name() -> None:
    raw = RunResult(exit_code=0, stdout='{"hookSpecificOutput": {"permissionDecision": "deny"}}')
    assert reply("copilot", raw) == Reply()


@pytest.mark.parametrize("agent", ["codex", "gemini", "qwen"])
def test_what_is_no_command_is_a_problem_with_an_address(agent: str) -> None:
    text = json.dumps({"hooks": {BEFORE[agent]: [{"hooks": [{"type": "prompt", "prompt": "?"}]}]}})
    tree = parse_text("f", text, "json").tree
    parsed = dialect_named(agent).parse([Layer(path="/f", name="user", syntax="json", text=text, tree=tree)], Lookup())
    assert parsed.specs == ()
    assert [problem.pointer for problem in parsed.problems] == [f"$.hooks.{BEFORE[agent]}[0].hooks[0].type"]


def test_hooks_go_from_one_agent_to_another() -> None:
    rendered = dialect_named("gemini").render(specs("codex", timeout=5))
    hooks = json.loads(rendered.text)["hooks"]
    assert hooks == {
        "BeforeTool": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard", "timeout": 5000}]}]
    }
    assert [loss.severity for loss in rendered.losses] == ["warning"]


def test_places_are_the_agents_own() -> None:
    found = {agent: [place.path for place in dialect_named(agent).places("/p", "/h", {})] for agent in BEFORE}
    assert found["codex"] == ["/h/.codex/hooks.json", "/p/.codex/hooks.json"]
    assert found["gemini"] == ["/h/.gemini/settings.json", "/p/.gemini/settings.json"]
    assert found["qwen"] == ["/h/.qwen/settings.json", "/p/.qwen/settings.json"]
    assert found["copilot"] == ["/h/.copilot/hooks/hooks.json", "/p/.github/hooks/hooks.json"]
