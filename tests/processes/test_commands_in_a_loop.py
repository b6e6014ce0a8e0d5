"""What only the door under an event loop promises: the loop goes on, and a cancelled caller leaves nothing behind."""

from __future__ import annotations

import asyncio
import time

import pytest

from hookline.runners.command import CommandRunner

#: Seconds that a command which is asked to end has for it: long enough to see that nobody waits for them.
GRACE = 4.0


async def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def test_the_loop_goes_on_while_a_command_runs(job, tmp_path):
    """The command ends when the loop has gone on, and not before."""
    enough = tmp_path / "enough"

    async def main():
        waits = f"while [ ! -e {enough} ]; do sleep 0.02; done"
        running = asyncio.create_task(CommandRunner().arun(job("/bin/sh", "-c", waits)))
        for _ in range(10):
            await asyncio.sleep(0.01)
        early = running.done()
        enough.touch()
        return early, (await running).exit_code

    assert asyncio.run(main()) == (False, 0)


def test_many_commands_run_side_by_side_in_one_loop(job, tmp_path):
    """Each of them waits for all the others."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()

    async def main():
        runner = CommandRunner()
        waits = f"cd {meeting}; : >$$; while [ $(ls | wc -l) -lt 20 ]; do sleep 0.05; done"
        return await asyncio.gather(*(runner.arun(job("/bin/sh", "-c", f"{waits}; echo {n}")) for n in range(20)))

    assert [raw.stdout for raw in asyncio.run(main())] == [f"{n}\n" for n in range(20)]


@pytest.mark.parametrize("ears", ["", "trap '' TERM; "])
def test_a_cancelled_caller_goes_at_once_and_its_command_is_ended_behind_it(job, survivors, tmp_path, ears):
    started = tmp_path / "started"

    async def main():
        work = job("/bin/sh", script=f"{ears}: > {started}; sleep 60 & wait", grace=GRACE)
        running = asyncio.create_task(CommandRunner().arun(work))
        await until(started.exists)
        running.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - began

    assert asyncio.run(main()) < GRACE - 1
    assert survivors() == []
    assert list((tmp_path / "state" / "tmp").iterdir()) == []


def test_a_stop_from_another_thread_ends_it(job):
    async def main():
        work = job("sleep", "60")
        asyncio.get_running_loop().call_later(
            0.1, lambda: asyncio.get_running_loop().run_in_executor(None, work.stop.set)
        )
        return await CommandRunner().arun(work)

    assert asyncio.run(main()).error == "stopped from outside before it finished"
