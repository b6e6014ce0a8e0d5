"""Which files hooks were loaded from: readers note each file here, so that a cache knows what to watch.

Asking the interpreter instead (an audit hook) was tried: it cannot be removed again, and costs every decision of the
daemon a twentieth.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

#: The files that this thread has read, while they are collected.
_HERE = threading.local()


def note(path: str) -> None:
    """Called before the file is read: one that does not exist yet matters too."""
    paths: set[str] | None = getattr(_HERE, "paths", None)
    if paths is not None and os.path.isabs(path):
        paths.add(path)


@contextmanager
def listening() -> Generator[set[str]]:
    """Collects the files that this thread notes meanwhile."""
    before: set[str] | None = getattr(_HERE, "paths", None)
    paths: set[str] = set()
    _HERE.paths = paths
    try:
        yield paths
    finally:
        _HERE.paths = before
        if before is not None:
            before |= paths
