"""What only the door under an event loop promises: the loop goes on, and a cancelled caller leaves nothing behind."""

from __future__ import annotations

import asyncio
import time

import pytest

from hookline.run.command import CommandRunner


async def until(holds):
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def test_the_loop_goes_on_while_a_command_runs(job):
    async def main():
        running = asyncio.create_task(CommandRunner().arun(job("sleep", "0.3")))
        turns = 0
        while not running.done():
            await asyncio.sleep(0.01)
            turns += 1
        return turns, running.result().exit_code

    turns, exit_code = asyncio.run(main())
    assert exit_code == 0
    assert turns > 5


def test_many_commands_run_side_by_side_in_one_loop(job):
    async def main():
        runner = CommandRunner()
        return await asyncio.gather(*(runner.arun(job("/bin/sh", "-c", f"sleep 0.2; echo {n}")) for n in range(20)))

    began = time.monotonic()
    raws = asyncio.run(main())
    assert [raw.stdout for raw in raws] == [f"{n}\n" for n in range(20)]
    assert time.monotonic() - began < 2.5


@pytest.mark.parametrize("script", ["sleep 60 & wait", "trap '' TERM; sleep 60 & wait; wait"])
def test_a_cancelled_caller_goes_at_once_and_its_command_is_ended_behind_it(job, survivors, tmp_path, script):
    started = tmp_path / "started"

    async def main():
        work = job("/bin/sh", script=f": > {started}; {script}", grace=0.1)
        running = asyncio.create_task(CommandRunner().arun(work))
        await until(started.exists)
        running.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - began

    assert asyncio.run(main()) < 0.1
    assert survivors() == []
    assert list((tmp_path / "state" / "tmp").iterdir()) == []


def test_a_stop_from_another_thread_ends_it(job):
    async def main():
        work = job("sleep", "60")
        asyncio.get_running_loop().call_later(
            0.1, lambda: asyncio.get_running_loop().run_in_executor(None, work.stop.set)
        )
        return await CommandRunner().arun(work)

    assert asyncio.run(main()).error == "stopped from outside before it was done"
