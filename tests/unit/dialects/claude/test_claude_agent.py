"""Claude Code as the agent that calls us."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.result import Aborted, Context, Decision, Injected, Message
from hookline.dialects.base import Answer
from hookline.dialects.claude import DIALECT
from hookline.dialects.claude_family.payload import payload

PAYLOADS = Path(__file__).parents[3] / "payloads" / "claude"
FILES = sorted(PAYLOADS.glob("*.json"))


def sent(name: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text())
    return told


def event(name: str, **data: Any) -> Event:
    return Event(kind=event_kind(name), data=data)


def answer(name: str, before: dict[str, Any] | None = None, **fields: Any) -> Any:
    return DIALECT.reply_out(event(name, **(before or {})), Decision(event=name, **fields))


def said(name: str, before: dict[str, Any] | None = None, **fields: Any) -> Any:
    told = answer(name, before, **fields)
    assert told.exit_code == 0
    return json.loads(told.stdout)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_real_payload_goes_through_us_unchanged(file: Path) -> None:
    told = json.loads(file.read_text())
    came = DIALECT.event_in("", told, {})
    assert came.event == told["hook_event_name"]
    assert came.event in EVENTS
    assert (came.session, came.cwd) == (told["session_id"], told["cwd"])
    back = Event(
        kind=event_kind(came.event),
        data=came.data,
        session=came.session,
        cwd=came.cwd,
        agent="claude-code",
        native=told,
    )
    assert payload(came.event, back) == told


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_hook_elsewhere_reads_the_same_fields(file: Path) -> None:
    """Without the native payload, from canonical data alone."""
    told = json.loads(file.read_text())
    came = DIALECT.event_in("", told, {})
    back = Event(kind=event_kind(came.event), data=came.data, session=came.session, cwd=came.cwd, agent="codex")
    again = payload(came.event, back)
    told["tool_name"] = came.data.get("tool_name")
    assert {key for key in told if told[key] is not None and again.get(key) != told[key]} <= {
        "prompt_cache_likely_expired",
        "estimated_cache_write_usd",
    }


def test_canonical_names_stand_beside_the_native_ones() -> None:
    post = DIALECT.event_in("", sent("PostToolUse.Bash"), {}).data
    assert (post["tool_output"], post["tool_response"]["stdout"]) == ("hi-from-tool", "hi-from-tool")
    assert DIALECT.event_in("", sent("PostToolUse.Read"), {}).data["tool_output"] == "one\n"
    assert DIALECT.event_in("", sent("PostToolUse.mcp__t__echo"), {}).data["tool_output"] == "mcp says hello"
    failed = DIALECT.event_in("", sent("PostToolUseFailure.Bash"), {}).data
    assert failed["tool_error"] == {"type": "error", "message": "Exit code 3\nout\nerr"}
    stop = DIALECT.event_in("", sent("Stop.active"), {}).data
    assert (stop["assistant_message"], stop["continuations"]) == ("continued", 1)
    assert DIALECT.event_in("", sent("SubagentStop"), {}).data["subagent_type"] == "general-purpose"
    agent = DIALECT.event_in("", sent("PreToolUse.Agent"), {}).data
    assert (agent["tool_name"], agent["native_tool_name"]) == ("Task", "Agent")
    assert DIALECT.event_in("", sent("PostCompact.manual"), {}).data["summary"].startswith("<summary>")


def test_the_end_of_a_background_task_was_not_typed() -> None:
    came = DIALECT.event_in("UserPromptSubmit", {"prompt": "<task-notification>x"}, {})
    assert came.data["auto_submit"] is True


def test_an_unknown_event_survives() -> None:
    came = DIALECT.event_in("", {"hook_event_name": "Dream", "depth": 2}, {})
    assert (came.event, came.native_name, came.data) == ("claude:Dream", "Dream", {"depth": 2})


def test_a_changed_output_is_what_the_next_hook_reads() -> None:
    data = dict(DIALECT.event_in("", sent("PostToolUse.Bash"), {}).data) | {"tool_output": "clean"}
    assert payload("PostToolUse", event("PostToolUse", **data))["tool_response"] == "clean"


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_nothing_to_say_is_silence(name: str) -> None:
    told = answer(name)
    assert (told.stdout, told.stderr, told.exit_code, told.lost) == ("", "", 0, ())


def test_a_refused_tool_is_a_permission_decision() -> None:
    assert said("PreToolUse", effect="deny", reason="no") == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
        }
    }  # fmt: skip


def test_a_deny_always_has_a_reason() -> None:
    assert said("PreToolUse", effect="deny")["hookSpecificOutput"]["permissionDecisionReason"] == "Blocked by hook"


@pytest.mark.parametrize("name", ["UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "ConfigChange"])
def test_elsewhere_a_deny_is_a_block(name: str) -> None:
    assert said(name, effect="deny", reason="no") == {"decision": "block", "reason": "no"}


@pytest.mark.parametrize("name", ["TaskCreated", "TeammateIdle", "WorktreeCreate", "Elicitation"])
def test_where_json_is_not_read_a_deny_is_exit_2(name: str) -> None:
    told = answer(name, effect="deny", reason="no")
    assert (told.exit_code, told.stderr, told.stdout) == (2, "no", "")


def test_an_abort_is_a_deny() -> None:
    told = said("Stop", effect="deny", aborted=Aborted(hook="h", message="ended"))
    assert told["reason"] == "ended"


def test_an_ask_before_a_tool_is_an_ask() -> None:
    assert said("PreToolUse", effect="ask", reason="sure?")["hookSpecificOutput"]["permissionDecision"] == "ask"


def test_an_ask_about_a_permission_is_silence() -> None:
    assert answer("PermissionRequest", effect="ask").stdout == ""


def test_an_ask_that_cannot_be_said_is_a_deny_that_says_so() -> None:
    told = answer("UserPromptSubmit", effect="ask", reason="sure?")
    assert "cannot ask here" in json.loads(told.stdout)["reason"]
    assert told.lost == ("ask",)


def test_only_a_grant_is_an_allow() -> None:
    assert said("PreToolUse", granted=True)["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert said("PermissionRequest", granted=True)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


def test_a_denied_permission_has_a_message() -> None:
    told = said("PermissionRequest", effect="deny", reason="no", attributes={"interrupt": True})
    assert told["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "no", "interrupt": True}


def test_a_rewrite_needs_no_grant_before_a_tool() -> None:
    told = said("PreToolUse", {"tool_input": {"a": 1}}, data={"tool_input": {"b": 2}}, modified=True)
    assert told["hookSpecificOutput"] == {"hookEventName": "PreToolUse", "updatedInput": {"b": 2}}


def test_a_rewrite_of_a_permission_needs_one() -> None:
    changes: dict[str, Any] = {"data": {"tool_input": {"b": 2}}, "modified": True}
    granted = said("PermissionRequest", {"tool_input": {"a": 1}}, granted=True, **changes)
    assert granted["hookSpecificOutput"]["decision"] == {"behavior": "allow", "updatedInput": {"b": 2}}
    refused = said("PermissionRequest", {"tool_input": {"a": 1}}, **changes)
    assert refused["hookSpecificOutput"]["decision"]["behavior"] == "deny"


def test_a_rewritten_prompt_cannot_be_said_and_is_refused() -> None:
    told = answer("UserPromptSubmit", {"prompt": "x"}, data={"prompt": "y"}, modified=True)
    assert (json.loads(told.stdout)["decision"], told.lost) == ("block", ("change of prompt",))


def test_a_rewritten_output_replaces_the_result() -> None:
    told = said("PostToolUse", {"tool_output": "x"}, data={"tool_output": "y"}, modified=True)
    assert told["hookSpecificOutput"]["updatedToolOutput"] == "y"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("Bash", ("stdout",)),
        ("Read", ("file", "content")),
        ("Write", ("content",)),
        ("mcp__t__echo", (0, "text")),
        ("Agent", ("content", 0, "text")),
    ],
)
def test_a_rewritten_output_has_the_shape_of_the_tools_own(file: str, place: tuple[Any, ...]) -> None:
    """Claude Code ignores any other, and the model would read what a hook took out."""
    native = sent(f"PostToolUse.{file}")
    came = dict(DIALECT.event_in("PostToolUse", native, {}).data)
    told = said("PostToolUse", came, data={**came, "tool_output": "[redacted]"}, modified=True)
    shaped = told["hookSpecificOutput"]["updatedToolOutput"]
    if isinstance(shaped, dict):
        assert shaped.keys() == native["tool_response"].keys()
    for step in place:
        shaped = shaped[step]
    assert shaped == "[redacted]"


def test_an_output_without_a_place_for_text_is_lost_and_said() -> None:
    came = {"tool_response": {"filePath": "a", "oldString": "b"}, "tool_output": "{}"}
    told = answer("PostToolUse", came, data={**came, "tool_output": "[redacted]"}, modified=True)
    assert (told.stdout, told.lost) == ("", ("change of tool_output",))


def test_context_and_messages_have_their_places() -> None:
    context = (
        Injected(hook="h", context=Context(text="c")),
        Injected(hook="h", context=Context(text="d", placement="comment")),
    )
    told = said("SessionStart", context=context, messages=(Message(hook="h", text="m"),))
    assert told == {
        "systemMessage": "m",
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "c"},
    }


def test_context_without_an_outlet_is_lost_aloud() -> None:
    assert answer("Notification", context=(Injected(hook="h", context=Context(text="c")),)).lost == ("context",)


@pytest.mark.parametrize("event", ["Stop", "SubagentStop"])
def test_context_at_the_end_is_heard_once_in_a_turn(event: str) -> None:
    context = (Injected(hook="h", context=Context(text="c")),)
    assert said(event, {"continuations": 0}, context=context)["hookSpecificOutput"]["additionalContext"] == "c"
    assert answer(event, {"continuations": 1}, context=context) == Answer(lost=("context",))
    refused = said(event, {"continuations": 1}, effect="deny", reason="go on", context=context)
    assert (refused["decision"], refused["hookSpecificOutput"]["additionalContext"]) == ("block", "c")


def test_stopping_everything_is_passed_on() -> None:
    told = said("Stop", attributes={"continue": False}, reason="enough")
    assert told == {"continue": False, "stopReason": "enough"}
