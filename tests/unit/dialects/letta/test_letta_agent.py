"""Letta Code as the agent that calls us."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.result import Aborted, Context, Decision, Injected, Message
from hookline.dialects.letta import DIALECT

PAYLOADS = Path(__file__).parents[3] / "payloads" / "letta"


def sent(name: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text())
    return payload


def event(name: str, **data: Any) -> Event:
    return Event(kind=event_kind(name), data=data)


def decided(name: str, **fields: Any) -> Decision:
    return Decision(event=name, **fields)


def injected(text: str, placement: Any = "context") -> Injected:
    return Injected(hook="h", context=Context(text=text, placement=placement))


@pytest.mark.parametrize("file", sorted(path.stem for path in PAYLOADS.glob("*.json")))
def test_a_real_payload_goes_through_us_unchanged(file: str) -> None:
    from hookline.dialects.letta.wire import payload

    told = sent(file)
    came = DIALECT.event_in("", told, {})
    assert came.event == file
    back = Event(kind=event_kind(came.event), data=came.data, cwd=came.cwd, agent="letta-code")
    again = payload(file, back)
    if file == "PostToolUseFailure":
        # The parts of the message arrive as JSON in a text; we pass on the text that is in them.
        assert again.pop("error_message") == "Exit code: 3\n(Command completed with no output)"
        del told["error_message"]
    assert list(again) == list(told)
    assert again == told


def test_a_tool_result_and_its_id_have_canonical_names() -> None:
    came = DIALECT.event_in("PostToolUse", sent("PostToolUse"), {})
    assert came.data["tool_output"] == "hello\n"
    assert came.data["tool_use_id"] == "call_6"
    assert came.cwd == "/home/user/project"
    assert "event_type" not in came.data


def test_a_failed_tool_that_comes_as_post_tool_use_is_only_carried() -> None:
    told = sent("PostToolUse") | {"tool_result": {"status": "error", "output": "x"}}
    assert DIALECT.event_in("", told, {}).event == "letta:PostToolUse"


def test_an_unknown_event_survives() -> None:
    came = DIALECT.event_in("Dream", {"depth": 2}, {"LETTA_WORKING_DIR": "/w"})
    assert (came.event, came.data, came.cwd) == ("letta:Dream", {"depth": 2}, "/w")


def test_a_native_tool_name_becomes_canonical_and_is_kept() -> None:
    came = DIALECT.event_in("", {"event_type": "PermissionRequest", "tool_name": "Agent"}, {})
    assert (came.data["tool_name"], came.data["native_tool_name"]) == ("Task", "Agent")


def test_a_deny_is_exit_2_with_its_reason() -> None:
    answer = DIALECT.reply_out(event("PreToolUse"), decided("PreToolUse", effect="deny", reason="no"))
    assert (answer.exit_code, answer.stderr, answer.stdout, answer.lost) == (2, "no", "", ())


def test_a_deny_without_a_reason_still_says_something() -> None:
    assert DIALECT.reply_out(event("PreToolUse"), decided("PreToolUse", effect="deny")).stderr == "Blocked by hook"


def test_an_abort_is_a_deny() -> None:
    decision = decided("Stop", effect="deny", aborted=Aborted(hook="h", message="ended"))
    assert DIALECT.reply_out(event("Stop"), decision).stderr == "ended"


@pytest.mark.parametrize(("granted", "code"), [(False, 1), (True, 0)])
def test_only_a_granted_permission_is_exit_0(granted: bool, code: int) -> None:
    answer = DIALECT.reply_out(event("PermissionRequest"), decided("PermissionRequest", granted=granted))
    assert answer.exit_code == code


def test_an_ask_leaves_a_permission_to_the_person() -> None:
    assert DIALECT.reply_out(event("PermissionRequest"), decided("PermissionRequest", effect="ask")).exit_code == 1


def test_an_ask_that_cannot_be_said_becomes_a_deny_that_says_so() -> None:
    answer = DIALECT.reply_out(event("PreToolUse"), decided("PreToolUse", effect="ask", reason="sure?"))
    assert (answer.exit_code, answer.lost) == (2, ("ask",))
    assert answer.stderr.startswith("sure? (Letta Code cannot ask")


def test_nothing_to_say_is_silence() -> None:
    for name in ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "PreCompact", "letta:Dream"):
        answer = DIALECT.reply_out(event(name), decided(name))
        assert (answer.exit_code, answer.stdout, answer.stderr, answer.lost) == (0, "", "", ())


@pytest.mark.parametrize("name", ["UserPromptSubmit", "SessionStart"])
def test_context_at_a_prompt_or_a_start_is_plain_text(name: str) -> None:
    context = (injected("one"), injected("note", "comment"), injected("two", "attachment"))
    assert DIALECT.reply_out(event(name), decided(name, context=context)).stdout == "one\ntwo"


@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUseFailure"])
def test_context_after_a_tool_is_json(name: str) -> None:
    answer = DIALECT.reply_out(event(name), decided(name, context=(injected("x"),)))
    assert json.loads(answer.stdout) == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "x"}}


def test_context_without_an_outlet_is_lost_aloud() -> None:
    assert DIALECT.reply_out(event("PreToolUse"), decided("PreToolUse", context=(injected("x"),))).lost == ("context",)


def rewritten(before: dict[str, Any], after: dict[str, Any]) -> Any:
    decision = decided("PreToolUse", data={"tool_input": after}, modified=True)
    return DIALECT.reply_out(event("PreToolUse", tool_input=before), decision)


def test_a_rewrite_is_an_updated_input() -> None:
    answer = rewritten({"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert json.loads(answer.stdout)["hookSpecificOutput"]["updatedInput"] == {"a": 1, "b": 3}
    assert answer.exit_code == 0


def test_a_rewrite_that_takes_a_key_away_cannot_be_said_and_is_refused() -> None:
    answer = rewritten({"a": 1, "b": 2}, {"a": 1})
    assert (answer.exit_code, answer.lost) == (2, ("change of tool_input",))


def test_a_changed_prompt_cannot_be_said_and_is_refused() -> None:
    decision = decided("UserPromptSubmit", data={"prompt": "y"}, modified=True)
    assert DIALECT.reply_out(event("UserPromptSubmit", prompt="x"), decision).exit_code == 2


def test_a_changed_output_cannot_be_said_and_is_lost_aloud() -> None:
    decision = decided("PostToolUse", data={"tool_output": "y"}, modified=True)
    answer = DIALECT.reply_out(event("PostToolUse", tool_output="x"), decision)
    assert (answer.exit_code, answer.lost) == (0, ("change of tool_output",))


def test_messages_are_on_stderr() -> None:
    decision = decided("Stop", messages=(Message(hook="h", text="note"),))
    assert DIALECT.reply_out(event("Stop"), decision).stderr == "note"
