"""Work of a hook that nobody waits for: done after the answer was sent where the process lives on, else at once.

A process that ends with its answer has no afterwards. The daemon has one, and does not end before it is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class _Deferred(threading.local):
    """``work`` is what this thread has to do once it has answered; None where nobody would. Who answers sets it."""

    work: list[Callable[[], None]] | None = None


DEFERRED = _Deferred()


def defer(work: Callable[[], None]) -> None:
    if DEFERRED.work is None:
        work()
    else:
        DEFERRED.work.append(work)
