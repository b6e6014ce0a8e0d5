"""Where switches are kept: one private JSON file, replaced as a whole, under a lock.

Only ``hookline hooks`` writes it. It lies in the state directory, which no project file names, and which the doors
that agents call do not take from the environment: a repository cannot switch off a guard.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import TYPE_CHECKING, Any

from hookline.state.disabled.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hookline.core.hook import HookSpec

_VERSION = 1
_FILE = "switches.json"

#: Tells one content of the file from the next without reading it.
_Stamp = tuple[int, int, int]


class Switches:
    """The switches of one user. Reading never raises: what cannot be read switches nothing off, and ``note``
    says why. ``off`` costs one look at the file's status while nothing has changed."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.note = ""
        self.clock = clock
        #: As long as this gives the same, the file need not even be looked at; for a process that is told of changes.
        self.moment: Callable[[], object] | None = None
        self._looked_at: object = None
        self._lock = threading.Lock()
        self._read_at: _Stamp | None = None
        self._known: tuple[Switch, ...] = ()

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────

    def off(self, spec: HookSpec) -> Switch | None:
        """The switch that keeps this hook from running now; None if it may run."""
        known = self._current()
        if not known:
            return None
        now = self.clock()
        return next((one for one in known if one.covers(spec) and not one.over(now)), None)

    def list(self) -> tuple[Switch, ...]:
        """What is switched off now."""
        now = self.clock()
        return tuple(one for one in self._current() if not one.over(now))

    # ── switching ────────────────────────────────────────────────────────────────────────────────────

    def switch_off(
        self, specs: Sequence[HookSpec], *, among: Iterable[HookSpec] = (), until: float | None = None
    ) -> None:
        """Switch these hooks off; ``among`` are all hooks there are, to tell namesakes apart. Raises StateError."""
        now = self.clock()
        everything = {spec.id: spec for spec in (*among, *specs)}.values()
        made = [_switch(spec, everything, now, until) for spec in specs]
        self._change(lambda kept: [*(one for one in kept if not _covers_any(one, specs)), *made])

    def switch_on(self, specs: Sequence[HookSpec]) -> int:
        """Let these hooks run again; how many switches there were. Raises StateError."""
        before = len([one for one in self.list() if _covers_any(one, specs)])
        if before:
            self._change(lambda kept: [one for one in kept if not _covers_any(one, specs)])
        return before

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────

    def _current(self) -> tuple[Switch, ...]:
        moment = self.moment() if self.moment is not None else None
        if moment is not None and moment == self._looked_at:
            return self._known
        stamp = _stamp(self.path)
        self._looked_at = moment
        if stamp == self._read_at:
            return self._known
        with self._lock:
            self._known = () if stamp is None else self._read()
            self._read_at = stamp
        return self._known

    def _read(self) -> tuple[Switch, ...]:
        import json  # most people have switched nothing off

        self.note = ""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(handle, encoding="utf-8", errors="surrogateescape") as file:
                _require_ours(os.fstat(handle))
                tree = json.load(file)
            return tuple(_from_json(item) for item in tree["off"])
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self.note = f"{self.path} cannot be used ({error}); nothing is switched off until it is mended or removed"
            return ()

    def _change(self, change: Callable[[Sequence[Switch]], Sequence[Switch]]) -> None:
        from hookline.core.files import lock, write_json  # reading needs no lock

        with self._lock, lock(self.path):
            now = self.clock()
            kept = [one for one in self._read() if not one.over(now)]
            write_json(self.path, {"version": _VERSION, "off": [_to_json(one) for one in change(kept)]})
            self._read_at = None


def switches_at(state: str) -> Switches:
    """The store in this state directory."""
    return Switches(os.path.join(state, _FILE))


def _switch(spec: HookSpec, everything: Iterable[HookSpec], now: float, until: float | None) -> Switch:
    place = (spec.name, spec.origin.file, spec.event)
    namesakes = sum((one.name, one.origin.file, one.event) == place for one in everything)
    return Switch(
        id=spec.id,
        name=spec.name,
        file=spec.origin.file,
        event=spec.event,
        since=now,
        until=until,
        alone=namesakes == 1,
    )


def _covers_any(switch: Switch, specs: Sequence[HookSpec]) -> bool:
    return any(switch.covers(spec) for spec in specs)


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _require_ours(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a regular file")
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise ValueError("others can write it")


def _to_json(switch: Switch) -> dict[str, Any]:
    return {name: getattr(switch, name) for name in switch.__slots__}


def _from_json(item: Any) -> Switch:
    until = item["until"]
    return Switch(
        id=str(item["id"]),
        name=str(item["name"]),
        file=str(item["file"]),
        event=str(item["event"]),
        since=float(item["since"]),
        until=None if until is None else float(until),
        alone=bool(item["alone"]),
    )
