"""``hooks.log`` and ``compound-loop.log``: one line per action, in files of limited size.

Over 100 KB a log keeps its last 500 lines. Logging never raises: a hook does not fail because its log cannot be
written.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress

from hookline.core.errors import StateError
from hookline.core.files import take_lock
from hookline.core.paths import private_dir

MAX_LOG = 100 * 1024
_KEPT_LINES = 500
#: A message is one line: none may look like two entries or hide one.
_MAX_LINE = 2000
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def now_text() -> str:
    """Local time with its offset, to the second."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z")  # datetime would cost a cold run more than the line itself
    return f"{text[:-2]}:{text[-2:]}"


def append(path: str, name: str, message: str, *, clean: Callable[[str], str] = str) -> None:
    """``<time> <name>: <message>``; ``clean`` removes secrets."""
    text = _BREAKS.sub(" ", clean(message))[:_MAX_LINE]
    line = f"{now_text()} {name}: {text}\n".encode(errors="backslashreplace")
    with suppress(OSError, StateError):
        private_dir(os.path.dirname(path))
        # One write at the end: lines of two processes cannot mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            take_lock(handle, wait=True, shared=True)  # not while another process rotates
            os.write(handle, line)
            large = os.fstat(handle).st_size > MAX_LOG
        finally:
            os.close(handle)
        if large:
            rotate(path)


def rotate(path: str) -> bool:
    """Keep the last lines of a log that is too large, in place, one process at a time."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(handle, "r+b") as log:
            # Another process may have done it before we got the lock.
            if not take_lock(handle) or os.fstat(handle).st_size <= MAX_LOG:
                return False
            log.seek(0)
            kept = b"".join(log.read().splitlines(keepends=True)[-_KEPT_LINES:])
            # The same file: processes that have it open keep writing to what people read.
            log.truncate(0)
            log.write(kept)
            return True
    return False
