"""One memory for a process that stays and for those that come and go beside it.

A registration may be answered by the daemon and another by a process of its own (of another version, say, or while the
daemon starts). Such a process leaves its name behind; where the daemon finds another one's than its caller's, it goes by
the file too. Where there is none, that costs one look at the disk.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hookline.gateway.dedupe import Remembering
from hookline.gateway.dedupe_file import Filed, cold_askers_file, read_askers

if TYPE_CHECKING:
    from hookline.gateway.dedupe import Key, Turn

#: Seconds for which it counts that somebody came without the daemon.
_REMEMBERED = 86_400.0


class Shared(Remembering):
    """``at`` a state directory it is a ``Once``."""

    __slots__ = ("_askers",)

    def __init__(self) -> None:
        super().__init__()
        #: State directory -> when its file was changed, and who is named in it.
        self._askers: dict[str, tuple[int, frozenset[str]]] = {}

    def at(self, state: str) -> _At:
        return _At(self, state)

    def others(self, state: str, registration: str) -> bool:
        """Whether somebody else than ``registration`` came without us."""
        path = cold_askers_file(state)
        try:
            found = os.stat(path)
        except OSError:
            return False
        if found.st_mtime < time.time() - _REMEMBERED:
            return False
        known = self._askers.get(state)
        if known is None or known[0] != found.st_mtime_ns:
            known = self._askers[state] = (found.st_mtime_ns, frozenset(read_askers(path)))
        return bool(known[1] - {registration})


class _At:
    __slots__ = ("_shared", "_state")

    def __init__(self, shared: Shared, state: str) -> None:
        self._shared, self._state = shared, state

    def enter(self, key: Key, registration: str, until: float) -> Turn:
        """Either or: two memories of one event would count its calls differently."""
        if self._shared.others(self._state, registration):
            return Filed(self._state, cold=False).enter(key, registration, until)
        return self._shared.enter(key, registration, until)
