"""One switch: which hook it is about, and until when."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A hook on one event, switched off at ``since``. ``until`` None is until somebody switches it on again."""

    id: str
    name: str
    file: str
    event: str
    since: float
    until: float | None = None
    #: No other hook of that file had this name and event, so that a hook that moved is still known.
    alone: bool = True

    def covers(self, spec: HookSpec) -> bool:
        """The id alone is a place in a file, where tomorrow another hook may stand: a guard must not be
        switched off by moving up a line. So name, file and event must agree in any case."""
        same = (spec.name, spec.origin.file, spec.event) == (self.name, self.file, self.event)
        return same and (self.alone or spec.id == self.id)

    def over(self, now: float) -> bool:
        return self.until is not None and self.until <= now


def why(switch: Switch, now: float) -> str:
    """What a person reads where the hook would have run."""
    until = f" until {moment(switch.until, now)}" if switch.until is not None else ""
    return f"switched off{until}; to change it: hookline hooks"


def moment(when: float, now: float) -> str:
    """The time of day, with the day where it is not today's."""
    then, today = time.localtime(when), time.localtime(now)
    same_day = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M", then)
