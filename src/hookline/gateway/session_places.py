"""Where a session began, for agents that do not say it with every event: its guards must not end with a ``cd``.

One small file for each session. Places are added, never replaced: whoever sends the event of another start, from another
directory, takes no guard away.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import lru_cache

from hookline.core.errors import StateError
from hookline.core.files import list_names, modification_time, read_text
from hookline.core.paths import private_dir

_FOLDER = "session-places"
#: Places of one session, and seconds for which a session that does not begin anew is remembered.
_MOST, _KEPT = 4, 30 * 86_400.0


def session_places(state: str, agent: str, session: str, cwd: str, *, begins: bool) -> tuple[str, ...]:
    """The directories in which the session began; the first event that is seen of it tells the first one."""
    path = _path(state, agent, session)
    try:
        status = os.stat(path)
        known = _read(path, status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError:
        known = ()
    if cwd in known or "\n" in cwd or len(known) == _MOST or (known and not begins):
        return known
    with suppress(OSError, StateError):  # then it is known for as long as the agent stays where it is
        folder = private_dir(os.path.join(private_dir(state), _FOLDER))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, os.fsencode(cwd) + b"\n")
        finally:
            os.close(handle)
        if not known:
            _forget_old(folder)
    return (*known, cwd)


# A daemon is asked about the same sessions again and again.
@lru_cache(maxsize=256)
def _path(state: str, agent: str, session: str) -> str:
    name = f"{agent} {session}".encode(errors="surrogatepass").hex()[:200]
    return os.path.join(state, _FOLDER, name)


@lru_cache(maxsize=256)
def _read(path: str, inode: int, size: int, changed: int) -> tuple[str, ...]:
    text = read_text(path, errors="surrogateescape")
    return tuple(one for one in (text or "").split("\n") if one)[:_MOST]


def _forget_old(folder: str) -> None:
    before = time.time() - _KEPT
    for name in list_names(folder):
        path = os.path.join(folder, name)
        if modification_time(path) < before:
            with suppress(OSError):
                os.unlink(path)
