"""The engines of all projects, kept ready: made when first needed, made anew when anything they were made of changes.

One engine, with all that it was made of: by that it is known whether it still fits, and whether a newer one is worse.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from time import monotonic, time_ns
from typing import Any

from hookline.config.discover import hook_directories
from hookline.core.file_tracking import listening
from hookline.core.hook import Function, Plugin
from hookline.daemon.file_watch import FileWatcher, Signature, WatchedFiles, are_unchanged, signature, signatures
from hookline.daemon.python_hooks import Deadlines, ResidentFunctions
from hookline.daemon.quarantine import Quarantine
from hookline.dialects.base import FOREIGN
from hookline.engine.build import Runtime, StoreOptions, load_runtime
from hookline.gateway.handler import AgentResponse, hook_sources
from hookline.gateway.request import AgentRequest
from hookline.state.record import Recorder
from hookline.state.record.journal import JournaledStore
from hookline.state.record.redact import Redactor
from hookline.state.record.store import Store
from hookline.state.sessions.cached import ResidentSessions

#: Seconds after which files are looked at whatever the news: nobody reports a disk that is mounted over them.
_ANYWAY = 5.0
#: Engines that are kept; the one that was not used for longest goes first.
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
        """The shelf does that."""


class EngineCache:
    """Gives an engine that fits the files as they are when it is asked for, or as they were in the same turn: nobody
    who was heard before the look can have meant a later state of them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}
        self._kept: OrderedDict[Hashable, list[CachedEngine]] = OrderedDict()
        self._sessions: dict[str, tuple[ResidentSessions, WatchedFiles]] = {}
        self._journals: dict[Hashable, JournaledStore] = {}
        self._now = threading.local()
        self._turn = 0
        self._news = FileWatcher()
        #: The news of this turn.
        self._latest: _Moment | None = None
        #: Who asked last, and what it was given.
        self._last: tuple[AgentRequest, CachedEngine] | None = None
        self.deadlines = Deadlines()
        #: What has held a daemon before.
        self.hung = Quarantine()
        self.reloads = 0

    def look_again(self) -> None:
        """Others were heard since, so what was seen until now may be out of date for them."""
        self._turn += 1
        self._latest = None

    def tidy(self) -> None:
        """What need not be done before an answer, and is best done by who has just given one."""
        for journal in tuple(self._journals.values()):
            journal.carry()
        for sessions, _ in tuple(self._sessions.values()):
            if sessions.due():
                self.look_again()
                sessions.tidy()

    def at_hand(self, one: AgentRequest) -> CachedEngine | None:
        """An engine that is ready this moment, to be given back; None when one would have to be made."""
        self._now.environ = one.environ
        if (found := self._same_again(one)) is not None:
            return found
        found = self._fresh(_key(one), one.environ)
        if found is not None and not one.arguments.config:  # those are named from where the caller stands
            self._last = (one, found)
        return found

    def taken(self, one: AgentRequest) -> CachedEngine:
        """The engine, made if need be; to be given back."""
        self._now.environ = one.environ
        key = _key(one)
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:  # whoever comes second finds what the first one made
            return self._fresh(key, one.environ) or self._made(key, one)

    def count(self) -> int:
        with self._lock:
            return sum(map(len, self._kept.values()))

    def projects(self) -> list[str]:
        with self._lock:
            return sorted({one.assembly.engine.cwd for some in self._kept.values() for one in some})

    def close(self) -> None:
        with self._lock:
            every = [one for some in self._kept.values() for one in some]
            self._kept.clear()
        for one in every:
            one.assembly.engine.close()
        for journal in self._journals.values():
            journal.close()
        for sessions, watched in self._sessions.values():
            sessions.close()
            watched.close()
        self._news.close()

    # ── finding and making ───────────────────────────────────────────────────────────────────────────

    def _same_again(self, one: AgentRequest) -> CachedEngine | None:
        """The engine of the latest caller, who asks again, as nearly always; known without a key."""
        if self._last is None:
            return None
        last, found = self._last
        if (
            last.environ is not one.environ or last.arguments is not one.arguments or last.paths is not one.paths
            or last.cwd != one.cwd or bool(last.incoming.session) != bool(one.incoming.session)
        ):  # fmt: skip
            return None
        with self._lock:
            if found.worn or not found.fits(one.environ) or found.looked != self._moment(found):
                return None
            found.users += 1
            return found

    def _fresh(self, key: Hashable, environ: Mapping[str, str]) -> CachedEngine | None:
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
        if self._looked_at(found):
            return found
        self.give_back(found)
        return None

    def _moment(self, one: CachedEngine) -> _Moment:
        """As long as it is the same, the engine's files are. Where no news can be had, every turn is another one."""
        if one.shape is None:
            return -1, self._turn
        if self._latest is None:
            self._latest = (self._news.look(), int(monotonic() / _ANYWAY))
        return self._latest

    def _looked_at(self, one: CachedEngine) -> bool:
        with self._lock:
            moment = self._moment(one)
            if one.shape != self._news.shape:
                shape = self._news.shape
                covered = self._news.cover((*one.files, one.assembly.switches.path))
                one.shape = shape if covered else None
                moment = moment if covered else (-1, self._turn)
        if not are_unchanged(one.files):
            return False
        one.looked = moment
        return True

    def _made(self, key: Hashable, one: AgentRequest) -> CachedEngine:
        with self._lock:
            before = next((each for each in self._kept.get(key, ()) if each.fits(one.environ)), None)
        made = self._assembled(one)
        self.reloads += before is not None
        if before is not None and (why := _worse(before, made)):
            # Swapped in whole or not at all: the old engine stays, with the new files to be watched.
            made.assembly.engine.close()
            before.files, before.notes = made.files, why
            made = before
        with self._lock:
            made.users += 1
            some = self._kept.setdefault(key, [])
            if made is not before:
                worn = [before] if before is not None and before in some else []
                some[:] = [made, *(each for each in some if each is not before)]
                worn += some[8:]
                del some[8:]
            else:
                worn = []
            while len(self._kept) > _MOST:
                worn += self._kept.popitem(last=False)[1]
        for each in worn:
            self._wear(each)
        return made

    def _assembled(self, one: AgentRequest) -> CachedEngine:
        environ = WatchedEnviron(dict(one.environ))
        began = time_ns()
        with listening() as opened:
            assembly = load_runtime(hook_sources(one, environ), StoreOptions(live=False))
        engine = assembly.engine
        if isinstance(engine.recorder, Store):
            engine.recorder = self._journal(engine.recorder, assembly)
        if one.incoming.session:
            engine.sessions = self._sessions_of(assembly.paths.state)
        elsewhere = {spec.id for spec in engine.specs if spec.origin.layer in FOREIGN or self.hung.holds(spec)}
        engine.crew[Function] = ResidentFunctions(self.deadlines, elsewhere=elsewhere)
        ours = tuple(os.path.join(assembly.paths.state, name) for name in ("hookline.db", "sessions.db"))
        files = {path for path in opened if not path.startswith(ours)} | set(_further_files(assembly, one, environ))
        return CachedEngine(assembly, environ, signatures(files, began))

    def _journal(self, store: Store, assembly: Runtime) -> Recorder:
        """One for all engines that keep their records in the same place, in the same way."""
        settings = assembly.loaded.settings.record
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

    def _sessions_of(self, state: str) -> ResidentSessions:
        with self._lock:
            known = self._sessions.get(state)
            if known is None:
                path = os.path.join(state, "sessions.db")
                watched = WatchedFiles((path, f"{path}-wal"), lambda: self._turn)
                sessions = ResidentSessions(path, clean=self._clean(), moment=watched.moment)
                known = self._sessions[state] = (sessions, watched)
            return known[0]

    def _clean(self) -> Callable[[str], str]:
        """Secrets are those of the caller whose request this thread serves."""

        def clean(text: str) -> str:
            environ: Mapping[str, str] = getattr(self._now, "environ", {})
            return Redactor(environ, ()).text(text) if text else text

        return clean

    def hold(self, one: CachedEngine) -> None:
        """Keep it open beyond ``use``; whoever holds gives back."""
        with self._lock:
            one.users += 1

    def give_back(self, one: CachedEngine) -> None:
        with self._lock:
            one.users -= 1
            done = one.worn and one.users == 0
        if done:
            one.assembly.engine.close()

    def _wear(self, one: CachedEngine) -> None:
        with self._lock:
            one.worn = True
            done = one.users == 0
        if done:
            one.assembly.engine.close()


def _key(one: AgentRequest) -> Hashable:
    """What an engine depends on besides files and variables."""
    asked, paths = one.arguments, one.paths
    named = (one.caller_cwd, *asked.config) if asked.config else ()
    where = (paths.config, paths.state, paths.data)
    return one.cwd, one.home, asked.agent, asked.dialect, named, bool(one.incoming.session), where


#: When files were looked at: the number of the news and of the period, or -1 and the turn.
_Moment = tuple[int, int]
_KEPT = "; the last good configuration stays in force until this is mended"


class CachedEngine:
    """One engine with what it was made of. ``users`` is guarded by the shelf's lock."""

    __slots__ = (
        "_like", "_resident", "assembly", "environ", "files", "looked", "notes", "shape", "trust", "users", "worn",
    )  # fmt: skip

    def __init__(self, assembly: Runtime, environ: WatchedEnviron, files: dict[str, Signature]) -> None:
        self.assembly = assembly
        self.environ = environ
        self.files = files
        self.trust = signature(os.path.join(assembly.paths.state, "trust.json"))
        #: What to say besides: why a newer configuration is not in force.
        self.notes: tuple[str, ...] = ()
        self.users = 0
        self.worn = False
        #: The moment at which the files were last looked at, and what their folders were like when they were covered;
        #: None where they cannot be.
        self.looked: _Moment | None = None
        self.shape: int | None = -1
        assembly.switches.moment = lambda: self.looked
        #: The environment that was last found to fit, and how much of ours was known by then.
        self._like: tuple[Mapping[str, str], int, bool] | None = None
        self._resident = frozenset(
            spec.id for spec in assembly.engine.specs if isinstance(spec.action, Function | Plugin)
        )

    def resident(self, told: AgentResponse) -> bool:
        """Whether only functions and plugins had a say: no process was started, nobody far away was asked."""
        outcomes = told.decision.outcomes if told.decision is not None else ()
        return all(outcome.id in self._resident for outcome in outcomes)

    def fits(self, environ: Mapping[str, str]) -> bool:
        ours = self.environ
        like = (environ, len(ours.seen), ours.whole)
        known = self._like
        if known is not None and known[0] is environ and known[1:] == like[1:]:
            return True  # the same object: what a caller brings is never changed
        if not ours.same_in(environ):
            return False
        self._like = like
        return True


class WatchedEnviron(Mapping[str, str]):
    """An environment that notes which of its variables somebody looked at."""

    __slots__ = ("_values", "seen", "whole")

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.seen: dict[str, str | None] = {}
        #: Somebody went through all of it.
        self.whole = False

    def __getitem__(self, name: str) -> str:
        self.seen[name] = self._values.get(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        self.seen[str(name)] = self._values.get(str(name))
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        self.whole = True
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def same_in(self, other: Mapping[str, str]) -> bool:
        """Whether whoever looked would have seen the same in the other one."""
        if self.whole:
            return self._values == other
        return all(other.get(name) == value for name, value in tuple(self.seen.items()))


def _further_files(assembly: Runtime, one: AgentRequest, environ: Mapping[str, str]) -> Iterator[str]:
    """What matters although nobody opened it: files that were not there, and modules that are loaded later."""
    yield from (source.path for source in assembly.loaded.sources)
    yield os.path.join(assembly.paths.state, "trust.json")
    yield from hook_directories(one.home, environ, one.paths)
    for spec in assembly.engine.specs:
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


def _worse(before: CachedEngine, made: CachedEngine) -> tuple[str, ...]:
    """What is wrong now and was not, as long as nobody changed what is trusted; nothing when the new one is good."""
    if made.trust != before.trust:
        return ()
    old, new = _errors(before.assembly), _errors(made.assembly)
    fresh = tuple(each for each in new if each not in old)
    lost = len(made.assembly.loaded.specs) < len(before.assembly.loaded.specs)
    return tuple(f"{each}{_KEPT}" for each in fresh) if lost else ()


def _errors(assembly: Runtime) -> list[Any]:
    return [str(each) for each in assembly.loaded.problems if each.severity == "error"]
