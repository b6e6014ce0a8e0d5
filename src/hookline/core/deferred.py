"""Work of a hook that nobody waits for: done when the answer is on its way, where somebody sees to that; else at once.

A process that ends with its answer has no afterwards. The daemon has one, and does not end before it is over.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _Here(threading.local):
    """What this thread has to do once it has answered; None where nobody would."""

    work: list[Callable[[], None]] | None = None


_HERE = _Here()


def defer(work: Callable[[], None]) -> None:
    if _HERE.work is None:
        work()
    else:
        _HERE.work.append(work)


def start_deferring() -> None:
    """For who answers: from now on this thread's work is gathered."""
    _HERE.work = []


def take_deferred() -> Sequence[Callable[[], None]]:
    """What has come together; and no more of it."""
    work, _HERE.work = _HERE.work, None
    return work or ()
