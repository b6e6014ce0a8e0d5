"""A thread that reads unsolicited messages of plugins, notices when they die, and reports both.

It never delays an answer: when it wakes up for one that a caller is already reading, it steps back and
sleeps a little, so a busy plugin costs about twenty wake-ups a second and an idle one none.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.runners.plugin.link import PluginLink

    Notify = Callable[[str, Mapping[str, Any]], None]

_STEP_BACK = 0.05
#: A plugin that floods us with messages loses those beyond this number.
_WAITING = 1000


class PluginWatcher:
    """``notify`` is called in this thread, one event at a time, in order."""

    __slots__ = ("_closing", "_events", "_links", "_lock", "_notify", "_thread", "_wake")

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._events: deque[tuple[str, Mapping[str, Any]]] = deque(maxlen=_WAITING)
        self._links: set[PluginLink] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._wake: tuple[int, int] | None = None
        self._thread: threading.Thread | None = None

    def add(self, link: PluginLink) -> None:
        with self._lock:
            self._links.add(link)
            if self._thread is None and not self._closing.is_set():
                self._wake = os.pipe()
                os.set_blocking(self._wake[1], False)
                self._thread = threading.Thread(target=self._run, name="plugin watch", daemon=True)
                self._thread.start()
            self._nudge()

    def discard(self, link: PluginLink) -> None:
        with self._lock:
            self._links.discard(link)
            self._nudge()

    def happened(self, event: str, data: Mapping[str, Any]) -> None:
        self._events.append((event, data))
        with self._lock:
            self._nudge()

    def flush(self) -> None:
        """Report everything that has happened, in the calling thread."""
        while True:
            try:
                event, data = self._events.popleft()
            except IndexError:
                return
            self._notify(event, data)

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            self._nudge()
            thread, wake = self._thread, self._wake
            self._thread = self._wake = None
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        if wake is not None:
            os.close(wake[0])
            os.close(wake[1])

    def _nudge(self) -> None:
        if self._wake is not None:
            with suppress(BlockingIOError):
                os.write(self._wake[1], b"x")

    def _run(self) -> None:
        assert self._wake is not None, "made before the thread"
        wake = self._wake[0]
        while not self._closing.is_set():
            with self._lock:
                links = {link.sock.fileno(): link for link in self._links if not link.down}
            busy = self._listen(wake, links)
            self.flush()
            if busy:
                self._closing.wait(_STEP_BACK)

    def _listen(self, wake: int, links: dict[int, PluginLink]) -> bool:
        """Wait for any event; True if a caller is already reading it."""
        poll = select.poll()
        by_pidfd = {link.child.pidfd: link for link in links.values() if link.child.pidfd >= 0}
        for fd in (wake, *links, *by_pidfd):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        busy = False
        for fd, _ in poll.poll():
            if fd == wake:
                os.read(wake, 4096)
                continue
            link = links.get(fd) or by_pidfd.get(fd)
            busy = (link is not None and not link.read_if_idle()) or busy
        return busy
