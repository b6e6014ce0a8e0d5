"""Signals inside the event loop: the first one ends what is running in good order, a second one is not waited for."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.agent.chat.session import Session

#: What ends a session, and what a hook is told as the reason.
_REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hangup"}


@dataclass(slots=True)
class Bell:
    """``heard`` is the first signal that came; ``task`` is what it cancels."""

    task: asyncio.Task[object] | None = None
    heard: signal.Signals | None = None
    again: asyncio.Event = field(default_factory=asyncio.Event)

    def ring(self, number: signal.Signals) -> None:
        if self.heard is not None:
            self.again.set()
            return
        self.heard = number
        if self.task is not None:
            self.task.cancel()

    @property
    def exit_code(self) -> int:
        return 128 + self.heard if self.heard is not None else 0

    @property
    def reason(self) -> str:
        return _REASONS[self.heard] if self.heard is not None else ""


@contextmanager
def bell(*numbers: signal.Signals) -> Generator[Bell]:
    """Must be entered inside a running loop, in the main thread."""
    made = Bell()
    loop = asyncio.get_running_loop()
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]  # nohup means it
    for number in heard:
        loop.add_signal_handler(number, made.ring, number)
    try:
        yield made
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


async def finish(session: Session, rung: Bell, reason: str = "exit") -> None:
    """End the session; a second signal means: now."""
    ending = asyncio.ensure_future(session.end(rung.reason or reason))
    impatient = asyncio.ensure_future(rung.again.wait())
    await asyncio.wait([ending, impatient], return_when=asyncio.FIRST_COMPLETED)
    impatient.cancel()
    if not ending.done():
        ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending
    elif not ending.cancelled():
        ending.result()
