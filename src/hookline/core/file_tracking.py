"""Which files hooks are made of: whoever reads one for that says so here, and who keeps what was made of them hears it.

Asking the interpreter instead (an audit hook) was tried: it cannot be taken away again, and costs every decision of the
daemon a twentieth.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

#: What the thread has read since somebody listens.
_HERE = threading.local()


def note(path: str) -> None:
    """Said before it is read: a file that is not there yet matters too."""
    paths: set[str] | None = getattr(_HERE, "paths", None)
    if paths is not None and os.path.isabs(path):
        paths.add(path)


@contextmanager
def listening() -> Generator[set[str]]:
    """What this thread notes in here, and nothing that others do."""
    before: set[str] | None = getattr(_HERE, "paths", None)
    paths: set[str] = set()
    _HERE.paths = paths
    try:
        yield paths
    finally:
        _HERE.paths = before
        if before is not None:
            before |= paths
