"""Many programs under one event loop."""

from __future__ import annotations

import asyncio
import os

from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.runners.base import Stop
from hookline.runners.process_async import run_process_async
from hookline.runners.spawn import Launch


async def run(source: str, stop: Stop) -> RunResult:
    launch = Launch(program="/bin/sh", argv=("sh", "-c", source), environ={"PATH": "/usr/bin:/bin"}, stdin=b"input ")
    return await run_process_async(launch, seconds=20.0, settings=Settings(), stop=stop, afterwards=lambda: None)


def test_each_program_is_read_by_itself_and_no_descriptor_stays_open() -> None:
    async def many() -> tuple[list[str], int]:
        before = len(os.listdir("/dev/fd"))
        stops = [Stop() for _ in range(10)]
        results = await asyncio.gather(*(run(f"cat; echo {n}; echo x >&2", stop) for n, stop in enumerate(stops)))
        for stop in stops:
            stop.close()
        return [one.stdout for one in results], len(os.listdir("/dev/fd")) - before

    assert asyncio.run(many()) == ([f"input {number}\n" for number in range(10)], 0)


def test_one_stop_ends_every_program_that_waits_for_it() -> None:
    async def both() -> list[int | None]:
        stop = Stop()
        running = [asyncio.ensure_future(run("sleep 60", stop)) for _ in range(2)]
        await asyncio.sleep(0)
        stop.set()
        return [one.signal for one in await asyncio.gather(*running)]

    assert asyncio.run(both()) == [15, 15]
