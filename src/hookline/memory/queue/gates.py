"""Whether a session is distilled again. Pure: times come in, a reason or nothing comes out.

``Stop`` fires after every turn, so a task still waiting (debounce) and a transcript that hardly grew since the last
one (growth) are reasons to skip. Both compare wall clocks, as documented; a time of the future was written by a clock
that was wrong, and holds nothing up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def why_not(
    *,
    now: float,
    waiting_since: Iterable[float],
    ended: Iterable[float],
    grown: float,
    debounce: float,
    growth: float,
    force: bool = False,
) -> str:
    """Empty to go on. ``ended``: when tasks of the session that have ended were queued; ``grown``: the transcript's time."""
    if force:
        return ""
    if any(abs(now - since) < debounce for since in waiting_since):
        return "debounce"
    last = max((one for one in ended if one <= now + growth), default=None)
    if last is not None and grown - last < growth:
        return "no new activity"
    return ""
