"""What hooks cost in a turn of the chat: a model that answers at once, and ten Python functions that hear every event.

    python bench/host.py [TURNS]

The same turns without hooks are measured in the same run, in turns with the others, and the difference of the medians
is what hooks cost. The aim is at most 2 ms per turn. Time of the processor is counted, so that a busy machine does not
spoil the figure; ten hooks on six events are sixty calls in a turn.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from typing import Any

from hookline.agent.chat.context import ChatContext, ChatOptions
from hookline.agent.chat.session import Session
from hookline.agent.message import AssistantMessage, Delta, Done, Text, Usage
from hookline.agent.tools.builtin import BUILT_IN
from hookline.core.hook import Function, HookSpec, Origin
from hookline.engine.engine import Engine

EVENTS = ("RunStart", "UserPromptSubmit", "AssistantMessage", "Stop", "RunEnd", "Notification")
HOOKS = 10
LIMIT_MS = 2.0


class Instant:
    """A model without latency."""

    name, model = "script:instant", "instant"

    async def converse(self, *_said: Any, **_named: Any) -> AsyncGenerator[Delta]:
        yield Text(text="Done.")
        yield Usage(input=10, cached=0, output=2, total=12)
        yield Done(message=AssistantMessage(text="Done."))


class Nowhere:
    def __getattr__(self, _name: str) -> Any:
        return lambda *_given, **_named: None


def _hooks() -> tuple[HookSpec, ...]:
    def look(event: Any) -> None:
        event.data.get("prompt")

    origin = Origin(file="bench")
    return tuple(
        HookSpec(
            id=f"{event}{number}", name=f"look{number}", dialect="native", event=event, origin=origin,
            action=Function(target="bench:look", call=look),
        )
        for event in EVENTS
        for number in range(HOOKS)
    )  # fmt: skip


def _session(folder: str, specs: tuple[HookSpec, ...]) -> Session:
    engine = Engine(specs=specs, cwd=folder, environ={})
    context = ChatContext(
        engine=engine, data_dir=folder, environ={}, tools=BUILT_IN, model=Instant(),  # type: ignore[arg-type]
        screen=Nowhere(), options=ChatOptions(), cwd=folder,  # type: ignore[arg-type]
    )  # fmt: skip
    return Session(context)


async def measure(turns: int) -> tuple[float, float]:
    """Medians in milliseconds: without hooks, and with them."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = [_session(folder, ()), _session(folder, _hooks())]
        times: list[list[float]] = [[], []]
        for number in range(turns + 5):
            for place, session in enumerate(sessions):
                began = time.process_time()
                await session.submit("go")
                await session.events.wait_pending()
                if number >= 5:
                    times[place].append((time.process_time() - began) * 1000)
        for session in sessions:
            await session.end("exit")
            session.context.engine.close()
    return statistics.median(times[0]), statistics.median(times[1])


def main(words: list[str]) -> int:
    without, with_hooks = asyncio.run(measure(int(words[0]) if words else 200))
    cost = with_hooks - without
    print(f"a turn without hooks {without:.3f} ms, with {HOOKS} on each event {with_hooks:.3f} ms: {cost:.3f} ms more")
    return 0 if cost <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
