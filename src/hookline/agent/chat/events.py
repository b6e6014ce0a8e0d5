"""The events of a chat session, with the fields that all of them carry, and how their output is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.screen import Level, Screen
from hookline.agent.hook_events import EventEmitter
from hookline.core.hook import HookSpec
from hookline.core.result import Context, Decision, Failed, Outcome, TimedOut
from hookline.core.serialize import decision_shape
from hookline.engine.engine import Engine
from hookline.state.record import NullRecorder, Record, Recorder, WrappedRecorder

#: Otherwise records would grow with the square of a session's length.
_LEFT_OUT = frozenset({"history"})


def slim(recorder: Recorder) -> Recorder:
    """Wrap the recorder; one that keeps nothing stays as it is."""
    return recorder if isinstance(recorder, NullRecorder | _SlimRecorder) else _SlimRecorder(recorder)


class _SlimRecorder(WrappedRecorder):
    def write(self, record: Record) -> str | None:
        event, decision = record.event, record.decision
        if "history" in event.data:
            event = replace(event, data=_without(event.data))
            decision = replace(decision, data=_without(decision.data))
            record = replace(record, event=event, decision=decision)
        return super().write(record)


def _without(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in _LEFT_OUT or isinstance(value, bool)}


#: Fields of every event that would make a report useless.
_BULKY = ("history", "conversation")


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredEvent:
    """``record`` is the id of the kept record."""

    decision: Decision
    record: str

    def shape(self) -> dict[str, Any]:
        shape = decision_shape(self.decision)
        shape["data"] = {key: value for key, value in shape["data"].items() if key not in _BULKY}
        return {**shape, "id": self.record}


@dataclass(slots=True, kw_only=True)
class ChatEvents(EventEmitter):
    """``common`` are the fields of this session or subagent that every event carries."""

    engine: Engine
    conversation: Conversation
    screen: Screen
    session: str
    common: dict[str, Any]
    #: The session's totals, which hooks add to.
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    #: US dollars by hook, as far as prices are known.
    costs: dict[str, float] = field(default_factory=dict[str, float])
    #: Every decision, where a report is wanted; None keeps nothing.
    fired: list[FiredEvent] | None = None
    _pending: set[asyncio.Task[Any]] = field(default_factory=set["asyncio.Task[Any]"])
    _shown: set[str] = field(default_factory=set[str])

    async def emit(self, name: str, /, **fields: Any) -> Decision:
        given = {key: value for key, value in fields.items() if value is not None}
        return await self._fire(name, {**self._frame(), **given})

    async def _fire(self, name: str, data: dict[str, Any]) -> Decision:
        event = self.engine.event(name, data, session=self.session)
        decision = await self.engine.fire_event_async(event)
        if self.fired is not None:
            self.fired.append(FiredEvent(decision=decision, record=event.id))
        if decision.outcomes:
            self._show(decision)
            self._count(decision.outcomes)
        return decision

    def finished(self, late: Iterable[tuple[HookSpec, Outcome]]) -> None:
        """Background hooks that are done: what went wrong, and what they cost."""
        outcomes = [outcome for _, outcome in late]
        self._show_failures(outcomes)
        self._count(outcomes)

    def _count(self, outcomes: Iterable[Outcome]) -> None:
        """The tokens of hooks that asked a model are part of what the session cost."""
        for outcome in outcomes:
            usage = outcome.raw.usage if outcome.raw is not None else {}
            counts = {name: usage.get(f"{name}_tokens") for name in ("input", "cached", "output")}
            known = {name: count for name, count in counts.items() if isinstance(count, int)}
            known["total"] = known.get("input", 0) + known.get("output", 0)
            if cost := usage.get("cost_usd"):
                self.costs[outcome.hook] = self.costs.get(outcome.hook, 0.0) + cost
            for name, count in known.items():
                self.tokens[name] = self.tokens.get(name, 0) + count

    async def shell(self, name: str, /, **fields: Any) -> Decision:
        """An event of the line editor: it carries nothing of the conversation."""
        return await self._fire(name, fields)

    def notify(self, message: str, level: Level = "info", kind: str = "") -> None:
        """Nobody waits for a notification, but ``wait_pending`` does before the session ends."""
        firing = self._fire(
            "Notification", {**self._frame(), "message": message, "level": level, "notification_type": kind}
        )
        task = asyncio.ensure_future(firing)
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def wait_pending(self) -> None:
        while self._pending:
            await asyncio.gather(*self._pending, return_exceptions=True)
            await asyncio.sleep(0)  # done tasks leave the set in this iteration; some Pythons gather without one

    def _frame(self) -> dict[str, Any]:
        conversation = self.conversation
        return {
            "session_id": self.session,
            "conversation_id": self.session,
            "turn": conversation.turns,
            "cwd": conversation.transcript.cwd,
            "transcript_path": conversation.transcript.path,
            **self.common,
            "history": list(conversation.history),
        }

    def _show(self, decision: Decision) -> None:
        for message in decision.messages:
            self.screen.note(f"{message.hook}: {message.text}")
        for injected in decision.context:
            if injected.context.placement == "comment":
                self.screen.note(f"{injected.hook}: {injected.context.text.strip()}")
        self._show_failures(decision.outcomes)

    def _show_failures(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            failed = isinstance(outcome, Failed | TimedOut)
            if (failed or outcome.needs_trust) and outcome.hook + outcome.error not in self._shown:
                self._shown.add(outcome.hook + outcome.error)
                self.screen.note(f"hook {outcome.hook}: {outcome.error}", "warning")


_BLOCKED = "Blocked by hook"


def refusals(decision: Decision) -> str:
    """Who refused and why, in declared order; a hook that refused without output adds nothing."""
    lines = [
        f"[{outcome.hook}]: {outcome.reply.reason}"
        for outcome in decision.outcomes
        if outcome.reply is not None
        and outcome.reply.effect == "deny"
        and outcome.reply.reason
        and not _silent(outcome)
    ]
    return "\n".join(lines) or decision.reason or (decision.aborted.message if decision.aborted else "") or _BLOCKED


def _silent(outcome: Outcome) -> bool:
    raw = outcome.raw
    return raw is not None and raw.exit_code is not None and not raw.stderr.strip() and not raw.stdout.strip()


def tool_blocked(reason: str) -> str:
    return f"Error: Tool execution blocked by hook. {reason}"


def permission_denied(reason: str) -> str:
    return reason if reason.startswith("Permission denied") else f"Permission denied: {reason}"


def prompt_blocked(decision: Decision) -> str:
    return f"<user-prompt-submit-hook>{refusals(decision)}</user-prompt-submit-hook>"


def stop_refused(reason: str) -> str:
    return f"<stop-hook>\n{reason or 'Stop hook blocked'}\n</stop-hook>"


def after_tool(decisions: Iterable[Decision]) -> str:
    """What is appended to a tool's result; "" when hooks say nothing."""
    lines = [_attributed(decision, hook, context) for decision in decisions for hook, context in _visible(decision)]
    return "\n\n[Hook feedback]:\n" + "\n".join(lines) if lines else ""


def _attributed(decision: Decision, hook: str, context: Context) -> str:
    """A complaint on stderr (exit code 2) is shown with the name of its hook."""
    for outcome in decision.outcomes:
        raw = outcome.raw
        if outcome.hook == hook and raw is not None and raw.exit_code == 2 and raw.stderr.strip() == context.text:
            return f"[{hook}]: {context.text}"
    return _labelled(context)


def _visible(decision: Decision) -> list[tuple[str, Context]]:
    """The contexts for the model: a comment is for people."""
    return [(one.hook, one.context) for one in decision.context if one.context.placement != "comment"]


def session_context(decision: Decision) -> str:
    lines = [_labelled(context) for _, context in _visible(decision)]
    body = "\n".join(lines)
    return f"<system-reminder>\n[SessionStart hook context]:\n{body}\n</system-reminder>\n\n" if lines else ""


def context_messages(decision: Decision) -> list[str]:
    """One reminder for everything without a label, and a block for each label."""
    contexts = [context for _, context in _visible(decision) if context.placement not in {"attachment", "reply"}]
    plain = [context.text for context in contexts if not context.label]
    reminder = ["<system-reminder>\n" + "\n".join(plain) + "\n</system-reminder>"] if plain else []
    return [*reminder, *(_labelled(context) for context in contexts if context.label)]


def attachments(decision: Decision) -> list[Context]:
    """Inline output of hooks, which goes into the conversation without any wrapper."""
    return [one.context for one in decision.context if one.context.placement == "attachment"]


def reply_context(decision: Decision) -> str:
    """What stands in front of the answer, inside it."""
    return "\n".join(_labelled(context) for _, context in _visible(decision) if context.placement == "reply")


def _labelled(context: Context) -> str:
    if not context.label or context.placement == "attachment":
        return context.text
    return f"<|results:{context.label}|>\n{context.text}\n<|end_file:{context.label}|>"
