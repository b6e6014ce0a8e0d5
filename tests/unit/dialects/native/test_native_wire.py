"""The native wire: what a hook is told, and what its answers mean."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.hook import Action, AgentRun, Command, Function, HookSpec, Http, Origin, Output, Prompt
from hookline.core.result import Aborted, Context, Decision, HookError, Injected, Message, Reply, RunResult
from hookline.dialects.base import Answer
from hookline.dialects.native import DIALECT

EVENT = Event(
    kind=event_kind("PreToolUse"), data={"tool_name": "Bash", "tool_input": {"command": "ls é"}}, session="s1", turn=2,
    agent="codex", cwd="/w/src", time=1_700_000_000.25,
)  # fmt: skip
RUN = Command(form="argv", argv=("x", "y"))


def spec(action: Action = RUN, **fields: Any) -> HookSpec:
    return HookSpec(
        id="1", name="guard", dialect="native", event="PreToolUse", origin=Origin(file="f"), action=action, **fields
    )


def answered(stdout: str = "", *, exit_code: int = 0, stderr: str = "", **fields: Any) -> Reply | HookError:
    return DIALECT.reply_in(spec(**fields), EVENT, RunResult(exit_code=exit_code, stdout=stdout, stderr=stderr))


# ── to a hook ────────────────────────────────────────────────────────────────────────────────────────


def test_a_hook_is_told_everything_as_one_object() -> None:
    call = DIALECT.event_out(spec(extra={"project": "/w"}, environ={"A": "b", "HOOKLINE_SESSION": "mine"}), EVENT)
    assert json.loads(call.stdin) == {
        "event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "ls é"}}, "session": "s1", "turn": 2,
        "agent": "codex", "cwd": "/w/src", "time": "2023-11-14T22:13:20.250Z",
        # As Claude Code's hooks read it.
        "hook_event_name": "PreToolUse", "session_id": "s1", "transcript_path": "", "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": "ls é"},
    }  # fmt: skip
    assert call.environ == {
        "HOOKLINE_EVENT": "PreToolUse", "HOOKLINE_SESSION": "mine", "HOOKLINE_PROJECT": "/w", "CLAUDE_PROJECT_DIR": "/w",
        "A": "b",
    }  # fmt: skip
    assert call.argv == ("x", "y")


def test_without_a_project_the_working_directory_is_named() -> None:
    assert DIALECT.event_out(spec(), EVENT).environ["HOOKLINE_PROJECT"] == "/w/src"


@pytest.mark.parametrize(
    ("action", "argv", "script"),
    [
        (Command(form="shell", text="a | b"), ("/bin/sh", "-c", "a | b"), None),
        (Command(form="script", text="#!/bin/sh\n"), (), "#!/bin/sh\n"),
        (AgentRun(runner="external", command=("c", "d")), ("c", "d"), None),
        (Function(target="a:b"), (), None),
    ],
)
def test_how_each_form_is_started(action: Action, argv: tuple[str, ...], script: str | None) -> None:
    call = DIALECT.event_out(spec(action), EVENT)
    assert (call.argv, call.script) == (argv, script)


def test_odd_data_are_still_told() -> None:
    data = {"a": MappingProxyType({"b": 1}), "c": frozenset({"y", "x"}), "d": "\ud800", "e": object}
    event = Event(kind=event_kind("odd:X"), data=data, time=float("inf"))
    told = json.loads(DIALECT.event_out(spec(), event).stdin)
    assert (told["data"]["a"], told["data"]["c"], told["data"]["d"]) == ({"b": 1}, ["x", "y"], "\ud800")
    assert told["time"] == "1970-01-01T00:00:00.000Z"


# ── from a hook ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stdout", ["", "\n", "{}", "just talk\n", "  plain {text}"])
def test_silence_and_talk_are_no_opinion(stdout: str) -> None:
    assert answered(stdout) == Reply()


def test_an_answer_counts_as_a_whole() -> None:
    said = {
        "effect": "ask", "reason": "sure?", "data": {"tool_input": {"command": "ls"}}, "message": "m", "messages": ["n"],
        "context": "c", "attributes": {"final": True}, "later": 1,
    }  # fmt: skip
    assert answered(json.dumps(said)) == Reply(
        effect="ask", reason="sure?", data={"tool_input": {"command": "ls"}}, messages=("m", "n"),
        context=(Context(text="c"),), attributes={"final": True},
    )  # fmt: skip


def test_context_may_be_said_in_several_ways() -> None:
    said = {"context": ["a", {"text": "b", "label": "l", "as": "comment", "attributes": {"n": 1, "f": True}}]}
    assert answered(json.dumps(said), output=Output(label="own", prefix="P:")) == Reply(
        context=(
            Context(text="P:\na", label="own"),
            Context(text="P:\nb", label="l", placement="comment", attributes={"n": "1", "f": "true"}),
        )
    )


def test_plain_text_becomes_what_the_hook_says_it_becomes() -> None:
    output = Output(inject="attachment", label="l", prefix="Note:\n", attributes=(("k", "v"),))
    expected = Context(text="Note:\ntext", placement="attachment", label="l", attributes={"k": "v"})
    assert answered("text\n", output=output) == Reply(context=(expected,))


@pytest.mark.parametrize(
    ("stderr", "stdout", "reason"),
    [
        ("no\n", "", "no"),
        ("", "", "denied by guard"),
        ("", '{"reason": "told"}', "told"),
        ("no", '{"effect": "allow", "reason": "told"}', "no"),
        ("no", "{broken", "no"),
        ("no", '{"effect": 3}', "no"),
    ],
)
def test_exit_2_denies_whatever_was_printed(stderr: str, stdout: str, reason: str) -> None:
    assert answered(stdout, exit_code=2, stderr=stderr) == Reply(effect="deny", reason=reason)


@pytest.mark.parametrize(
    "stdout",
    [
        "{", '{"effect": "deny"', "[]", '[{"effect": "deny"}]', "{'effect': 'deny'}", '{"effect": "Deny"}', '{"effect": 1}',
        '{"effect": ["deny"]}', '{"effect": {}}', '{"reason": 1}', '{"data": []}', '{"context": 1}', '{"context": [1]}',
        '{"context": {"label": "x"}}', '{"context": {"text": "x", "as": "elsewhere"}}', '{"context": {"text": "x", "as": []}}',
        '{"message": []}', '{"messages": "x"}', '{"messages": [1]}', '{"attributes": 1}',
        '{"context": {"text": "x", "attributes": {"a": []}}}', "[" * 100_000, '{"effect": "allow"} trailing',
    ],
)  # fmt: skip
def test_an_answer_that_could_be_misunderstood_is_a_failure(stdout: str) -> None:
    assert isinstance(answered(stdout), HookError)


def test_an_answer_in_another_encoding_is_no_talk() -> None:
    refusal = '{"effect": "deny", "reason": "no"}'
    assert answered("\ufeff" + refusal) == Reply(effect="deny", reason="no")
    sixteen = refusal.encode("utf-16").decode("utf-8", "replace")
    assert answered(sixteen) == HookError(error="stdout is not text in UTF-8")


@pytest.mark.parametrize("exit_code", [1, 3, 127, 255])
def test_any_other_exit_is_a_failure_that_says_its_last_words(exit_code: int) -> None:
    fault = answered('{"effect": "allow"}', exit_code=exit_code, stderr="first\nlast words\n")
    assert fault == HookError(error=f"exit code {exit_code}: last words")


def test_a_signal_is_a_failure() -> None:
    assert DIALECT.reply_in(spec(), EVENT, RunResult(signal=9)) == HookError(error="ended by signal 9")


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        (None, Reply()),
        ({"effect": "allow"}, Reply(effect="allow")),
        (Reply(effect="deny", reason="r"), Reply(effect="deny", reason="r")),
        ("text", Reply()),
    ],
)
def test_a_function_answers_with_values(value: Any, reply: Reply) -> None:
    assert DIALECT.reply_in(spec(Function(target="a:b")), EVENT, RunResult(value=value)) == reply


@pytest.mark.parametrize("value", [3, ["x"], {"effect": "maybe"}, True])
def test_a_function_that_returns_nonsense_failed(value: Any) -> None:
    assert isinstance(DIALECT.reply_in(spec(Function(target="a:b")), EVENT, RunResult(value=value)), HookError)


def test_an_http_body_is_an_answer() -> None:
    assert DIALECT.reply_in(spec(Http(url="x")), EVENT, RunResult(stdout='{"effect": "deny"}')) == Reply(effect="deny")


@pytest.mark.parametrize(
    ("stdout", "reply"),
    [
        ('{"ok": true}', Reply()),
        ('{"ok": true, "reason": "fine"}', Reply()),
        ('{"ok": false, "reason": " no "}', Reply(effect="deny", reason="no")),
        ('{"ok": false}', Reply(effect="deny", reason="the model refused")),
    ],
)
def test_a_models_ok_is_no_opinion_and_its_no_a_deny(stdout: str, reply: Reply) -> None:
    assert DIALECT.reply_in(spec(Prompt(text="x")), EVENT, RunResult(stdout=stdout)) == reply


@pytest.mark.parametrize("stdout", ["", "yes", "{}", '{"ok": "true"}', '{"ok": 1}', "[]", '{"ok": false, "reason": 3}'])
def test_a_model_that_answers_something_else_failed(stdout: str) -> None:
    assert isinstance(DIALECT.reply_in(spec(Prompt(text="x")), EVENT, RunResult(stdout=stdout)), HookError)


@pytest.mark.parametrize(
    "raw",
    [
        RunResult(value={"last_text": "hi", "error": None}),
        RunResult(stdout="hi"),
        RunResult(exit_code=0, stdout='{"last_text": "hi"}'),
    ],
)
def test_an_agents_last_text_is_its_output(raw: RunResult) -> None:
    found = DIALECT.reply_in(spec(AgentRun(prompt="x"), output=Output(inject="context")), EVENT, raw)
    assert found == Reply(context=(Context(text="hi"),))


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ('{"effect": "deny", "reason": "no"}', Reply(effect="deny", reason="no")),
        ('{"effect": "allow"}', Reply()),
        ("[1] a note", Reply(context=(Context(text="[1] a note"),))),
        ("{not json", Reply(context=(Context(text="{not json"),))),
    ],
)
def test_an_agent_may_object_and_never_grant(text: str, reply: Reply) -> None:
    raw = RunResult(value={"last_text": text, "error": None})
    assert DIALECT.reply_in(spec(AgentRun(prompt="x"), output=Output(inject="context")), EVENT, raw) == reply


def test_an_agents_error_is_a_failure() -> None:
    raw = RunResult(value={"last_text": "", "error": "no key"})
    assert DIALECT.reply_in(spec(AgentRun(prompt="x")), EVENT, raw) == HookError(error="no key")


# ── from and to an agent ─────────────────────────────────────────────────────────────────────────────


def test_what_we_send_is_what_we_take() -> None:
    incoming = DIALECT.event_in("", json.loads(DIALECT.event_out(spec(), EVENT).stdin), {})
    assert (incoming.event, incoming.session, incoming.cwd) == ("PreToolUse", "s1", "/w/src")
    assert incoming.data == {**EVENT.data, "turn": 2, "agent": "codex"}


def test_unknown_fields_and_wrong_ones_survive() -> None:
    incoming = DIALECT.event_in("Stop", {"event": 3, "data": [], "extra": {"a": 1}, "session": 4}, {})
    assert (incoming.event, incoming.data, incoming.session) == ("Stop", {"extra": {"a": 1}}, "")


def test_a_deny_can_be_read_in_both_ways() -> None:
    decision = Decision(event="PreToolUse", effect="deny", reason="no", data=EVENT.data)
    answer = DIALECT.reply_out(EVENT, decision)
    assert (answer.exit_code, answer.stderr) == (2, "no\n")
    assert json.loads(answer.stdout) == {"effect": "deny", "reason": "no"}


def test_an_abort_is_a_deny_for_an_agent() -> None:
    answer = DIALECT.reply_out(EVENT, Decision(event="PreToolUse", aborted=Aborted(hook="a", message="broke")))
    assert (answer.exit_code, answer.stderr, json.loads(answer.stdout)["effect"]) == (2, "broke\n", "deny")


def test_no_opinion_says_nothing_and_grants_nothing() -> None:
    assert DIALECT.reply_out(EVENT, Decision(event="PreToolUse", data=EVENT.data)) == Answer()


def test_everything_else_is_said_and_only_what_changed() -> None:
    decision = Decision(
        event="PreToolUse", granted=True, modified=True, data={**EVENT.data, "tool_input": {"command": "pwd"}},
        context=(Injected(hook="h", context=Context(text="t", label="l")),), messages=(Message(hook="h", text="m"),),
        attributes={"mode": "x"},
    )  # fmt: skip
    answer = DIALECT.reply_out(EVENT, decision)
    assert answer.exit_code == 0
    assert json.loads(answer.stdout) == {
        "effect": "allow", "data": {"tool_input": {"command": "pwd"}}, "attributes": {"mode": "x"},
        "context": [{"hook": "h", "text": "t", "as": "context", "label": "l", "attributes": {}}],
        "messages": [{"hook": "h", "text": "m"}],
    }  # fmt: skip


def test_what_we_answer_is_an_answer_that_we_understand() -> None:
    decision = Decision(
        event="PreToolUse", effect="ask", reason="sure?", messages=(Message(hook="h", text="m"),),
        context=(Injected(hook="h", context=Context(text="t", placement="comment")),),
    )  # fmt: skip
    assert answered(DIALECT.reply_out(EVENT, decision).stdout) == Reply(
        effect="ask", reason="sure?", messages=("m",), context=(Context(text="t", placement="comment"),)
    )


def test_a_hook_is_told_the_mode_of_the_session_once_there_is_one() -> None:
    told = json.loads(DIALECT.event_out(spec(), replace(EVENT, mode="plan")).stdin)
    assert told["mode"] == "plan"
    assert "mode" not in json.loads(DIALECT.event_out(spec(), EVENT).stdin)
    assert "mode" not in DIALECT.event_in("", told, {}).data


# ── in Claude Code's words ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("stdout", "reply"),
    [
        ('{"decision": "block", "reason": "no"}', Reply(effect="deny", reason="no")),
        ('{"decision": "approve"}', Reply(effect="allow")),
        ('{"continue": false, "stopReason": "enough"}', Reply(effect="deny", reason="enough", attributes={"continue": False})),
        (
            '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}',
            Reply(effect="deny", reason="no"),
        ),
        (
            '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}}',
            Reply(effect="ask", reason="sure?"),
        ),
        (
            '{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "ls -l"}}}',
            Reply(effect="allow", data={"tool_input": {"command": "ls -l"}}),
        ),
        ('{"hookSpecificOutput": {"additionalContext": "mind the gap"}}', Reply(context=(Context(text="mind the gap"),))),
        ('{"systemMessage": "hello"}', Reply(messages=("hello",))),
        ('{"suppressOutput": true}', Reply()),
        ("{}", Reply()),
        # The stricter of both wins.
        ('{"effect": "deny", "decision": "approve"}', Reply(effect="deny")),
        ('{"effect": "allow", "decision": "block", "reason": "no"}', Reply(effect="deny", reason="no")),
    ],
)  # fmt: skip
def test_a_hook_may_answer_in_claude_codes_words(stdout: str, reply: Reply) -> None:
    assert answered(stdout) == reply


@pytest.mark.parametrize(
    "stdout",
    [
        '{"permissionDecision": "deny", "reason": "at the wrong place"}',
        '{"efect": "deny"}',
        '{"block": true}',
        '{"ok": false}',
        '{"decision": "denied"}',
        '{"hookSpecificOutput": {"permissionDecision": "refuse"}}',
        '{"hookSpecificOutput": "deny"}',
        '{"hookSpecificOutput": {"decision": "deny"}}',
        '{"hookSpecificOutput": {"decision": {"behavior": "deny"}}}',
        "deny",
        '"deny"\n',
        " Blocked\n",
        '{"hookSpecificOutput": {"permissionDecison": "deny"}}',
        '{"continue": "false"}',
        '{"effect": "deny", "effect": "allow"}',
        '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}',
        'checking\n{"decision": "block", "reason": "no"}',
        'checking\n{"reason": "no", "decision": "block"}',
        'checking\n\n{\n  "hookSpecificOutput": {\n    "permissionDecision": "deny"\n  }\n}\n',
        '{"effect": "deny"}\ndone',
        '{"effect": "allow"}\n{"effect": "deny"}',
    ],
)
def test_an_answer_that_cannot_be_understood_is_a_failure(stdout: str) -> None:
    assert isinstance(answered(stdout), HookError)


def test_an_answer_on_stderr_is_a_failure() -> None:
    assert isinstance(answered("", stderr='{"decision": "block", "reason": "no"}'), HookError)


@pytest.mark.parametrize("stdout", ['{"effect": "allow"}   ', "talk " * 9])
def test_an_answer_that_was_cut_is_a_failure(stdout: str) -> None:
    assert isinstance(DIALECT.reply_in(spec(), EVENT, RunResult(exit_code=0, stdout=stdout, cut=True)), HookError)


@pytest.mark.parametrize(
    "stdout",
    [
        "log: {x}",
        "denylist is empty",
        "allow",
        'rows:\n{"message": "hello", "level": "info"}',
        "{x} is a set" and "a\nb",
    ],
)
def test_text_that_decides_nothing_is_text(stdout: str) -> None:
    assert answered(stdout) == Reply()


def test_a_hook_can_be_bound_to_one_format() -> None:
    bound = spec(extra={"wire": "gemini", "project": "/w"})
    sent = json.loads(DIALECT.event_out(bound, EVENT).stdin)
    assert (sent["hook_event_name"], "event" in sent) == ("BeforeTool", False)
    assert DIALECT.event_out(bound, EVENT).argv == ("x", "y")
    raw = RunResult(exit_code=0, stdout='{"decision": "deny", "reason": "no"}')
    assert DIALECT.reply_in(bound, EVENT, raw) == Reply(effect="deny", reason="no")
