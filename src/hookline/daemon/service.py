"""From a request to the bytes of its answer. Never raises: what goes wrong is a refusal, and the client does without us."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import hookline
from hookline.core.deferred import DEFERRED
from hookline.core.errors import DataError, UsageError
from hookline.core.paths import Paths
from hookline.daemon.engine_cache import CachedEngine, EngineCache
from hookline.daemon.protocol import Caller, DaemonRequest, is_newer, pack_refusal, pack_result
from hookline.gateway.dedupe_file import DaemonDeduper
from hookline.gateway.handler import handle
from hookline.gateway.request import (
    AgentRequest,
    HookArguments,
    dedupe_key,
    find_home_and_paths,
    parse_arguments,
    parse_request,
)

#: Seconds that an answer may take so that its like is expected to be quick too.
_QUICK = 0.002

#: Seconds that the root of a project is remembered for.
_PATHS_KEPT = 30.0

#: What requests have in common that take the same way: where, whose, which event, which tool.
_Like = tuple[str, str, str, str, str]
#: An answer, and what is left to do once it is sent.
_Answered: TypeAlias = "tuple[bytes, Callable[[], None] | None]"


class DaemonService:
    """What one daemon can do. ``stop`` is called when somebody asks it to end; ``make_way`` before anything that may
    take long, by the thread that is about to do it."""

    def __init__(self, stop: Callable[[], None], make_way: Callable[[], None]) -> None:
        self.shelf = EngineCache()
        self._stop = stop
        self._make_way = make_way
        self._began = time.time()
        self.requests = 0
        self._around = _PathCache()
        self._once = DaemonDeduper()
        self._asked: dict[tuple[str, ...], HookArguments | None] = {}
        self._quick: set[_Like] = set()
        #: The latest bugs of ours, for ``daemon status``.
        self.crashes: deque[str] = deque(maxlen=8)
        self.look_again = self.shelf.look_again
        self.tidy = self.shelf.tidy

    def answer(self, request: DaemonRequest, asker: Callable[[], int] | None = None) -> _Answered:
        self.requests += 1
        caller = request.caller
        if caller.version != hookline.__version__:
            return self._other_version(caller), None
        try:
            if caller.kind == "hook":
                return self._hook(caller, request.stdin, asker)
            if caller.kind == "direct":  # the agent itself asks, and nobody for it
                return self._hook(caller, request.stdin, None if asker is None else lambda: -asker())
            if caller.kind == "status":
                return pack_result(0, json.dumps(self.status()).encode(), b""), None
            if caller.kind == "stop":
                return pack_result(0, b"", b""), self._stop
        except Exception as error:
            return self._crashed(error), None
        return pack_refusal(f"unknown request {caller.kind!r}"), None

    def status(self) -> dict[str, Any]:
        return {
            "running": True, "pid": os.getpid(), "version": hookline.__version__, "since": self._began,
            "requests": self.requests, "engines": self.shelf.count(), "projects": self.shelf.projects(),
            "reloads": self.shelf.reloads, "crashes": list(self.crashes), "resident_kb": _resident(),
        }  # fmt: skip

    def _other_version(self, caller: Caller) -> bytes:
        """A newer client makes us finish what we have and go; an older one must do without us."""
        if is_newer(caller.version, hookline.__version__):
            self._stop()
        return pack_refusal(f"this daemon is of version {hookline.__version__}")

    def _hook(self, caller: Caller, stdin: bytes, asker: Callable[[], int] | None) -> _Answered:
        asked = self._plainly(caller.argv)
        if asked is None:
            return pack_refusal("the command line needs its parser"), None
        try:
            one = parse_request(asked, stdin, caller.environ, caller.cwd, self._around, caller_pid=asker)
        except (DataError, UsageError) as error:
            return pack_refusal(str(error)), None  # the cold run says it, with the right exit code
        like = (one.cwd, one.home, asked.agent, one.event_name, str(one.incoming.data.get("tool_name", "")))
        shelved = self.shelf.at_hand(one)
        if shelved is None or like not in self._quick or self._waits(one):
            self._make_way()
        if shelved is None:
            shelved = self.shelf.taken(one)
        try:
            return self._told(one, shelved, like)
        finally:
            self.shelf.give_back(shelved)

    def _waits(self, one: AgentRequest) -> bool:
        """The same event is being decided at this moment, for another registration."""
        registration = one.arguments.registration
        return bool(self._once.running and registration and self._once.would_wait(dedupe_key(one), registration))

    def _plainly(self, argv: tuple[str, ...]) -> HookArguments | None:
        """Registrations are few, and each says the same words every time."""
        try:
            return self._asked[argv]
        except KeyError:
            if len(self._asked) > 256:
                self._asked.clear()
            asked = self._asked[argv] = parse_arguments(argv)
            return asked

    def _told(self, one: AgentRequest, shelved: CachedEngine, like: _Like) -> _Answered:
        began = time.perf_counter()
        once = self._once.at(one.paths.state) if one.arguments.registration else None
        work: list[Callable[[], None]] = []
        DEFERRED.work = work
        try:
            told = handle(one, shelved.assembly, ending=False, deduper=once)
        finally:
            DEFERRED.work = None
        if told.decision is not None:  # otherwise no hook ran, and nothing is known of the next event
            quick = time.perf_counter() - began < _QUICK
            if not quick or like not in self._quick:
                self._note(like, quick=quick and shelved.resident(told))
        stdout = told.stdout.encode("utf-8", "surrogateescape")
        stderr = told.stderr.encode("utf-8", "surrogateescape")
        if shelved.notes:
            stderr = "".join([f"hookline: {note}\n" for note in shelved.notes]).encode() + stderr
        later = self._later(one, shelved, work, joins=told.unfinished) if work or told.unfinished else None
        return pack_result(told.exit_code, stdout, stderr), later

    def _note(self, like: _Like, *, quick: bool) -> None:
        """What was quick is tried by the leader itself. It may hang all the same: then another one leads."""
        if not quick:
            self._quick.discard(like)
        else:
            if len(self._quick) > 10_000:
                self._quick.clear()
            self._quick.add(like)

    def _crashed(self, error: Exception) -> bytes:
        self.crashes.append(f"{type(error).__name__}: {error}")
        traceback.print_exc()
        return pack_refusal(f"a bug in the daemon: {type(error).__name__}")

    def _later(
        self, one: AgentRequest, shelved: CachedEngine, work: Sequence[Callable[[], None]], *, joins: bool
    ) -> Callable[[], None]:
        """What hooks left for afterwards; and those in the background, for which somebody must wait, to write down how
        they ended."""
        self.shelf.hold(shelved)

        def later() -> None:
            try:
                for each in work:
                    each()
                if joins:
                    shelved.assembly.engine.join(one.incoming.session)
            except Exception as error:
                self._crashed(error)
            finally:
                self.shelf.give_back(shelved)

        return later


class _PathCache:
    """``find_home_and_paths``, cached for a while: finding the root of a project takes a dozen looks at the disk."""

    __slots__ = ("_known", "_of")

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[float, str, Paths]] = {}
        #: What matters of an environment, by its identity: that of a caller who comes again is the same object.
        self._of: dict[int, tuple[Mapping[str, str], Hashable]] = {}

    def __call__(self, cwd: str, environ: Mapping[str, str]) -> tuple[str, Paths]:
        key = (cwd, self._matters(environ))
        now = time.monotonic()
        known = self._known.get(key)
        if known is None or known[0] < now:
            if len(self._known) > 256:
                self._known.clear()
            known = self._known[key] = (now + _PATHS_KEPT, *find_home_and_paths(cwd, environ))
        return known[1:]

    def _matters(self, environ: Mapping[str, str]) -> Hashable:
        known = self._of.get(id(environ))
        if known is None or known[0] is not environ:
            if len(self._of) > 256:
                self._of.clear()
            mine = (environ.get("HOME"), *[item for item in environ.items() if item[0].startswith("XDG_")])
            known = self._of[id(environ)] = (environ, mine)
        return known[1]


def _resident() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return 0
