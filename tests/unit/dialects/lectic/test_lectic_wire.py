"""How a Lectic hook is called, what its exit code means, and what a host that speaks Lectic is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.config.syntax.yaml import read
from hookline.core.event import Event, event_kind
from hookline.core.hook import HookSpec
from hookline.core.result import Aborted, Context, Decision, HookError, Injected, Reply, RunResult
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lectic import DIALECT
from hookline.dialects.lectic.variables import EVENT_VARIABLES


def spec_of(on: str = "user_message", **fields: Any) -> HookSpec:
    text = json.dumps({"hooks": [{"on": on, "do": "echo hi", **fields}]})
    layer = Layer(path="/p/lectic.yaml", name="user", syntax="yaml", text=text, tree=read("/p/lectic.yaml", text).tree)
    return DIALECT.parse([layer], Lookup()).specs[0]


def event_of(kind: str, environ: dict[str, str] | None = None, **data: Any) -> Event:
    return Event(kind=event_kind(kind), data=data, cwd="/w", environ={"HOME": "/h", **(environ or {})}, time=1.5)


def variables(kind: str, on: str, **data: Any) -> dict[str, str]:
    call = DIALECT.event_out(spec_of(on), event_of(kind, **data))
    return {name: value for name, value in call.environ.items() if name in EVENT_VARIABLES}


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "on", "data", "expected"),
    [
        ("UserPromptSubmit", "user_message", {"prompt": ""}, {"MESSAGES_LENGTH": "1", "LECTIC_INTERLOCUTOR": "Assistant", "LECTIC_MODEL": "default"}),
        (
            "UserPromptSubmit",
            "user_first",
            {"prompt": "a", "history": [{"role": "user", "text": "b"}, {"role": "assistant", "text": "c"}]},
            {"USER_MESSAGE": "a", "MESSAGES_LENGTH": "3", "LECTIC_INTERLOCUTOR": "Assistant", "LECTIC_MODEL": "default"},
        ),
        ("RunStart", "run_start", {"run_id": "r"}, {"RUN_ID": "r", "RUN_STARTED_AT": "1970-01-01T00:00:01.500Z", "RUN_CWD": "/w"}),
        (
            "RunEnd",
            "error",
            {"run_id": "r", "status": "error", "duration_ms": 3, "error_message": "no", "tokens": {"input": 1, "output": 2}},
            {
                "RUN_ID": "r", "RUN_STATUS": "error", "RUN_DURATION_MS": "3", "RUN_ERROR_MESSAGE": "no", "ERROR_MESSAGE": "no",
                "TOKEN_USAGE_INPUT": "1", "TOKEN_USAGE_CACHED": "0", "TOKEN_USAGE_OUTPUT": "2", "TOKEN_USAGE_TOTAL": "3",
            },
        ),
        ("PreToolUse", "tool_use_pre", {"tool_name": "t", "tokens": {}}, {"TOOL_NAME": "t", "TOOL_ARGS": "{}"}),
        (
            "PostToolUse",
            "tool_use_post",
            {"tool_name": "t", "tool_output": [{"type": "text", "text": "x"}, "y", {"other": 1}]},
            {
                "TOOL_NAME": "t", "TOOL_ARGS": "{}",
                "TOOL_CALL_RESULTS": '[{"mimetype":"text/plain","content":"x"},{"mimetype":"text/plain","content":"y"},'
                '{"mimetype":"application/json","content":"{\\"other\\":1}"}]',
            },
        ),
        (
            "PostToolUseFailure",
            "tool_use_post",
            {"tool_name": "t"},
            {"TOOL_NAME": "t", "TOOL_ARGS": "{}", "TOOL_CALL_ERROR": '{"type":"error","message":""}'},
        ),
    ],
)  # fmt: skip
def test_an_event_tells_exactly_its_variables(
    kind: str, on: str, data: dict[str, Any], expected: dict[str, str]
) -> None:
    assert variables(kind, on, **data) == expected


def test_what_an_event_does_not_tell_is_unset() -> None:
    call = DIALECT.event_out(spec_of("run_start"), event_of("RunStart"))
    assert call.unset == (EVENT_VARIABLES | {"LECTIC_FILE"}) - call.environ.keys()
    assert {"USER_MESSAGE", "LECTIC_FILE", "ERROR_MESSAGE"} <= call.unset


def test_a_stale_variable_is_not_expanded_either() -> None:
    spec = spec_of("run_start", do="echo $USER_MESSAGE $LECTIC_FILE")
    call = DIALECT.event_out(spec, event_of("RunStart", {"USER_MESSAGE": "stale", "LECTIC_FILE": "stale"}))
    assert call.argv == ("echo", "$USER_MESSAGE", "$LECTIC_FILE")


def test_another_agents_name_is_the_interlocutor() -> None:
    event = Event(kind=event_kind("UserPromptSubmit"), data={"prompt": "x", "model": "gpt"}, agent="codex")
    environ = DIALECT.event_out(spec_of(), event).environ
    assert (environ["LECTIC_INTERLOCUTOR"], environ["LECTIC_MODEL"]) == ("codex", "gpt")


def test_what_no_environment_can_hold_is_replaced() -> None:
    assert variables("UserPromptSubmit", "user_message", prompt="a\0b\ud800")["USER_MESSAGE"] == "a\ufffdb?"


def test_lectics_directories_are_the_callers_or_the_platforms() -> None:
    around = {"LECTIC_DATA": "/d", "XDG_CACHE_HOME": "/c", "TMPDIR": "/t"}
    environ = DIALECT.event_out(spec_of(), event_of("UserPromptSubmit", around, file="a.lec")).environ
    told = {name: environ[name] for name in environ if name.startswith("LECTIC_") and name not in EVENT_VARIABLES}
    assert told == {
        "LECTIC_CONFIG": "/h/.config/lectic", "LECTIC_DATA": "/d", "LECTIC_CACHE": "/c/lectic",
        "LECTIC_STATE": "/h/.local/state/lectic", "LECTIC_TEMP": "/t/lectic", "LECTIC_FILE": "a.lec",
    }  # fmt: skip


def test_a_block_is_fenced_with_more_colons_than_its_text() -> None:
    call = DIALECT.event_out(
        spec_of("assistant_message"), event_of("AssistantMessage", message="a\n:::\nb", interlocutor="My Bot")
    )
    assert call.stdin.decode().endswith("---\n\n::::My_Bot\n\na\n:::\nb\n\n::::")


def test_only_a_reply_has_the_conversation_on_stdin() -> None:
    assert DIALECT.event_out(spec_of(), event_of("UserPromptSubmit", prompt="x", conversation="y")).stdin == b""


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────


def test_zero_is_no_opinion() -> None:
    spec = spec_of("tool_use_pre")
    assert DIALECT.reply_in(spec, event_of("PreToolUse"), RunResult(exit_code=0, stdout="text")) == Reply()


def test_a_refusal_says_who_and_why() -> None:
    answer = DIALECT.reply_in(
        spec_of("tool_use_pre", name="g"), event_of("PreToolUse"), RunResult(exit_code=2, stderr=" no \n")
    )
    assert answer == Reply(effect="deny", reason='Tool use permission denied by hook "g": no')


def test_death_by_signal_is_a_failure_with_its_name() -> None:
    answer = DIALECT.reply_in(spec_of("run_end", name="g"), event_of("RunEnd"), RunResult(signal=9))
    assert answer == HookError(error='Hook "g" failed for run_end with exit code null (SIGKILL)')


def test_a_guard_killed_by_a_signal_refuses() -> None:
    answer = DIALECT.reply_in(spec_of("tool_use_pre", name="g"), event_of("PreToolUse"), RunResult(signal=9))
    assert isinstance(answer, Reply)
    assert answer.effect == "deny"


def test_an_alias_is_told_by_its_event() -> None:
    answer = DIALECT.reply_in(spec_of("user_first", name="g"), event_of("UserPromptSubmit"), RunResult(error="gone"))
    assert answer == HookError(error='Hook "g" failed to start for user_message: gone')


def test_a_failure_that_aborts_leaves_no_text_behind() -> None:
    spec = spec_of("user_message", inline=True)
    answer = DIALECT.reply_in(spec, event_of("UserPromptSubmit"), RunResult(exit_code=1, stdout="text"))
    assert isinstance(answer, HookError)
    assert answer.reply is None


# ── a host that speaks Lectic ────────────────────────────────────────────────────────────────────────


def test_variables_become_canonical_fields_and_unknown_ones_survive() -> None:
    payload = {
        "TOOL_NAME": "t", "TOOL_ARGS": '{"a":1}', "TOOL_CALL_ERROR": '{"type":"blocked","message":"m"}',
        "TOOL_DURATION_MS": "5", "TOKEN_USAGE_INPUT": "7", "MINE": "x",
    }  # fmt: skip
    incoming = DIALECT.event_in("tool_use_post", payload, {})
    assert (incoming.event, incoming.native_name) == ("PostToolUseFailure", "tool_use_post")
    assert incoming.data == {
        "tool_name": "t", "tool_input": {"a": 1}, "tool_error": {"type": "blocked", "message": "m"},
        "duration_ms": 5, "tokens": {"input": 7}, "MINE": "x",
    }  # fmt: skip


def test_an_alias_says_what_it_implies_and_an_unknown_event_is_carried() -> None:
    assert DIALECT.event_in("user_first", {"USER_MESSAGE": "x"}, {}).data == {"messages_length": 1, "prompt": "x"}
    assert DIALECT.event_in("brand_new", {}, {}).event == "lectic:brand_new"


def test_a_host_is_told_inline_text_or_an_exit_code() -> None:
    event = event_of("UserPromptSubmit")
    text = Injected(
        hook="h", context=Context(text="hi\n", placement="attachment", attributes={"final": "true", "k": "v"})
    )
    told = DIALECT.reply_out(event, Decision(event="UserPromptSubmit", context=(text,)))
    assert (told.stdout, told.exit_code) == ("LECTIC:final\nLECTIC:k:v\n\nhi\n", 0)
    denied = DIALECT.reply_out(event_of("PreToolUse"), Decision(event="PreToolUse", effect="deny", reason="no"))
    assert (denied.stderr, denied.exit_code) == ("no\n", 1)
    aborted = DIALECT.reply_out(event, Decision(event="UserPromptSubmit", aborted=Aborted(hook="h", message="broke")))
    assert (aborted.stderr, aborted.exit_code) == ("broke\n", 1)


def test_what_lectic_cannot_carry_out_becomes_a_refusal_that_says_so() -> None:
    event = event_of("PreToolUse")
    asked = DIALECT.reply_out(event, Decision(event="PreToolUse", effect="ask", reason="sure?"))
    changed = DIALECT.reply_out(event, Decision(event="PreToolUse", modified=True))
    assert (asked.exit_code, changed.exit_code) == (1, 1)
    assert asked.lost
    assert changed.lost
    assert "does not support" in changed.stderr


def test_one_text_that_wants_an_answer_keeps_the_turn_alive() -> None:
    contexts = (
        Injected(hook="a", context=Context(text="a", attributes={"final": "true"})),
        Injected(hook="b", context=Context(text="b")),
    )
    assert (
        DIALECT.reply_out(event_of("AssistantMessage"), Decision(event="AssistantMessage", context=contexts)).stdout
        == "a\nb"
    )
