"""The wrappers, word for word."""

from __future__ import annotations

from hookline.agent.chat import events
from hookline.core.result import Context, Decision, Injected, Replied, Reply, RunResult


def _denied(*hooks: tuple[str, str, str]) -> Decision:
    outcomes = tuple(
        Replied(
            id=name, hook=name, reply=Reply(effect="deny", reason=reason), raw=RunResult(exit_code=2, stderr=stderr)
        )
        for name, reason, stderr in hooks
    )
    return Decision(event="PreToolUse", effect="deny", reason="\n".join(h[1] for h in hooks), outcomes=outcomes)


def _said(*contexts: Context) -> Decision:
    return Decision(event="X", context=tuple(Injected(hook="h", context=one) for one in contexts))


def test_a_refusal_names_who_refused() -> None:
    assert events.refusals(_denied(("cmd", "no", "no"))) == "[cmd]: no"
    assert events.tool_blocked("[cmd]: no") == "Error: Tool execution blocked by hook. [cmd]: no"


def test_a_silent_refusal_says_only_that_there_is_one() -> None:
    silent = _denied(("cmd", "Blocked by hook", ""))
    assert events.tool_blocked(events.refusals(silent)) == "Error: Tool execution blocked by hook. Blocked by hook"


def test_a_permission_that_is_denied_says_so_once() -> None:
    assert events.permission_denied("x") == "Permission denied: x"
    assert events.permission_denied("Permission denied: x") == "Permission denied: x"


def test_contexts_before_a_prompt() -> None:
    decision = _said(
        Context(text="a"), Context(text="P\nb", label="L"), Context(text="c"),
        Context(text="secret", placement="comment"), Context(text="d", placement="attachment", label="lint"),
    )  # fmt: skip
    assert events.context_messages(decision) == [
        "<system-reminder>\na\nc\n</system-reminder>",
        "<|results:L|>\nP\nb\n<|end_file:L|>",
    ]
    assert [one.text for one in events.attachments(decision)] == ["d"]


def test_what_is_said_at_the_start_of_a_session() -> None:
    told = events.session_context(_said(Context(text="a"), Context(text="b")))
    assert told == "<system-reminder>\n[SessionStart hook context]:\na\nb\n</system-reminder>\n\n"
    assert events.session_context(_said()) == ""


def test_feedback_after_a_tool() -> None:
    assert (
        events.after_tool([_said(), _said(Context(text="a")), _said(Context(text="b"))]) == "\n\n[Hook feedback]:\na\nb"
    )
    assert events.after_tool([_said()]) == ""


def test_a_refused_stop() -> None:
    assert events.stop_refused("go on") == "<stop-hook>\ngo on\n</stop-hook>"
    assert events.stop_refused("") == "<stop-hook>\nStop hook blocked\n</stop-hook>"
