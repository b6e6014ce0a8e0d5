"""From a request to the bytes of its answer. Never raises: an error is a refusal, and the client runs without us."""

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
from hookline.core.own_directories import agents_directories
from hookline.core.paths import Directories
from hookline.core.result import encode
from hookline.daemon.engine_cache import CachedEngine, EngineCache
from hookline.daemon.protocol import Caller, DaemonRequest, is_newer, pack_refusal, pack_result
from hookline.gateway.dedupe_file import DaemonDeduper
from hookline.gateway.handler import AgentResponse, handle
from hookline.gateway.request import (
    AgentRequest,
    HookArguments,
    dedupe_key,
    parse_arguments,
    parse_request,
)

#: Seconds within which an answer counts as quick, so that requests of its kind are expected to be.
_QUICK = 0.002

#: Seconds that the root of a project is remembered for.
_PATHS_KEPT = 30.0

#: Requests of one kind: directory, home, agent, event and tool.
_Kind = tuple[str, str, str, str, str]
#: An answer, and work for after it is sent.
_Answer: TypeAlias = "tuple[bytes, Callable[[], None] | None]"


class DaemonService:
    """Answers requests. ``stop`` is called when somebody asks the daemon to end; ``make_way`` before anything that may
    take long, by the thread that is about to do it."""

    def __init__(self, stop: Callable[[], None], make_way: Callable[[], None]) -> None:
        self.engines = EngineCache()
        self._stop = stop
        self._make_way = make_way
        self._began = time.time()
        self.requests = 0
        self._find_directories = _DirectoryCache()
        self._deduper = DaemonDeduper()
        self._arguments: dict[tuple[str, ...], HookArguments | None] = {}
        self._quick: set[_Kind] = set()
        #: The latest bugs of ours, for ``daemon status``.
        self.crashes: deque[str] = deque(maxlen=8)
        self.start_turn = self.engines.start_turn
        self.tidy = self.engines.tidy

    def answer(self, request: DaemonRequest, caller_pid: Callable[[], int] | None = None) -> _Answer:
        self.requests += 1
        caller = request.caller
        if caller.version != hookline.__version__:
            return self._other_version(caller), None
        try:
            if caller.kind == "hook":
                return self._hook(caller, request.stdin, caller_pid)
            if caller.kind == "direct":  # the agent itself calls, without a client
                return self._hook(caller, request.stdin, None if caller_pid is None else lambda: -caller_pid())
            if caller.kind == "status":
                return pack_result(0, json.dumps(self.status()).encode(), b""), None
            if caller.kind == "stop":
                return pack_result(0, b"", b""), self._stop
        except Exception as error:
            return self._report_crash(error), None
        return pack_refusal(f"unknown request {caller.kind!r}"), None

    def status(self) -> dict[str, Any]:
        return {
            "running": True, "pid": os.getpid(), "version": hookline.__version__, "since": self._began,
            "requests": self.requests, "engines": self.engines.count(), "projects": self.engines.projects(),
            "reloads": self.engines.reloads, "crashes": list(self.crashes), "resident_kb": _resident_kb(),
        }  # fmt: skip

    def _other_version(self, caller: Caller) -> bytes:
        """A newer client makes us finish our work and end; an older one has to run without us."""
        if is_newer(caller.version, hookline.__version__):
            self._stop()
        return pack_refusal(f"this daemon is of version {hookline.__version__}")

    def _hook(self, caller: Caller, stdin: bytes, caller_pid: Callable[[], int] | None) -> _Answer:
        arguments = self._parse_arguments(caller.argv)
        if arguments is None:
            return pack_refusal("the command line needs its parser"), None
        try:
            request = parse_request(
                arguments, stdin, caller.environ, caller.cwd, self._find_directories, caller_pid=caller_pid
            )
        except (DataError, UsageError) as error:
            return pack_refusal(str(error)), None  # the cold run reports it, with the right exit code
        kind = (
            request.cwd,
            request.home,
            arguments.agent,
            request.event_name,
            str(request.incoming.data.get("tool_name", "")),
        )
        cached = self.engines.get_ready(request)
        if cached is None or kind not in self._quick or self._would_wait(request):
            self._make_way()
        if cached is None:
            cached = self.engines.get(request)
        try:
            return self._run(request, cached, kind)
        finally:
            self.engines.release(cached)

    def _would_wait(self, request: AgentRequest) -> bool:
        """Whether the same event is being decided now, for another registration."""
        registration = request.arguments.registration
        return bool(
            self._deduper.running and registration and self._deduper.would_wait(dedupe_key(request), registration)
        )

    def _parse_arguments(self, argv: tuple[str, ...]) -> HookArguments | None:
        """Registrations are few, and each sends the same words every time."""
        try:
            return self._arguments[argv]
        except KeyError:
            if len(self._arguments) > 256:
                self._arguments.clear()
            arguments = self._arguments[argv] = parse_arguments(argv)
            return arguments

    def _run(self, request: AgentRequest, cached: CachedEngine, kind: _Kind) -> _Answer:
        began = time.perf_counter()
        deduper = self._deduper.at(request.paths.state) if request.arguments.registration else None
        work: list[Callable[[], None]] = []
        DEFERRED.work = work
        try:
            response = handle(request, cached.runtime, ending=False, deduper=deduper)
        finally:
            DEFERRED.work = None
        stderr = encode(response.stderr)
        if cached.notes:
            stderr = "".join([f"hookline: {note}\n" for note in cached.notes]).encode() + stderr
        packed = pack_result(response.exit_code, encode(response.stdout), stderr)
        try:
            if response.decision is not None:  # otherwise no hook ran, and nothing is known about the next one
                quick = time.perf_counter() - began < _QUICK
                if not quick or kind not in self._quick:
                    self._note(kind, quick=quick and cached.is_in_process(response))
            return packed, self._later(request, cached, work, response)
        except Exception as error:  # decided is decided
            self._report_crash(error)
            return packed, None

    def _note(self, kind: _Kind, *, quick: bool) -> None:
        """The leader itself handles requests of a quick kind. One may hang all the same: then another thread leads."""
        if not quick:
            self._quick.discard(kind)
        else:
            if len(self._quick) > 10_000:
                self._quick.clear()
            self._quick.add(kind)

    def _report_crash(self, error: Exception) -> bytes:
        self.crashes.append(f"{type(error).__name__}: {error}")
        traceback.print_exc()
        return pack_refusal(f"a bug in the daemon: {type(error).__name__}")

    def _later(
        self, request: AgentRequest, cached: CachedEngine, work: Sequence[Callable[[], None]], response: AgentResponse
    ) -> Callable[[], None] | None:
        """Deferred work of hooks, and waiting for those in the background, to record how they ended."""
        if not work and not response.unfinished:
            return None
        self.engines.hold(cached)

        def later() -> None:
            try:
                for each in work:
                    each()
                if response.unfinished:
                    cached.runtime.engine.join(request.incoming.session)
            except Exception as error:
                self._report_crash(error)
            finally:
                self.engines.release(cached)

        return later


class _DirectoryCache:
    """``agents_directories``, cached for a while: finding the root of a project takes a dozen looks at the disk."""

    __slots__ = ("_environs", "_known")

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[float, tuple[Directories, ...]]] = {}
        #: The relevant variables of an environment, by its identity: a caller that comes again has the same object.
        self._environs: dict[int, tuple[Mapping[str, str], Hashable]] = {}

    def __call__(self, cwd: str, environ: Mapping[str, str]) -> tuple[Directories, ...]:
        key = (cwd, self._relevant(environ))
        now = time.monotonic()
        known = self._known.get(key)
        if known is None or known[0] < now:
            if len(self._known) > 256:
                self._known.clear()
            known = self._known[key] = (now + _PATHS_KEPT, agents_directories(cwd, environ))
        return known[1]

    def _relevant(self, environ: Mapping[str, str]) -> Hashable:
        known = self._environs.get(id(environ))
        if known is None or known[0] is not environ:
            if len(self._environs) > 256:
                self._environs.clear()
            mine = (environ.get("HOME"), *[item for item in environ.items() if item[0].startswith("XDG_")])
            known = self._environs[id(environ)] = (environ, mine)
        return known[1]


def _resident_kb() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return 0
