"""The envelope and the three answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.result import Aborted, Context, Decision, HookError, Injected, Reply, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lash import DIALECT, expand

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec

EVENT = Event(
    kind=event_kind("process.pre_spawn"),
    data={"command": "curl", "args": ["-s", "https://example.com"], "env": {"LASH_DISPLAY": "stream,tui"}},
    session="abc123",
    time=1772289000.5,
)


def hook(word: str = "blocking") -> HookSpec:
    tree = {"hooks": [["process.pre_spawn", f"{word}:/bin/h", 1]]}
    return DIALECT.parse([Layer(path="/c", name="user", syntax="lash", text="", tree=tree)], Lookup()).specs[0]


def plugin() -> HookSpec:
    layer = Layer(path="/c", name="user", syntax="lash", text="", tree={"plugins": [["p", "/p", 1]]})
    return expand(DIALECT.parse([layer], Lookup()).specs[0], {"hooks": ["process.pre_spawn"]}).specs[0]


def answer(value: Any, word: str = "blocking") -> Reply | HookError:
    return DIALECT.reply_in(hook(word), EVENT, RunResult(exit_code=0, stdout=json.dumps(value) + "\n"))


def told(decision: Decision, event: Event = EVENT) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(DIALECT.reply_out(event, decision).stdout)
    return value


def test_an_executable_gets_the_documents_envelope_on_one_line() -> None:
    call = DIALECT.event_out(hook(), EVENT)
    assert call.stdin.endswith(b"}\n")
    assert call.stdin.count(b"\n") == 1
    assert json.loads(call.stdin) == {
        "event": "process.pre_spawn", "timestamp": "2026-02-28T14:30:00Z", "session_id": "abc123", "role": "user",
        "data": {"command": "curl", "args": ["-s", "https://example.com"], "env": {"LASH_DISPLAY": "stream,tui"}},
    }  # fmt: skip
    assert call.argv == ("/bin/h",)
    assert call.environ == {"LASH_HOOK_EVENT": "process.pre_spawn", "LASH_SESSION_ID": "abc123"}


def test_a_session_mode_is_in_the_envelope_only_when_there_is_one() -> None:
    event = Event(kind=event_kind("key.up"), data={}, mode="ai")
    assert json.loads(DIALECT.event_out(plugin(), event).stdin)["mode"] == "ai"
    assert b'"mode"' not in DIALECT.event_out(plugin(), EVENT).stdin


def test_text_that_is_no_unicode_still_makes_a_line() -> None:
    event = Event(kind=event_kind("input.submit"), data={"text": "caf\udce9 é"})
    assert json.loads(DIALECT.event_out(hook(), event).stdin)["data"]["text"] == "caf\udce9 é"


def test_allow_and_silence_are_no_opinion_and_grant_nothing() -> None:
    assert answer({"action": "allow", "data": {"command": "wget"}}) == Reply()
    assert DIALECT.reply_in(hook(), EVENT, RunResult(exit_code=0, stdout=" \n")) == Reply()


def test_modify_replaces_fields_and_null_is_a_value() -> None:
    assert answer({"action": "modify", "data": {"args": [], "cwd": None}}) == Reply(data={"args": [], "cwd": None})


def test_deny_has_a_reason_and_hands_its_data_on() -> None:
    assert answer({"action": "deny", "reason": "no network"}) == Reply(effect="deny", reason="no network")
    assert answer({"action": "deny", "data": {"prefill": "ask ", "edit": True, "mode": "ai"}}) == Reply(
        effect="deny", reason="denied by hook", attributes={"prefill": "ask ", "edit": True, "mode": "ai"}
    )


@pytest.mark.parametrize("action", ["allow", "modify", "deny"])
def test_any_answer_may_set_the_session_mode_which_is_no_data(action: str) -> None:
    reply = answer({"action": action, "data": {"mode": ""}})
    assert isinstance(reply, Reply)
    assert (reply.attributes, reply.data) == ({"mode": ""}, {})


def test_a_late_deny_is_read_and_its_mode_counts() -> None:
    """The engine notes that it is ignored."""
    reply = answer({"action": "deny", "reason": "no", "data": {"mode": "x"}}, "async_apply")
    assert reply == Reply(effect="deny", reason="no", attributes={"mode": "x"})


def test_a_modification_without_data_is_an_error() -> None:
    assert answer({"action": "modify"}) == HookError(error="modify without data")


def test_an_observer_is_not_even_read() -> None:
    assert answer({"action": "deny"}, "observe") == Reply()
    assert DIALECT.reply_in(hook("fire_and_forget"), EVENT, RunResult(exit_code=0, stdout="oops")) == Reply()


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (RunResult(exit_code=3, stdout='{"action": "deny"}'), "exit 3"),
        (RunResult(signal=9), "signal 9"),
        (RunResult(exit_code=0, stdout="oops"), "the answer is not JSON"),
        (RunResult(exit_code=0, stdout="[" * 100_000), "the answer is not JSON"),
        (RunResult(exit_code=0, stdout="[1]"), "the answer is not a JSON object"),
        (RunResult(exit_code=0, stdout="{}"), "action must be one of allow, deny, modify; got None"),
        (
            RunResult(exit_code=0, stdout='{"action":"block"}'),
            "action must be one of allow, deny, modify; got 'block'",
        ),
        (RunResult(exit_code=0, stdout='{"action":"modify","data":[1]}'), "the answer's data is not an object"),
    ],
)
def test_only_the_word_deny_denies_everything_else_has_failed(raw: RunResult, error: str) -> None:
    assert DIALECT.reply_in(hook(), EVENT, raw) == HookError(error=error)


def test_a_frontends_envelope_is_read_back_as_the_event_that_was_sent() -> None:
    incoming = DIALECT.event_in("", json.loads(DIALECT.event_out(hook(), EVENT).stdin), {})
    assert (incoming.event, incoming.data, incoming.session) == ("process.pre_spawn", EVENT.data, "abc123")


def test_an_unknown_event_and_unknown_fields_survive() -> None:
    incoming = DIALECT.event_in("window.resize", {"rows": 3, "role": "user"}, {"LASH_SESSION_ID": "s"})
    assert (incoming.event, incoming.data, incoming.session) == ("lash:window.resize", {"rows": 3}, "s")


def test_only_what_changed_is_sent_back() -> None:
    changed = Decision(event="process.pre_spawn", data={**EVENT.data, "command": "wget"}, modified=True)
    assert told(changed) == {"action": "modify", "data": {"command": "wget"}}
    assert told(Decision(event="process.pre_spawn", data=EVENT.data)) == {"action": "allow"}


def test_a_deny_carries_reason_prefill_and_mode() -> None:
    event = Event(kind=event_kind("input.prefix"), data={"char": ">"}, native={"type": "hook", "id": 4})
    decision = Decision(
        event="input.prefix", effect="deny", reason="r", attributes={"prefill": "ask ", "mode": "ai", "x": 1}
    )
    assert told(decision, event) == {
        "type": "hook_result", "id": 4, "action": "deny", "reason": "r", "data": {"mode": "ai", "prefill": "ask "},
    }  # fmt: skip


def test_an_ask_becomes_a_deny_that_says_so() -> None:
    reply = DIALECT.reply_out(EVENT, Decision(event="process.pre_spawn", effect="ask", reason="sure?", data=EVENT.data))
    assert json.loads(reply.stdout)["action"] == "deny"
    assert reply.lost == ("lash cannot ask the person; the action was denied",)


def test_an_aborted_run_is_a_deny_and_context_is_reported_as_lost() -> None:
    decision = Decision(
        event="process.pre_spawn", effect="deny", aborted=Aborted(hook="h", message="broken"), data=EVENT.data,
        context=(Injected(hook="h", context=Context(text="t")),),
    )  # fmt: skip
    assert told(decision) == {"action": "deny", "reason": "broken"}
    assert DIALECT.reply_out(EVENT, decision).lost == ("lash has no place for the context of h",)
