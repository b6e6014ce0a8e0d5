"""The signals that end a session, and its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from hookline.agent.chat.session import Session

_REASONS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hangup"}


@dataclass(slots=True)
class SignalWatcher:
    """``received`` is the first signal that came; ``task`` is what it cancels."""

    task: asyncio.Task[object] | None = None
    received: signal.Signals | None = None
    repeated: asyncio.Event = field(default_factory=asyncio.Event)

    def handle(self, number: signal.Signals) -> None:
        if self.received is not None:
            self.repeated.set()
            return
        self.received = number
        if self.task is not None:
            self.task.cancel()

    @property
    def exit_code(self) -> int:
        return 128 + self.received if self.received is not None else 0

    @property
    def reason(self) -> str:
        return _REASONS[self.received] if self.received is not None else ""


@contextmanager
def watch_signals(*numbers: signal.Signals) -> Generator[SignalWatcher]:
    """Must be entered inside a running loop, in the main thread."""
    made = SignalWatcher()
    loop = asyncio.get_running_loop()
    watched = [
        number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN
    ]  # nohup ignores it on purpose
    for number in watched:
        loop.add_signal_handler(number, made.handle, number)
    try:
        yield made
    finally:
        for number in watched:
            loop.remove_signal_handler(number)


async def finish(session: Session, signals: SignalWatcher, reason: str = "exit") -> None:
    """End the session; a second signal ends it at once."""
    ending = asyncio.ensure_future(session.end(signals.reason or reason))
    impatient = asyncio.ensure_future(signals.repeated.wait())
    await asyncio.wait([ending, impatient], return_when=asyncio.FIRST_COMPLETED)
    impatient.cancel()
    if not ending.done():
        ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending
    elif not ending.cancelled():
        ending.result()
