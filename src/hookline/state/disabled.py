"""Hooks that a person has switched off, for good or for a while, without editing anybody's file."""

from __future__ import annotations

import os
import stat
import time
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Sequence

from hookline.core._dataclass import dataclass
from hookline.core.fast_json import loads
from hookline.core.hook import HookSpec
from hookline.core.typed import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A hook on one event, switched off at ``since``. ``until`` None is until it is switched on again."""

    id: str
    name: str
    file: str
    event: str
    since: float
    until: float | None = None
    #: No other hook of that file has this name and event, so a hook that moved is still recognized.
    alone: bool = True

    def covers(self, spec: HookSpec) -> bool:
        """The id alone is a place in a file, where another hook may stand tomorrow, so name, file and event must agree
        too: a guard must not be switched off by moving up a line."""
        same = (spec.name, spec.origin.file, spec.event) == (self.name, self.file, self.event)
        return same and (self.alone or spec.id == self.id)

    def over(self, now: float) -> bool:
        return self.until is not None and self.until <= now


def why(switch: Switch, now: float) -> str:
    """The message shown where the hook would have run."""
    until = f" until {moment(switch.until, now)}" if switch.until is not None else ""
    return f"switched off{until}; to change it: hookline hooks"


def moment(when: float, now: float) -> str:
    """The time of day, with the day where it is not today's."""
    then, today = time.localtime(when), time.localtime(now)
    same_day = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M", then)


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
        #: While this returns the same, the file is not even checked; for a process that is notified of changes.
        self.moment: Callable[[], object] | None = None
        self._looked_at: object = None
        self._lock = allocate_lock()
        self._read_at: _Stamp | None = None
        self._known: tuple[Switch, ...] = ()

    # ── queries ─────────────────────────────────────────────────────────────────────────────────────

    def off(self, spec: HookSpec) -> Switch | None:
        """The switch that keeps this hook from running now; None if it may run."""
        known = self._current()
        if not known:
            return None
        now = self.clock()
        return next((one for one in known if one.covers(spec) and not one.over(now)), None)

    def some_off(self) -> bool:
        """Whether any hook is switched off; asked before every hook."""
        moment = None if self.moment is None else self.moment()
        return bool(self._known if moment is not None and moment == self._looked_at else self._current())

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
        self.note = ""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(handle, encoding="utf-8", errors="surrogateescape") as file:
                _require_ours(os.fstat(handle))
                tree = loads(file.read())
            return tuple(_from_json(item) for item in tree["off"])
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            self.note = f"{self.path} cannot be used ({error}); nothing is switched off until it is repaired or removed"
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


__all__ = ["Switch", "Switches", "moment", "switches_at", "why"]
