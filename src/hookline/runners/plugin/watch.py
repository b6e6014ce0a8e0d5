"""Watch over plugins: when one that is silent, talks nonsense or floods us must end, and a thread for the rest.

The thread reads unsolicited messages, notices when a plugin dies, and reports both. It never delays an answer: when it
wakes up for one that a caller is already reading, it steps back and sleeps a little, so a busy plugin costs about twenty
wake-ups a second and an idle one none.
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
#: Invalid lines in a row, or unanswered requests in a row, that are tolerated.
PATIENCE = 3
#: Messages in one second that are tolerated.
FLOOD = 500
#: Seconds of silence before it counts as hung: short deadlines alone must not end a plugin that is only busy.
HUNG = 2.0


class Patience:
    """Tolerance with one plugin. The methods return why the plugin must end; "" while it may stay."""

    __slots__ = ("_bad", "_floods", "_messages", "_second", "_silent", "_since")

    def __init__(self) -> None:
        self._bad = 0
        self._floods = 0
        self._messages = 0
        self._second = 0
        self._silent = 0
        self._since = 0.0

    def renew(self) -> None:
        """It sent a valid answer."""
        self._bad = self._silent = 0

    def after_message(self, now: float) -> str:
        """A message answers nothing, so it does not renew the patience. A burst is tolerated, a flood is not."""
        self._bad = 0
        if int(now) != self._second:
            follows = int(now) == self._second + 1
            self._floods = self._floods + 1 if follows and self._messages > FLOOD else 0
            self._second, self._messages = int(now), 0
        self._messages += 1
        return f"it sent more than {FLOOD} messages in each of {PATIENCE} seconds" if self._floods >= PATIENCE else ""

    def after_nonsense(self, what: object) -> str:
        self._bad += 1
        return f"it violated the protocol: {what}, the last of {PATIENCE} in a row" if self._bad >= PATIENCE else ""

    def after_silence(self, now: float) -> str:
        """A plugin that ignores several requests in a row counts as hung."""
        if not self._silent:
            self._since = now
        self._silent += 1
        hangs = self._silent >= PATIENCE and now - self._since >= HUNG
        return f"it did not answer {self._silent} times in a row" if hangs else ""


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
