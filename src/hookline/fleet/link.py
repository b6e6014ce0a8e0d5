"""The link of a machine to its fleet: a process of its own, so that no decision ever waits for the network.

The daemon starts it where the machine has joined, or systemd does. It is a set of parts that run side by side on one
connection, ``PARTS``: each is an asynchronous function of a ``Link`` that never returns by itself; one that raises is
started again a little later and hinders no other. What a part has to remember it keeps on the disk: the process may be
killed at any moment. ``Link.note`` tells people what is wrong, by part (``hookline fleet status``).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from hookline.core.errors import HooklineError
from hookline.core.files import open_locked
from hookline.core.paths import Paths
from hookline.fleet.connection import UNREACHABLE, close, connect, explain
from hookline.fleet.join import LOCK, Joined

if TYPE_CHECKING:
    from nats.aio.client import Client

#: Seconds between two looks at whether we are still wanted, and the longest pause after a failure.
_PACE, _LONGEST = 1.0, 60.0


class FleetLink:
    """What every part works with."""

    def __init__(self, joined: Joined, paths: Paths, client: Client) -> None:
        self.joined, self.paths, self.client = joined, paths, client
        self.machine, self.group = joined.credentials.name, joined.credentials.group
        #: Held while a policy is put in force: halfway through, the machine looks as if it had drifted.
        self.installing = asyncio.Lock()
        #: The policy may have changed: it was announced, or we were away and heard no announcement.
        self.news = asyncio.Event()
        self._state = joined.state()

    def note(self, part: str, problem: str) -> None:
        """ "" when nothing is wrong (any more)."""
        problems = self._state.setdefault("problems", {})
        if problems.get(part, "") != problem:
            problems[part] = problem
            self._keep()

    def note_connected(self, problem: str) -> bool:
        """ "" when we are connected. Whether that is new."""
        before = self._state.get("problem")
        self._state |= {"connected": not problem, "problem": problem}
        if before != problem:
            self._keep()
        return before != problem and not problem

    def problems(self) -> dict[str, str]:
        return {part: text for part, text in self._state.get("problems", {}).items() if text}

    def _keep(self) -> None:
        try:
            self.joined.keep_state(self._state)
        except OSError:
            return  # a full disk: it is written with the next change


_Part: TypeAlias = Callable[[FleetLink], Awaitable[None]]


def _parts() -> Mapping[str, _Part]:
    """Name -> part."""
    from hookline.fleet.parts import pull, report, ship
    from hookline.fleet.questions import carry_questions

    return {"policy": pull, "records": ship, "report": report, "questions": carry_questions}


def run(joined: Joined, paths: Paths, wanted: Callable[[], bool], chosen: Mapping[str, _Part] | None = None) -> bool:
    """Until nobody wants it any more. False when another process is the link of this machine."""
    lock = open_locked(os.path.join(joined.folder, LOCK))
    if lock is None:
        return False
    try:
        asyncio.run(_run(joined, paths, wanted, _parts() if chosen is None else chosen))
    finally:
        os.close(lock)
    return True


async def _run(joined: Joined, paths: Paths, wanted: Callable[[], bool], chosen: Mapping[str, _Part]) -> None:
    from nats.aio.client import Client

    link, pause = FleetLink(joined, paths, Client()), 1.0
    while wanted():
        try:
            client = await connect(joined.credentials, stay=True)
        except HooklineError as error:
            link.note_connected(str(error))
            _give_sign(joined.folder)
            await _sleep(pause, wanted)
            pause = min(2 * pause, _LONGEST)
            continue
        pause, link.client = 1.0, client
        tasks = [asyncio.create_task(_keep_running(name, part, link)) for name, part in chosen.items()]
        try:
            # A client that was refused closes itself: then a new one asks again, more and more rarely.
            while wanted() and not client.is_closed:
                lost = explain(joined.credentials, client.last_error or TimeoutError())
                if link.note_connected("" if client.is_connected else lost):
                    link.news.set()
                _give_sign(joined.folder)
                await asyncio.sleep(_PACE)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await close(client)


async def _keep_running(name: str, part: _Part, link: FleetLink) -> None:
    pause = 1.0
    while True:
        started = time.monotonic()
        try:
            await part(link)
        except UNREACHABLE as error:
            link.note(name, explain(link.joined.credentials, error))
        except (HooklineError, ValueError, KeyError, TypeError) as error:
            link.note(name, str(error))
        pause = 1.0 if time.monotonic() - started > _LONGEST else min(2 * pause, _LONGEST)
        await asyncio.sleep(pause)


def _give_sign(folder: str) -> None:
    """That this process is not frozen, by the time of its lock (``hookline fleet status --local``); and the end of a grace."""
    with suppress(OSError):
        os.utime(os.path.join(folder, LOCK))
    _note_silence(folder)


def _note_silence(folder: str) -> None:
    """Resident engines look at this file when it changes: when the time without the broker is over, it does."""
    path = os.path.join(folder, "contact.json")
    try:
        with open(path, encoding="utf-8") as file:
            until = json.load(file)["until"]
        if os.stat(path).st_mtime < until <= time.time():
            os.utime(path)
    except (OSError, ValueError, KeyError, TypeError):
        return


async def _sleep(seconds: float, wanted: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while wanted() and time.monotonic() < until:  # noqa: ASYNC110  nothing tells us when a parent is gone
        await asyncio.sleep(min(_PACE, seconds))
