"""The same for processes that come and go: one small private file per event, locked while its hooks run.

The lock is the kernel's, so it goes with the process that holds it, however that ends. A file lives for half a minute.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from _blake2 import blake2b  # hashlib would load the whole of OpenSSL for it
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.core.errors import StateError
from hookline.core.paths import private_dir
from hookline.core.result import Aborted, Context, Decision, Injected, Message
from hookline.gateway.dedupe import KEPT, Earlier, narrowed

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.gateway.dedupe import Key, Turn

#: Seconds between two looks whether the first one is done.
_PACE = 0.005
#: Old files that one process takes away at most.
_SWEEP = 32
#: Seconds after which a name is written again, and the most that is read of all names.
_NAMED_FOR = 3600.0
_MOST_NAMES = 4096

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Filed:
    """Where the state directory cannot be used, every caller runs: better twice than not at all."""

    __slots__ = ("_askers", "_folder")

    def __init__(self, state: str, *, cold: bool = True) -> None:
        self._folder = os.path.join(state, "once")
        #: Where a process that asked nobody leaves its name; "": whoever asks stays.
        self._askers = cold_askers_file(state) if cold else ""

    def enter(self, key: Key, registration: str, until: float) -> Turn:
        name = blake2b("\0".join(key).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        try:
            self._sweep(private_dir(self._folder))
            if self._askers:
                _name_asker(self._askers, registration)
            handle = _locked(os.path.join(self._folder, name), until)
        except (OSError, StateError):
            handle = None
        if handle is None:
            return _FileTurn(None, [], registration)
        moments = _moments(handle)
        for moment in moments:
            if registration not in moment["asked"] and (earlier := _earlier(moment)) is not None:
                moment["asked"].append(registration)
                _write(handle, moments)
                os.close(handle)
                return _FileTurn(None, [], registration, earlier)
        return _FileTurn(handle, moments, registration)

    def _sweep(self, folder: str) -> None:
        old = time.time() - 2 * KEPT
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_SWEEP), strict=False):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < old:
                        _remove_unless_locked(entry.path)


class _FileTurn:
    """Without a handle there is nothing to keep the decision in, or it is there already."""

    __slots__ = ("_handle", "_moments", "_registration", "earlier")

    def __init__(
        self, handle: int | None, moments: list[dict[str, Any]], registration: str, earlier: Earlier | None = None
    ) -> None:
        self._handle = handle
        self._moments = moments
        self._registration = registration
        self.earlier = earlier

    def keep(self, event: Event, decision: Decision) -> None:
        if self._handle is None:
            return
        slim = narrowed(event, self._registration, decision)
        moment = {
            "asked": [self._registration], "at": time.time(), "event": event.id, "first": self._registration,
            "decision": _written(slim.decision),
        }  # fmt: skip
        _write(self._handle, [*self._moments, moment])

    def leave(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


# ── who came without the daemon ──────────────────────────────────────────────────────────────────────


def cold_askers_file(state: str) -> str:
    return os.path.join(state, "cold-registrations")


def read_askers(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_NAMES).splitlines()
    except OSError:
        return []


def _name_asker(path: str, registration: str) -> None:
    """Said once in an hour. Other names stay as long as anybody comes in this way."""
    names = read_askers(path)
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
    """None when whoever has it takes longer than we may wait."""
    while True:
        handle = os.open(path, _FLAGS, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_nlink:
                return handle
        except BlockingIOError:
            if until and time.monotonic() > until:
                os.close(handle)
                return None
            time.sleep(_PACE)
        os.close(handle)


def _remove_unless_locked(path: str) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(handle)


def _moments(handle: int) -> list[dict[str, Any]]:
    """Those that are fresh; a file that was half written when its process was killed holds none."""
    old = time.time() - KEPT
    try:
        found = json.loads(os.pread(handle, os.fstat(handle).st_size, 0))
        return [one for one in found if one["at"] > old and isinstance(one["asked"], list)]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _write(handle: int, moments: list[dict[str, Any]]) -> None:
    with suppress(OSError, ValueError, TypeError, RecursionError):
        text = json.dumps(moments, default=dict).encode()
        os.ftruncate(handle, 0)
        os.pwrite(handle, text, 0)


# ── a decision as JSON ───────────────────────────────────────────────────────────────────────────────


def _written(decision: Decision) -> dict[str, Any]:
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


def _earlier(moment: dict[str, Any]) -> Earlier | None:
    try:
        told = dict(moment["decision"])
        aborted, context, messages = told.pop("aborted"), told.pop("context"), told.pop("messages")
        decision = Decision(
            **told,
            aborted=Aborted(hook=aborted[0], message=aborted[1]) if aborted else None,
            context=tuple(
                Injected(hook=hook, context=Context(text=text, placement=placement, label=label, attributes=more))
                for hook, text, placement, label, more in context
            ),
            messages=tuple(Message(hook=hook, text=text) for hook, text in messages),
        )
        return Earlier(event_id=moment["event"], registration=moment["first"], decision=decision)
    except (KeyError, TypeError, ValueError):
        return None
