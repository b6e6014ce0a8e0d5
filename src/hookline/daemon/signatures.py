"""What an engine was made of, and whether it still is: files by their signatures, variables by their values.

Files are looked at whenever something may have happened to them, of which the kernel tells (``news``), and every few
seconds in any case.
"""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Iterator, Mapping

from hookline.core.paths import Paths
from hookline.gateway.request import find_home_and_paths

#: Change time, size, inode and modification time: as long as they stand, the content stands. None: nothing there.
Signature = tuple[int, int, int, int] | None

#: A file that was written this shortly before it was read may be written again without a trace in its signature.
UNSETTLED = 20_000_000

#: Seconds that the root of a project is remembered for.
_REMEMBERED = 30.0

#: Never equal to what a look finds.
_UNSURE: Signature = (-1, -1, -1, -1)


def signature(path: str) -> Signature:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_ctime_ns, status.st_size, status.st_ino, status.st_mtime_ns


def signatures(paths: Iterator[str] | set[str], began_ns: int) -> dict[str, Signature]:
    """As they are now; those that changed since (or just before) the reading began are sure to look changed."""
    found: dict[str, Signature] = {}
    for path in paths:
        now = signature(path)
        found[path] = _UNSURE if now is not None and now[0] > began_ns - UNSETTLED else now
    return found


def are_unchanged(known: Mapping[str, Signature]) -> bool:
    return all(signature(path) == then for path, then in known.items())


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


class PathCache:
    """``door.home_and_paths``, remembered for a while: to find the root of a project takes a dozen looks at the disk."""

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
            known = self._known[key] = (now + _REMEMBERED, *find_home_and_paths(cwd, environ))
        return known[1:]

    def _matters(self, environ: Mapping[str, str]) -> Hashable:
        known = self._of.get(id(environ))
        if known is None or known[0] is not environ:
            if len(self._of) > 256:
                self._of.clear()
            mine = (environ.get("HOME"), *[item for item in environ.items() if item[0].startswith("XDG_")])
            known = self._of[id(environ)] = (environ, mine)
        return known[1]


def _now_ns() -> int:
    return time.time_ns()
