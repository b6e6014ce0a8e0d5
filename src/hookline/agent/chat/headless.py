"""One prompt without a terminal: ``chat -p``. The same session as the interactive one, with nobody to ask."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.chat.context import ChatOptions
from hookline.agent.chat.screen import Level, ShownCall
from hookline.agent.chat.session import Session, TurnResult
from hookline.agent.chat.signals import SignalWatcher, finish, watch_signals
from hookline.agent.chat.startup import open_chat
from hookline.agent.permissions import Answer
from hookline.core.serialize import context_shape, message_shape
from hookline.engine.build import Runtime


@dataclass(slots=True)
class _PlainScreen:
    """The answer goes to stdout as it comes, notes to stderr; with ``quiet`` only warnings and errors."""

    quiet: bool = False
    _open_line: bool = field(default=False)

    def text(self, piece: str) -> None:
        if not self.quiet:
            sys.stdout.write(piece)
            sys.stdout.flush()
            self._open_line = not piece.endswith("\n")

    def thinking(self, piece: str) -> None: ...

    def reply_done(self) -> None:
        if self._open_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open_line = False

    def call_begins(self, name: str, given: Mapping[str, Any], agent: str) -> None: ...

    def call_done(self, call: ShownCall, agent: str) -> None: ...

    def note(self, text: str, level: Level = "info") -> None:
        if level != "info" or not self.quiet:
            sys.stderr.write(f"hookline: {text}\n")

    async def ask(self, name: str, given: Mapping[str, Any], reason: str) -> Answer | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessResult:
    exit_code: int
    #: What ``--json`` prints.
    report: dict[str, Any]


async def answer_once(
    reassemble: Callable[[], Runtime], options: ChatOptions, prompt: str, environ: Mapping[str, str]
) -> HeadlessResult:
    """Open, ask once, close. SessionEnd fires whatever happens in between, a signal included."""
    screen = _PlainScreen(quiet=options.report)
    async with open_chat(reassemble, options, screen, environ) as opened:
        session = await opened.session(options.resume)
        with watch_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            ended = await _ask(session, options, prompt, signals)
        code = signals.exit_code or (0 if ended.error is None else 1)
        return HeadlessResult(exit_code=code, report=_report(session, ended))


async def _ask(session: Session, options: ChatOptions, prompt: str, signals: SignalWatcher) -> TurnResult:
    async def turn() -> TurnResult:
        await session.start("startup" if options.resume is None else "resume")
        return await session.submit(prompt)

    signals.task = asyncio.ensure_future(turn())
    ended = TurnResult(stop_reason="interrupted", error="interrupted")
    try:
        ended = await signals.task
    except asyncio.CancelledError:
        # Ctrl-C before our handler was set went to the event loop, which cancels this task.
        signals.received = signals.received or signal.SIGINT
    finally:
        await finish(session, signals)
    return ended


def _report(session: Session, ended: TurnResult) -> dict[str, Any]:
    """These field names are a contract; fields are added, never changed."""
    fired = session.fired or []
    agent = session.agent
    return {
        "session_id": session.id,
        "transcript_path": session.conversation.transcript.path,
        "model": session.context.model.name,
        "text": ended.text,
        "turns": agent.requests,
        "tool_calls": [
            {
                "id": call.id, "name": call.name, "input": call.input, "output": call.output, "is_error": call.is_error,
                "duration_ms": call.duration_ms, "decision": call.decision,
            }
            for call in session.calls
        ],
        "decisions": [one.shape() for one in fired],
        "records": [one.record for one in fired],
        "contexts": [
            {"event": one.decision.event, **context_shape(each)} for one in fired for each in one.decision.context
        ],
        "messages": [
            {"event": one.decision.event, **message_shape(each)} for one in fired for each in one.decision.messages
        ],
        "tokens": dict(session.tokens),
        "hooks_cost_usd": sum(session.costs.values()),
        "stop_reason": ended.stop_reason,
        "error": ended.error,
    }  # fmt: skip
