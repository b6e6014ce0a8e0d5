"""The engines of all projects: built on first use, and rebuilt when anything they were built from changes.

A cached engine knows what it was built from, and so whether it still fits and whether a newer one is worse.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from time import monotonic, time_ns
from typing import Any

from hookline.config.discover import hook_directories
from hookline.core.file_watch import FileWatcher, Signature, WatchedFiles, are_unchanged, signature, signatures
from hookline.core.files import listening
from hookline.core.hook import Function, HookSpec, Plugin
from hookline.core.paths import Directories
from hookline.core.settings import TelemetrySettings
from hookline.core.watched_environ import WatchedEnviron
from hookline.daemon.quarantine import Quarantine
from hookline.daemon.worker_pool import Deadlines, ResidentFunctions
from hookline.dialects.base import FOREIGN, PACK
from hookline.engine.build import Runtime, StoreOptions, load_runtime
from hookline.gateway.handler import AgentResponse, hook_sources
from hookline.gateway.request import AgentRequest
from hookline.state.record import Recorder
from hookline.state.record.journal import JournaledStore
from hookline.state.record.redact import Redactor
from hookline.state.record.store import Store
from hookline.state.sessions.sqlite import ResidentSessions

#: Seconds after which files are checked in any case: nobody reports a disk that is mounted over them.
_CHECK_EVERY = 5.0
#: Requests that are remembered with their engines.
_MOST_LAST = 16
#: Engines that are kept; the least recently used goes first.
_MOST = 64


class _Shared:
    """A recorder that outlives the engines that use it."""

    __slots__ = ("_kept", "amend", "mark", "write")

    def __init__(self, kept: JournaledStore) -> None:
        self._kept = kept
        self.write = kept.write
        self.amend = kept.amend
        self.mark = kept.mark

    @property
    def note(self) -> str:
        return self._kept.note

    def close(self) -> None:
        """The cache does that."""


class EngineCache:
    """Returns an engine that fits the files as they are now, or as they were in the same turn: no request that came
    before the check can have meant a later state. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._kept: OrderedDict[Hashable, list[CachedEngine]] = OrderedDict()
        self._sessions: dict[str, tuple[ResidentSessions, WatchedFiles]] = {}
        self._journals: dict[Hashable, JournaledStore] = {}
        self._now = threading.local()
        self._turn = 0
        self._watcher = FileWatcher()
        #: What the watcher said in this turn.
        self._latest: _Moment | None = None
        #: The latest request with each of the latest arguments, and its engine.
        self._last: dict[int, tuple[AgentRequest, CachedEngine]] = {}
        self.deadlines = Deadlines()
        #: What has hung a daemon before.
        self.hung = Quarantine()
        self.reloads = 0

    def start_turn(self) -> None:
        """New requests have come in, for which what was seen so far may be out of date."""
        self._turn += 1
        self._latest = None

    def tidy(self) -> None:
        """Work that can wait until after an answer."""
        for journal in tuple(self._journals.values()):
            journal.carry()
        for sessions, _ in tuple(self._sessions.values()):
            if sessions.due():
                self.start_turn()
                sessions.tidy()

    def get_ready(self, request: AgentRequest) -> CachedEngine | None:
        """An engine that is ready now, to be released; None when one would have to be built."""
        self._now.environ = request.environ
        if (found := self._reuse_latest(request)) is not None:
            return found
        found = self._find(_key(request), request.environ)
        if found is not None and not request.arguments.config:  # those are relative to the caller
            if len(self._last) >= _MOST_LAST:
                self._last.clear()
            self._last[id(request.arguments)] = (request, found)
        return found

    def get(self, request: AgentRequest) -> CachedEngine:
        """The engine, built if need be; to be released."""
        self._now.environ = request.environ
        key = _key(request)
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:  # whoever comes second finds what the first one built
            return self._find(key, request.environ) or self._build(key, request)

    def count(self) -> int:
        with self._lock:
            return sum(map(len, self._kept.values()))

    def telemetry(self) -> dict[str, TelemetrySettings]:
        """State directories whose records go to a collector."""
        with self._lock:
            loaded = [one.runtime for some in self._kept.values() for one in some]
        wanted = ((one.paths.state, one.loaded.settings.telemetry) for one in loaded)
        return {state: settings for state, settings in wanted if settings.endpoint}

    def projects(self) -> list[str]:
        with self._lock:
            return sorted({one.runtime.engine.cwd for some in self._kept.values() for one in some})

    def close(self) -> None:
        with self._lock:
            every = [one for some in self._kept.values() for one in some]
            self._kept.clear()
        for one in every:
            one.runtime.engine.close()
        for journal in self._journals.values():
            journal.close()
        for sessions, watched in self._sessions.values():
            sessions.close()
            watched.close()
        self._watcher.close()

    # ── finding and making ───────────────────────────────────────────────────────────────────────────

    def _reuse_latest(self, request: AgentRequest) -> CachedEngine | None:
        """The engine of one of the latest callers, who nearly always ask again; found without a key."""
        kept = self._last.get(id(request.arguments))
        if kept is None:
            return None
        last, found = kept
        if (
            last.environ is not request.environ or last.arguments is not request.arguments or last.paths is not request.paths
            or last.cwd != request.cwd or last.project != request.project or last.caller_cwd != request.caller_cwd
            or last.began_in != request.began_in or bool(last.incoming.session) != bool(request.incoming.session)
        ):  # fmt: skip
            return None
        with self._lock:
            if found.retired or not found.fits(request.environ) or found.looked != self._moment(found):
                return None
            found.users += 1
            return found

    def _find(self, key: Hashable, environ: Mapping[str, str]) -> CachedEngine | None:
        with self._lock:
            for found in self._kept.get(key, ()):
                if found.fits(environ):
                    break
            else:
                return None
            found.users += 1
            self._kept.move_to_end(key)
            if found.looked == self._moment(found):
                return found
        if self._check_files(found):
            return found
        self.release(found)
        return None

    def _moment(self, cached: CachedEngine) -> _Moment:
        """While it stays the same, so do the engine's files. Where they cannot be watched, every turn is another one."""
        if cached.shape is None:
            return -1, self._turn
        if self._latest is None:
            self._latest = (self._watcher.look(), int(monotonic() / _CHECK_EVERY))
        return self._latest

    def _check_files(self, cached: CachedEngine) -> bool:
        with self._lock:
            moment = self._moment(cached)
            if cached.shape != self._watcher.shape:
                shape = self._watcher.shape
                covered = self._watcher.cover((*cached.files, cached.runtime.switches.path))
                cached.shape = shape if covered else None
                moment = moment if covered else (-1, self._turn)
        if not are_unchanged(cached.files):
            return False
        cached.looked = moment
        return True

    def _build(self, key: Hashable, request: AgentRequest) -> CachedEngine:
        with self._lock:
            before = next((each for each in self._kept.get(key, ()) if each.fits(request.environ)), None)
        made = self._build_engine(request)
        self.reloads += before is not None
        if before is not None and (why := _why_worse(before, made)):
            # All or nothing: the old engine stays, and watches the new files.
            made.runtime.engine.close()
            before.files, before.notes = made.files, why
            made = before
        with self._lock:
            made.users += 1
            some = self._kept.setdefault(key, [])
            if made is not before:
                retired = [before] if before is not None and before in some else []
                some[:] = [made, *(each for each in some if each is not before)]
                retired += some[8:]
                del some[8:]
            else:
                retired = []
            while len(self._kept) > _MOST:
                retired += self._kept.popitem(last=False)[1]
        for each in retired:
            self._retire(each)
        return made

    def _build_engine(self, request: AgentRequest) -> CachedEngine:
        environ = WatchedEnviron(dict(request.environ))
        began = time_ns()
        with listening() as opened:
            runtime = load_runtime(hook_sources(request, environ), StoreOptions(live=False))
        engine = runtime.engine
        if runtime.trust is not None:
            runtime.trust.stay()
        if isinstance(engine.recorder, Store):
            engine.recorder = self._journal(engine.recorder, runtime)
        if request.incoming.session:
            engine.sessions = self._sessions_at(runtime.paths.state)
        in_worker = {spec.id for spec in engine.specs if _is_foreign_code(spec) or self.hung.holds(spec)}
        engine.crew[Function] = ResidentFunctions(self.deadlines, in_worker=in_worker)
        ours = tuple(os.path.join(runtime.paths.state, name) for name in ("hookline.db", "sessions.db"))
        files = {path for path in opened if not path.startswith(ours)} | set(_extra_files(runtime, request))
        return CachedEngine(runtime, environ, signatures(files, began))

    def _journal(self, store: Store, runtime: Runtime) -> Recorder:
        """One for all engines that record in the same place, in the same way."""
        settings = runtime.loaded.settings.record
        key = (store.path, settings)
        with self._lock:
            known = self._journals.get(key)
            if known is None:
                known = self._journals[key] = JournaledStore(
                    store.path, helped=True, patterns=settings.redact, keep_days=settings.keep_days,
                    keep_mb=settings.keep_mb,
                )  # fmt: skip
        store.close()
        return _Shared(known)

    def _sessions_at(self, state: str) -> ResidentSessions:
        with self._lock:
            known = self._sessions.get(state)
            if known is None:
                path = os.path.join(state, "sessions.db")
                watched = WatchedFiles((path, f"{path}-wal"), lambda: self._turn)
                sessions = ResidentSessions(path, clean=self._clean(), moment=watched.moment)
                known = self._sessions[state] = (sessions, watched)
            return known[0]

    def _clean(self) -> Callable[[str], str]:
        """Secrets are those of the caller that this thread serves."""

        def clean(text: str) -> str:
            environ: Mapping[str, str] = getattr(self._now, "environ", {})
            return Redactor(environ, ()).text(text) if text else text

        return clean

    def hold(self, cached: CachedEngine) -> None:
        """Keep it open for longer; to be released."""
        with self._lock:
            cached.users += 1

    def release(self, cached: CachedEngine) -> None:
        with self._lock:
            cached.users -= 1
            done = cached.retired and cached.users == 0
        if done:
            cached.runtime.engine.close()

    def _retire(self, cached: CachedEngine) -> None:
        with self._lock:
            cached.retired = True
            done = cached.users == 0
        if done:
            cached.runtime.engine.close()


def _key(request: AgentRequest) -> Hashable:
    """What an engine depends on besides files and variables."""
    arguments, paths = request.arguments, request.paths
    named = (request.caller_cwd, *arguments.config) if arguments.config else ()
    others = tuple((one.home, one.paths.config, one.paths.state, one.paths.data) for one in request.others)
    where = (paths.config, paths.state, paths.data, others)
    return (
        request.cwd,
        request.project,
        request.working_in,
        request.home,
        arguments.agent,
        arguments.dialect,
        named,
        bool(request.incoming.session),
        arguments.directories is not None,
        where,
    )


#: When files were checked: the watcher's number and the period, or -1 and the turn.
_Moment = tuple[int, int]
_KEPT = "; the last good configuration stays in force until this is fixed"


class CachedEngine:
    """One engine with what it was built from. ``users`` is guarded by the cache's lock."""

    __slots__ = (
        "_in_process",
        "_like",
        "environ",
        "files",
        "looked",
        "notes",
        "retired",
        "runtime",
        "shape",
        "trust",
        "users",
    )  # fmt: skip

    def __init__(self, runtime: Runtime, environ: WatchedEnviron, files: dict[str, Signature]) -> None:
        self.runtime = runtime
        self.environ = environ
        self.files = files
        self.trust = signature(os.path.join(runtime.paths.state, "trust.json"))
        #: Lines for stderr: why a newer configuration is not in force.
        self.notes: tuple[str, ...] = ()
        self.users = 0
        self.retired = False
        #: When the files were last checked, and the watcher's shape when they were covered; None where they cannot be.
        self.looked: _Moment | None = None
        self.shape: int | None = -1
        runtime.switches.moment = lambda: self.looked
        #: The environment that was last found to fit, and how much of ours had been read by then.
        self._like: tuple[Mapping[str, str], int, bool] | None = None
        self._in_process = frozenset(
            spec.id for spec in runtime.engine.specs if isinstance(spec.action, Function | Plugin)
        )

    def is_in_process(self, response: AgentResponse) -> bool:
        """Whether only functions and plugins ran: no process was started, no network was used."""
        outcomes = response.decision.outcomes if response.decision is not None else ()
        return self._in_process.issuperset([outcome.id for outcome in outcomes])

    def fits(self, environ: Mapping[str, str]) -> bool:
        ours = self.environ
        like = (environ, len(ours.seen), ours.whole)
        known = self._like
        if known is not None and known[0] is environ and known[1:] == like[1:]:
            return True  # the same object: a caller's environment is never changed
        if not ours.same_in(environ):
            return False
        self._like = like
        return True


def _is_foreign_code(spec: HookSpec) -> bool:
    """A project's or a pack's own code; a function that is given settings is ours."""
    return (spec.origin.layer in FOREIGN or spec.origin.layer == PACK) and not (
        isinstance(spec.action, Function) and spec.action.given
    )


def _extra_files(runtime: Runtime, request: AgentRequest) -> Iterator[str]:
    """Files that matter although nobody opened them: missing ones, and modules that are loaded later."""
    yield from (source.path for source in runtime.loaded.sources)
    yield os.path.join(runtime.paths.state, "trust.json")
    yield from (os.path.join(runtime.paths.state, name) for name in ("packs.json", "packs"))
    for one in (Directories(home=request.home, paths=request.paths), *request.others):
        yield from hook_directories(one.home, one.variables(), one.paths)
    for spec in runtime.engine.specs:
        if isinstance(spec.action, Function) and spec.action.base:
            yield from _modules(spec.action)


def _modules(action: Function) -> Iterator[str]:
    """The module's own file, and its neighbours, which it may import."""
    stem = os.path.join(action.base, *action.target.partition(":")[0].split("."))
    yield from (f"{stem}.py", os.path.join(stem, "__init__.py"))
    for folder in {action.base, os.path.dirname(stem)}:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        yield from (os.path.join(folder, name) for name in names[:200] if name.endswith(".py"))


def _why_worse(before: CachedEngine, made: CachedEngine) -> tuple[str, ...]:
    """New errors that cost hooks, unless approvals have changed; empty when the new engine is good."""
    if made.trust != before.trust:
        return ()
    old, new = _errors(before.runtime), _errors(made.runtime)
    fresh = tuple(each for each in new if each not in old)
    lost = len(made.runtime.loaded.specs) < len(before.runtime.loaded.specs)
    return tuple(f"{each}{_KEPT}" for each in fresh) if lost else ()


def _errors(runtime: Runtime) -> list[Any]:
    return [str(each) for each in runtime.loaded.problems if each.severity == "error"]
