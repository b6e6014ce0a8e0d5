"""The snapshot out, ``{"last_text", "error"}`` back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.hook import AgentRun, HookSpec, Origin, Output
from hookline.core.result import Aborted, Context, Decision, HookError, Injected, Reply, RunResult
from hookline.dialects.memex import DIALECT

EVENTS = {
    "session_start": "UserPromptSubmit",
    "pre_turn": "UserPromptSubmit",
    "post_turn": "Stop",
    "session_end": "SessionEnd",
}
INJECT = Output(inject="context", label="L", prefix="P\n")


def spec_of(phase: str = "pre_turn", output: Output = INJECT, **action: Any) -> HookSpec:
    return HookSpec(
        id="h1", name="scout", dialect="memex", event=EVENTS[phase], native_event=phase, origin=Origin(file="c.ini"),
        action=AgentRun(prompt="Look.", model="gpt-4o-mini", **action), output=output,
    )  # fmt: skip


def event_of(phase: str = "pre_turn", **data: Any) -> Event:
    return Event(kind=event_kind(EVENTS[phase]), data=data, id="e1", session="s1", cwd="/p", time=0.0)


def sent(spec: HookSpec, event: Event) -> Any:
    return json.loads(DIALECT.event_out(spec, event).stdin)


def test_the_snapshot_has_the_version_the_parameters_and_the_whole_chat() -> None:
    history = [
        {"role": "user", "text": "hi", "time": 1.5, "meta": {"model": "m", "deep": {"no": 1}}},
        {"role": "assistant", "text": "hello", "time": "2026-01-01"},
    ]
    event = event_of(prompt="and now?", history=history, contexts={"file": [{"id": "a", "data": {}}], "chat": ["x"]})
    assert sent(spec_of(tools=("memory", "ragsearch"), steps=5), event) == {
        "version": 1,
        "params": {
            "base_directory": "/p", "model": "gpt-4o-mini", "prompt": "Look.", "active_tools_agent": "memory,ragsearch",
            "hook_name": "scout", "hook_phase": "pre_turn", "hook_input_text": "and now?",
        },
        "chat_seed": [
            {"timestamp": "1970-01-01T00:00:01.500000+00:00", "role": "user", "message": "hi", "meta": {"model": "m"}},
            {"timestamp": "2026-01-01", "role": "assistant", "message": "hello"},
            {"timestamp": "1970-01-01T00:00:00+00:00", "role": "user", "message": "and now?"},
        ],
        "contexts": {"file": [{"id": "a", "data": {}}]},
        "trace": {"trace_id": "e1", "parent_span_id": "h1", "outer_session_uid": "s1"},
    }  # fmt: skip


def test_a_message_that_is_recorded_already_is_not_told_twice() -> None:
    history = [{"role": "user", "text": "q"}, {"role": "assistant", "text": "a"}]
    seed = sent(spec_of("post_turn"), event_of("post_turn", history=history, user_message="q", assistant_message="a"))[
        "chat_seed"
    ]
    assert [(turn["role"], turn["message"]) for turn in seed] == [("user", "q"), ("assistant", "a")]


@pytest.mark.parametrize(
    ("phase", "data", "extras"),
    [
        ("session_start", {"prompt": "go"}, {"hook_input_text": "go"}),
        ("pre_turn", {"auto_submit": True}, {"hook_input_text": ""}),
        ("post_turn", {"assistant_message": "done"}, {"hook_last_display": "done", "hook_last_sanitized": "done"}),
        ("session_end", {}, {"hook_reason": "exit"}),
    ],
)
def test_every_phase_has_its_own_extras(phase: str, data: Any, extras: Any) -> None:
    params = sent(spec_of(phase), event_of(phase, **data))["params"]
    assert {
        key: value
        for key, value in params.items()
        if key not in {"hook_name", "hook_phase"} and key.startswith("hook_")
    } == extras


def test_an_external_hook_is_its_command_and_nothing_below_it_runs_hooks() -> None:
    call = DIALECT.event_out(spec_of(runner="external", command=("my", "agent"), steps=5), event_of())
    assert (call.argv, call.environ["HOOKLINE_NO_HOOKS"]) == (("my", "agent"), "1")
    assert "steps" not in call.stdin.decode()


def test_without_a_command_the_runner_starts_our_own_agent() -> None:
    call = DIALECT.event_out(spec_of(runner="external", steps=3), event_of())
    assert (call.argv, call.environ["HOOKLINE_NO_HOOKS"]) == ((), "1")


def test_strange_data_still_make_a_snapshot() -> None:
    odd: dict[str, Any] = {"history": ["text", 1, {"role": None}], "contexts": [1], "prompt": {"not": "text"}}
    told = sent(spec_of(), event_of(**odd))
    assert told["contexts"] == {"context": [{"id": 0, "data": 1}]}
    assert told["params"]["hook_input_text"] == '{"not": "text"}'


# ── back ─────────────────────────────────────────────────────────────────────────────────────────────


def heard(stdout: str = "", **raw: Any) -> Reply | HookError:
    return DIALECT.reply_in(spec_of(), event_of(), RunResult(stdout=stdout, **{"exit_code": 0, **raw}))


def injected(text: str) -> Reply:
    return Reply(context=(Context(text=f"P\n{text}", placement="context", label="L"),))


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ({"last_text": "EXT", "error": None}, injected("EXT")),
        ({"last_text": "EXT", "error": "ignored"}, injected("EXT")),
        ({"last_text": "notes\n%%DONE%%"}, injected("notes\n")),
        ({"last_text": "   "}, injected("   ")),
        ({"last_text": 42}, injected("42")),
        ({"last_text": ""}, Reply()),
        ({"last_text": None, "error": None}, Reply()),
        ({"last_text": 0}, Reply()),
        ({"last_text": "%%DONE%%"}, Reply()),
        ({"last_text": None, "error": "no key"}, HookError(error="no key")),
    ],
)
def test_what_an_answer_means(answer: Any, reply: object) -> None:
    assert heard(json.dumps(answer)) == reply
    assert heard(value=answer) == reply


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ({"exit_code": 3}, "external_agent_exit_3"),
        ({"exit_code": 3, "stderr": "broken\n", "stdout": '{"last_text": "x"}'}, "broken"),
        ({"exit_code": None, "signal": 9}, "external_agent_signal_9"),
        ({"stdout": ""}, "empty_stdout"),
        ({"stdout": 'log line\n{"last_text": "x"}'}, "invalid_json"),
        ({"stdout": "[1]"}, "unexpected_payload"),
        ({"error": "cannot start"}, "cannot start"),
        ({"timed_out": True}, "timed out"),
    ],
)
def test_what_is_no_answer_is_a_fault_that_says_why(raw: Any, error: str) -> None:
    fault = heard(**{"stdout": "", **raw})
    assert isinstance(fault, HookError)
    assert fault.error.startswith(error)
    assert fault.reply is None


def test_a_silent_hook_injects_nothing_whatever_it_says() -> None:
    assert (
        DIALECT.reply_in(spec_of(output=Output()), event_of(), RunResult(exit_code=0, stdout='{"last_text": "x"}'))
        == Reply()
    )


def test_at_the_end_of_a_session_the_text_stays_with_the_session() -> None:
    spec = spec_of("session_end", output=Output(inject="session", label="debrief"))
    reply = DIALECT.reply_in(spec, event_of("session_end"), RunResult(exit_code=0, stdout='{"last_text": "x"}'))
    assert reply == Reply(context=(Context(text="x", placement="session", label="debrief"),))


# ── as a host ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("phase", EVENTS)
def test_a_snapshot_that_we_send_is_understood_by_us(phase: str) -> None:
    data = {"prompt": "go", "user_message": "go", "assistant_message": "done", "reason": "exit"}
    told = sent(spec_of(phase), event_of(phase, **data))
    incoming = DIALECT.event_in("", told, {})
    assert (incoming.event, incoming.native_name, incoming.session, incoming.cwd) == (EVENTS[phase], phase, "s1", "/p")
    fields = {"UserPromptSubmit": {"prompt"}, "Stop": {"assistant_message", "user_message"}, "SessionEnd": {"reason"}}[
        incoming.event
    ]
    assert {key: incoming.data[key] for key in fields} == {key: data[key] for key in fields}


def test_an_unknown_phase_and_odd_payloads_are_carried() -> None:
    assert DIALECT.event_in("mid_turn", {"params": 1, "chat_seed": "x"}, {}).event == "memex:mid_turn"


def test_a_decision_is_told_as_text_and_a_refusal_as_an_error() -> None:
    context = (Injected(hook="a", context=Context(text="one")), Injected(hook="b", context=Context(text="two")))
    told = DIALECT.reply_out(event_of(), Decision(event="UserPromptSubmit", context=context))
    assert (json.loads(told.stdout), told.exit_code, told.lost) == ({"last_text": "one\ntwo", "error": None}, 0, ())
    denied = DIALECT.reply_out(event_of(), Decision(event="UserPromptSubmit", effect="deny", reason="no"))
    assert (json.loads(denied.stdout), denied.lost) == ({"last_text": None, "error": "no"}, ("a refusal",))
    aborted = DIALECT.reply_out(event_of(), Decision(event="x", aborted=Aborted(hook="h", message="ended")))
    assert json.loads(aborted.stdout)["error"] == "ended"
