"""New events as they happen: one thread follows the journal and the store, any number of pages listen.

The daemon gathers records for a moment before they reach the store. To show them at once, its journal is read too, and
what was seen there is not announced a second time when the store has it. Nothing here waits for a page: each
page reads from a ring of recent events, and one that falls behind is told to load again.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from hookline.state.record.journal import journal_path
from hookline.state.record.store import Store
from hookline.web import events

#: Seconds between two looks, which is how often a page draws at most, and the messages that it may fall behind.
_PACE, _RING = 0.085, 256
#: With more events than this in one look a page has only room for the latest, and fewer pictures a second are enough.
_FLOOD, _FLOOD_PACE = 30, 0.095
#: Events that were announced from the journal and may still reach the store.
_REMEMBERED = 20_000
#: Events that are read in one go, and seconds until the next: whoever is to decide on this core waits for one portion,
#: since a low priority alone does not end a slice that has begun.
_PORTION, _BREATH = 10, 0.0002
#: Bytes of the journal that are read at a time.
_CHUNK = 4 << 20
#: Seconds between two signs of life, for whatever is between the page and us.
_ALIVE = 15.0


class Follower:
    """What is new since the last look."""

    def __init__(self, store: Store, watched: str) -> None:
        self._store = store
        self._journal = journal_path(store.path)
        self._wal = f"{store.path}-wal"
        #: A folder of which any change is announced: that of open questions.
        self._watched = watched
        self._offset = 0
        self._partial = b""
        self._stamps: tuple[Any, ...] = ()
        self._questions: Any = None
        self._announced: dict[str, None] = {}
        self.last = 0

    def start(self) -> None:
        self.last = events.newest(self._store)
        self._offset, self._partial = _size(self._journal), b""
        self._stamps = (_stamp(self._store.path), _stamp(self._wal))
        self._questions = _stamp(self._watched)

    def look(self) -> dict[str, Any] | None:
        """A message for the pages; None when nothing happened."""
        fresh = list(self._from_journal())
        stored: list[dict[str, Any]] = []
        stamps = (_stamp(self._store.path), _stamp(self._wal))
        self._announce(fresh)
        if stamps != self._stamps:
            before, self._stamps = self.last, stamps
            self.last, stored = events.since(self._store, self.last, self._announced)
            self._announce(stored)
            if self.last - before >= events.MOST_NEW:  # there is more
                self._stamps = ()
        rows = sorted([*fresh, *stored], key=lambda row: row["t"])  # those that the journal lost are older
        questions = _stamp(self._watched)
        asked, self._questions = questions != self._questions, questions
        if not rows and not asked:
            return None
        return {"rows": rows, "last": self.last, "inbox": asked}

    def _announce(self, rows: list[dict[str, Any]]) -> None:
        """Remember the latest: a dictionary keeps the order, and is asked without copying it."""
        self._announced.update((one["id"], None) for one in rows)
        for name in list(islice(self._announced, max(0, len(self._announced) - _REMEMBERED))):
            del self._announced[name]

    def _from_journal(self) -> Iterator[dict[str, Any]]:
        size = _size(self._journal)
        if size < self._offset:  # emptied: what was in it is in the store
            self._offset, self._partial = 0, b""
        if size <= self._offset:
            return
        try:
            with open(self._journal, "rb") as file:
                file.seek(self._offset)
                data = file.read(_CHUNK)
        except OSError:
            return
        self._offset += len(data)
        *whole, self._partial = (self._partial + data).split(b"\n")
        for number, text in enumerate(whole, 1):
            if number % _PORTION == 0:
                time.sleep(_BREATH)
            try:
                yield events.journal_line(json.loads(text))
            except (ValueError, TypeError, LookupError):  # emptied while we read: the store has it
                continue


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _yield_to_others() -> None:
    """This thread must not take the processor from whoever decides; those that answer a person keep their share."""
    if sys.platform == "linux":  # elsewhere a priority is that of the process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


class Feed:
    """Looks only while somebody listens."""

    def __init__(self, follower: Callable[[], Follower]) -> None:
        self._make = follower
        self._ring: deque[tuple[int, str]] = deque(maxlen=_RING)
        self._sequence = 0
        self._arrived: asyncio.Event | None = None
        self._listeners = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        #: Set while somebody follows; and the number of the last stored event that a page need not ask for.
        self._following = asyncio.Event()
        self._last = 0

    def close(self) -> None:
        self._ended.set()

    async def listen(self) -> AsyncIterator[str]:
        """Server-sent events, for as long as the page is there."""
        loop = asyncio.get_running_loop()
        self._arrived = self._arrived or asyncio.Event()
        with self._lock:
            self._listeners += 1
            if self._thread is None:
                self._following.clear()
                self._thread = threading.Thread(target=self._follow, args=(loop,), name="hookline-feed", daemon=True)
                self._thread.start()
        try:
            await self._following.wait()
            seen = self._sequence
            yield f'retry: 1000\nevent: hello\ndata: {{"last": {self._last}}}\n\n'
            while not self._ended.is_set():
                arrived = self._arrived
                for number, text in self._after(seen):
                    seen = number
                    yield text
                if seen == self._sequence:
                    try:
                        await asyncio.wait_for(arrived.wait(), _ALIVE)
                    except TimeoutError:
                        yield ": alive\n\n"
        finally:
            with self._lock:
                self._listeners -= 1

    def _after(self, seen: int) -> list[tuple[int, str]]:
        found = [one for one in self._ring if one[0] > seen]
        if found and found[0][0] > seen + 1:
            return [(self._sequence, "event: gap\ndata: {}\n\n")]
        return found

    def _follow(self, loop: asyncio.AbstractEventLoop) -> None:
        _yield_to_others()
        follower = self._make()
        follower.start()
        loop.call_soon_threadsafe(self._begin, follower.last)
        pace = _PACE
        while not self._ended.is_set():
            time.sleep(pace)
            with self._lock:
                if not self._listeners:
                    self._thread = None
                    return
            message = follower.look()
            pace = _FLOOD_PACE if message and len(message["rows"]) > _FLOOD else _PACE
            if message is not None:
                text = f"data: {json.dumps(message)}\n\n"
                try:
                    loop.call_soon_threadsafe(self._publish, text, follower.last)
                except RuntimeError:  # the server has ended
                    return

    def _begin(self, last: int) -> None:
        self._last = last
        self._following.set()

    def _publish(self, text: str, last: int) -> None:
        self._sequence += 1
        self._last = last
        self._ring.append((self._sequence, text))
        arrived, self._arrived = self._arrived, asyncio.Event()
        if arrived is not None:
            arrived.set()
