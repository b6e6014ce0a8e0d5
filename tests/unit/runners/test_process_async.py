"""Many programs under one event loop, which hears of them through one descriptor."""

from __future__ import annotations

import asyncio

from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.runners.base import Stop
from hookline.runners.process_async import _SWITCHBOARDS, run_process_async
from hookline.runners.spawn import Launch


async def run(source: str, stop: Stop) -> RunResult:
    launch = Launch(program="/bin/sh", argv=("sh", "-c", source), environ={"PATH": "/usr/bin:/bin"}, stdin=b"said")
    return await run_process_async(launch, seconds=20.0, settings=Settings(), stop=stop, afterwards=lambda: None)


def test_each_program_is_heard_by_itself_and_nothing_stays_behind() -> None:
    async def many() -> tuple[list[str], int]:
        results = await asyncio.gather(*(run(f"cat; echo {number}; echo x >&2", Stop()) for number in range(10)))
        return [one.stdout for one in results], len(_SWITCHBOARDS[asyncio.get_running_loop()].ears)

    assert asyncio.run(many()) == ([f"said{number}\n" for number in range(10)], 0)


def test_one_stop_ends_every_program_that_listens_to_it() -> None:
    async def both() -> tuple[list[int | None], int]:
        stop = Stop()
        running = [asyncio.ensure_future(run("sleep 60", stop)) for _ in range(2)]
        await asyncio.sleep(0)
        stop.set()
        results = await asyncio.gather(*running)
        return [one.signal for one in results], len(_SWITCHBOARDS[asyncio.get_running_loop()].ears)

    assert asyncio.run(both()) == ([15, 15], 0)
