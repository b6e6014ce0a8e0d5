"""``hooks.log`` and ``compound-loop.log``: a line per thing that was done, and never a growing file.

Over 100 KB a log keeps its last 500 lines. Logging never raises and never waits for a disk that is gone: a hook does
not fail because it could not write down what it did.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.core.files import take_lock
from hookline.core.paths import private_dir

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 100 * 1024
_KEPT_LINES = 500
#: A line is a line: no message may look like two entries, or hide one.
_LONGEST = 2000
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def now_text() -> str:
    """Local time with its offset, to the second."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z")  # without datetime, which costs a cold run more than the line
    return f"{text[:-2]}:{text[-2:]}"


def append(path: str, name: str, message: str, *, clean: Callable[[str], str] = str) -> None:
    """``<time> <name>: <message>``; ``clean`` takes secrets out."""
    text = _BREAKS.sub(" ", clean(message))[:_LONGEST]
    line = f"{now_text()} {name}: {text}\n".encode(errors="backslashreplace")
    with suppress(OSError, StateError):
        private_dir(os.path.dirname(path))
        # One write of one line at the end: lines of two processes cannot mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            take_lock(handle, wait=True, shared=True)  # not between the reading and the cutting of a rotation
            os.write(handle, line)
            large = os.fstat(handle).st_size > LARGEST
        finally:
            os.close(handle)
        if large:
            rotate(path)


def rotate(path: str) -> bool:
    """Keep the last lines of a log that has become too large, in place, one process at a time."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(handle, "r+b") as log:
            # Another process may have done it between our look and our lock, so we look again.
            if not take_lock(handle) or os.fstat(handle).st_size <= LARGEST:
                return False
            log.seek(0)
            kept = b"".join(log.read().splitlines(keepends=True)[-_KEPT_LINES:])
            # Truncated and appended to the same file: whoever has it open goes on writing to what people read.
            log.truncate(0)
            log.write(kept)
            return True
    return False
