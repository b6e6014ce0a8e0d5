"""Deduplication for processes that come and go: one small private file per event, locked while its hooks run.

The lock is the kernel's, so it ends with the process that holds it. A file lives for half a minute.

The daemon remembers in memory. But another registration may be answered by a process of its own (of another version, or
while the daemon starts). Such a process leaves its name behind; where the daemon finds another name than its caller's,
it uses the file too. Otherwise that costs one look at the disk.
"""

from __future__ import annotations

import os
import time
from _blake2 import blake2b  # hashlib would load the whole of OpenSSL for it
from contextlib import suppress
from typing import Any

from hookline.core.errors import StateError
from hookline.core.event import Event
from hookline.core.fast_json import dumps, loads
from hookline.core.files import open_locked, open_without_waiting
from hookline.core.paths import private_dir
from hookline.core.result import Aborted, Context, Decision, Injected, Message
from hookline.gateway.dedupe import KEPT_SECONDS, DedupeTurn, EarlierDecision, Key, keep_decision
from hookline.gateway.dedupe_memory import MemoryDeduper

#: Seconds between two looks whether the first one is done.
_PACE = 0.005
#: Old files that one process removes at most.
_SWEEP = 32
#: Seconds after which a name is written again, and the most that is read of all names.
_NAMED_FOR = 3600.0
_MOST_NAMES = 4096
#: Seconds for which a call without the daemon counts.
_REMEMBERED = 86_400.0

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class FileDeduper:
    """Where the state directory cannot be used, every caller runs the hooks: better twice than not at all."""

    __slots__ = ("_callers", "_folder")

    def __init__(self, state: str, *, cold: bool = True) -> None:
        self._folder = os.path.join(state, "once")
        #: Where a process without the daemon leaves its name; "" in the daemon.
        self._callers = _cold_callers_file(state) if cold else ""

    def enter(self, key: Key, registration: str, until: float) -> DedupeTurn:
        name = blake2b("\0".join(key).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        try:
            self._sweep(private_dir(self._folder))
            if self._callers:
                _name_caller(self._callers, registration)
            handle = _locked(os.path.join(self._folder, name), until)
        except (OSError, StateError):
            handle = None
        if handle is None:
            return _FileTurn(None, [], registration)
        arrivals = _arrivals(handle)
        for arrival in arrivals:
            if registration not in arrival["asked"] and (earlier := _earlier(arrival)) is not None:
                arrival["asked"].append(registration)
                _write(handle, arrivals)
                os.close(handle)
                return _FileTurn(None, [], registration, earlier)
        return _FileTurn(handle, arrivals, registration)

    def _sweep(self, folder: str) -> None:
        old = time.time() - 2 * KEPT_SECONDS
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_SWEEP), strict=False):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < old:
                        _remove_unless_locked(entry.path)


class _FileTurn:
    """Without a handle there is no file to keep the decision in, or the decision is there already."""

    __slots__ = ("_arrivals", "_handle", "_registration", "earlier")

    def __init__(
        self,
        handle: int | None,
        arrivals: list[dict[str, Any]],
        registration: str,
        earlier: EarlierDecision | None = None,
    ) -> None:
        self._handle = handle
        self._arrivals = arrivals
        self._registration = registration
        self.earlier = earlier

    def keep(self, event: Event, decision: Decision) -> None:
        if self._handle is None:
            return
        slim = keep_decision(event, self._registration, decision)
        arrival = {
            "asked": [self._registration], "at": time.time(), "event": event.id, "first": self._registration,
            "decision": _to_json(slim.decision),
        }  # fmt: skip
        _write(self._handle, [*self._arrivals, arrival])

    def leave(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


class DaemonDeduper(MemoryDeduper):
    """Memory and file in one: ``at`` a state directory it is a ``Deduper``."""

    __slots__ = ("_callers",)

    def __init__(self) -> None:
        super().__init__()
        #: State directory -> when its file was changed, and the names in it.
        self._callers: dict[str, tuple[int, frozenset[str]]] = {}

    def at(self, state: str) -> _AtState:
        return _AtState(self, state)

    def has_others(self, state: str, registration: str) -> bool:
        """Whether another registration than this one was answered without the daemon."""
        path = _cold_callers_file(state)
        try:
            found = os.stat(path)
        except OSError:
            return False
        if found.st_mtime < time.time() - _REMEMBERED:
            return False
        known = self._callers.get(state)
        if known is None or known[0] != found.st_mtime_ns:
            known = self._callers[state] = (found.st_mtime_ns, frozenset(_read_callers(path)))
        return bool(known[1] - {registration})


class _AtState:
    __slots__ = ("_deduper", "_state")

    def __init__(self, deduper: DaemonDeduper, state: str) -> None:
        self._deduper, self._state = deduper, state

    def enter(self, key: Key, registration: str, until: float) -> DedupeTurn:
        """Never both: two memories of one event would count its calls differently. What came first through a registration
        that was the only one without the daemon is in ours."""
        others = self._deduper.has_others(self._state, registration)
        if others and not self._deduper.knows(key, registration):
            return FileDeduper(self._state, cold=False).enter(key, registration, until)
        return self._deduper.enter(key, registration, until)


# ── callers without the daemon ───────────────────────────────────────────────────────────────────────


def _cold_callers_file(state: str) -> str:
    return os.path.join(state, "cold-registrations")


def _read_callers(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_without_waiting) as file:
            return file.read(_MOST_NAMES).splitlines()
    except OSError:
        return []


def _name_caller(path: str, registration: str) -> None:
    """Written once an hour. Other names stay as long as anybody calls without the daemon."""
    names = _read_callers(path)
    with suppress(OSError):
        if registration in names and os.stat(path).st_mtime > time.time() - _NAMED_FOR:
            return
    kept = [*[name for name in names if name != registration][-20:], registration]
    handle = os.open(path, _FLAGS | os.O_TRUNC, 0o600)
    try:
        os.write(handle, "".join(f"{name}\n" for name in kept).encode("utf-8", "surrogateescape"))
    finally:
        os.close(handle)


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────


def _locked(path: str, until: float) -> int | None:
    """None when its holder takes longer than we may wait."""
    while True:
        handle = open_locked(path)
        if handle is None:
            if until and time.monotonic() > until:
                return None
            time.sleep(_PACE)
        elif os.fstat(handle).st_nlink:
            return handle
        else:
            os.close(handle)


def _remove_unless_locked(path: str) -> None:
    handle = open_locked(path, os.O_RDWR)
    if handle is not None:
        try:
            os.unlink(path)
        finally:
            os.close(handle)


def _arrivals(handle: int) -> list[dict[str, Any]]:
    """The fresh ones; a file that was half written when its process was killed holds none."""
    old = time.time() - KEPT_SECONDS
    try:
        found = loads(os.pread(handle, os.fstat(handle).st_size, 0).decode())
        return [one for one in found if one["at"] > old and isinstance(one["asked"], list)]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _write(handle: int, arrivals: list[dict[str, Any]]) -> None:
    with suppress(OSError, ValueError, TypeError, RecursionError):
        text = dumps(arrivals, default=dict).encode()
        os.ftruncate(handle, 0)
        os.pwrite(handle, text, 0)


# ── a decision as JSON ───────────────────────────────────────────────────────────────────────────────


def _to_json(decision: Decision) -> dict[str, Any]:
    plain = ("event", "effect", "granted", "reason", "modified", "droppable")
    return {
        **{name: getattr(decision, name) for name in plain},
        "aborted": [decision.aborted.hook, decision.aborted.message] if decision.aborted else None,
        "data": dict(decision.data),
        "context": [_context(one) for one in decision.context],
        "messages": [[one.hook, one.text] for one in decision.messages],
        "attributes": dict(decision.attributes),
    }


def _context(one: Injected) -> list[Any]:
    context = one.context
    return [one.hook, context.text, context.placement, context.label, dict(context.attributes)]


def _earlier(arrival: dict[str, Any]) -> EarlierDecision | None:
    try:
        fields = dict(arrival["decision"])
        aborted, context, messages = fields.pop("aborted"), fields.pop("context"), fields.pop("messages")
        decision = Decision(
            **fields,
            aborted=Aborted(hook=aborted[0], message=aborted[1]) if aborted else None,
            context=tuple(
                Injected(hook=hook, context=Context(text=text, placement=placement, label=label, attributes=more))
                for hook, text, placement, label, more in context
            ),
            messages=tuple(Message(hook=hook, text=text) for hook, text in messages),
        )
        return EarlierDecision(event_id=arrival["event"], registration=arrival["first"], decision=decision)
    except (KeyError, TypeError, ValueError):
        return None
