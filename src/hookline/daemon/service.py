"""From a request to the bytes of its answer. Never raises: what goes wrong is a refusal, and the client does without us."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any

import hookline
from hookline.daemon.protocol import Request, newer, refusal, result
from hookline.daemon.shelf import Shelf
from hookline.daemon.watching import Surroundings
from hookline.door import answered, asked_plainly, heard
from hookline.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.daemon.shelf import Shelved
    from hookline.door import Heard


#: Seconds that an answer may take to count as given in no time, and from which on it is never tried again.
QUICK, SLOW = 0.005, 0.1

#: What requests have in common that take the same way: whose, where, which event, which tool.
Like = tuple[str, str, str, str, str]


class Service:
    """What one daemon can do; ``stop`` is called when somebody asks it to end."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self.shelf = Shelf()
        self._stop = stop
        self._began = time.time()
        self.requests = 0
        self._around = Surroundings()
        self._quick: set[Like] = set()
        self._slow: set[Like] = set()
        #: The latest bugs of ours, for ``daemon status``.
        self.crashes: deque[str] = deque(maxlen=8)

    def answer(self, request: Request) -> tuple[bytes, Callable[[], None] | None]:
        """The answer, and what is left to do once it is sent."""
        self.requests += 1
        if request.version != hookline.__version__:
            return self._other_version(request), None
        try:
            if request.kind == "hook":
                return self._hook(request)
            if request.kind == "status":
                return result(0, json.dumps(self.status()).encode(), b""), None
            if request.kind == "stop":
                return result(0, b"", b""), self._stop
        except Exception as error:
            return self._crashed(error), None
        return refusal(f"unknown request {request.kind!r}"), None

    def at_once(self, request: Request) -> tuple[bytes, Callable[[], None] | None] | None:
        """The answer to a request whose like has always been answered in no time, and only by functions of the user's
        own: it may be given in the loop's thread. None for all others."""
        if request.kind != "hook" or request.version != hookline.__version__:
            return None
        try:
            asked = asked_plainly(request.argv)
            one = None if asked is None else heard(asked, request.stdin, request.environ, request.cwd, self._around)
        except Exception:
            return None  # said in the ordinary way
        if one is None or _like(one) not in self._quick:
            return None
        shelved = self.shelf.at_hand(one)
        if shelved is None:
            return None
        self.requests += 1
        try:
            return self._told(one, shelved)
        except Exception as error:
            return self._crashed(error), None
        finally:
            self.shelf.give_back(shelved)

    def status(self) -> dict[str, Any]:
        return {
            "running": True, "pid": os.getpid(), "version": hookline.__version__, "since": self._began,
            "requests": self.requests, "engines": self.shelf.count(), "projects": self.shelf.projects(),
            "reloads": self.shelf.reloads, "crashes": list(self.crashes), "resident_kb": _resident(),
        }  # fmt: skip

    def _other_version(self, request: Request) -> bytes:
        """A newer client makes us finish what we have and go; an older one must do without us."""
        if newer(request.version, hookline.__version__):
            self._stop()
        return refusal(f"this daemon is of version {hookline.__version__}")

    def _hook(self, request: Request) -> tuple[bytes, Callable[[], None] | None]:
        asked = asked_plainly(request.argv)
        if asked is None:
            return refusal("the command line needs its parser"), None
        try:
            one = heard(asked, request.stdin, request.environ, request.cwd, self._around)
        except (DataError, UsageError) as error:
            return refusal(str(error)), None  # the cold run says it, with the right exit code
        with self.shelf.use(one) as shelved:
            return self._told(one, shelved)

    def _told(self, one: Heard, shelved: Shelved) -> tuple[bytes, Callable[[], None] | None]:
        began = time.perf_counter()
        told = answered(one, shelved.assembly, ending=False)
        self._note(_like(one), shelved.swift(told), time.perf_counter() - began)
        notes = "".join(f"hookline: {note}\n" for note in shelved.notes)
        stdout = told.stdout.encode("utf-8", "surrogateescape")
        stderr = (notes + told.stderr).encode("utf-8", "surrogateescape")
        later = self._joining(one, shelved) if told.unfinished else None
        return result(told.exit_code, stdout, stderr), later

    def _note(self, like: Like, swift: bool, seconds: float) -> None:
        """What is quick today may hang tomorrow: then it costs the others one wait, and never again."""
        if swift and seconds < QUICK:
            if like not in self._slow and len(self._quick) < 10_000:
                self._quick.add(like)
        elif like in self._quick:
            self._quick.discard(like)
            if seconds > SLOW:
                self._slow.add(like)

    def _crashed(self, error: Exception) -> bytes:
        self.crashes.append(f"{type(error).__name__}: {error}")
        traceback.print_exc()
        return refusal(f"a bug in the daemon: {type(error).__name__}")

    def _joining(self, one: Heard, shelved: Shelved) -> Callable[[], None]:
        """Hooks in the background go on after the answer; somebody must wait for them, to write down how they ended."""
        self.shelf.hold(shelved)

        def join() -> None:
            try:
                shelved.assembly.engine.join(one.incoming.session)
            finally:
                self.shelf.give_back(shelved)

        return join


def _like(one: Heard) -> Like:
    return one.cwd, one.home, one.asked.agent, one.name, str(one.incoming.data.get("tool_name", ""))


def _resident() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return 0
