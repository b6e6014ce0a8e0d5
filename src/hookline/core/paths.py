"""Where hookline keeps its things: XDG, unless the environment says otherwise."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    config: str
    state: str
    data: str
    machine: str = "/etc/hookline"


def paths_of(environ: Mapping[str, str], home: str) -> Paths:
    """``HOOKLINE_*_DIR``, then XDG (absolute paths only, as its specification asks), then the defaults."""

    def place(own: str, xdg: str, default: str) -> str:
        if given := environ.get(own):
            return os.path.abspath(given)
        base = environ.get(xdg, "")
        return os.path.join(base if os.path.isabs(base) else os.path.join(home, default), "hookline")

    return Paths(
        config=place("HOOKLINE_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
        state=place("HOOKLINE_STATE_DIR", "XDG_STATE_HOME", ".local/state"),
        data=place("HOOKLINE_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
    )


# ── a place that cannot be used ──────────────────────────────────────────────────────────────────────

#: Agents' calls go by XDG alone (a repository can set HOOKLINE_* for them), so this helps everybody.
ELSEWHERE = "set XDG_STATE_HOME (XDG_DATA_HOME for data) to a directory of your own"
_ANOTHERS = f"it belongs to another user; {ELSEWHERE}"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SHUT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def private_dir(path: str) -> str:
    """Make ``path`` a directory that only we can enter; refuse one that belongs to somebody else."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
    except OSError as error:
        raise StateError(unusable(path, error)) from error
    if status.st_uid != os.geteuid():
        raise StateError(f"{path} cannot be used: {_ANOTHERS}")
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path


def unusable(path: str, error: OSError, elsewhere: str = ELSEWHERE) -> str:
    """The one sentence about a place: which it is, what is in the way, and what to do about it."""
    nearest = _nearest(path)
    why = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.EEXIST or (nearest != path and not os.path.isdir(nearest)):
        what = "a file" if os.path.exists(nearest) else "a link that leads nowhere"
        why, mend = f"{nearest if nearest != path else 'it'} is {what} and no directory", "move it away"
    elif error.errno in _FULL:
        mend = "make room"
    elif error.errno in _SHUT:
        why, mend = f"{nearest} cannot be written ({why})" if nearest != path else why, "make it writable"
    else:
        mend = f"see: ls -ld {nearest}"
    return f"{path} cannot be used: {why}; {mend}, or {elsewhere}"


def why_unusable(path: str) -> str:
    """What ``private_dir`` and who writes there would complain of, without touching anything; "" for nothing."""
    nearest = _nearest(path)
    if not os.path.isdir(nearest):
        return unusable(path, OSError(errno.EEXIST, ""))
    try:
        status, room = os.stat(nearest), os.statvfs(nearest)
    except OSError as error:
        return unusable(path, error)
    if nearest == path and status.st_uid != os.geteuid():
        return f"{path} cannot be used: {_ANOTHERS}"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return unusable(path, OSError(errno.EROFS if room.f_flag & os.ST_RDONLY else errno.EACCES, ""))
    if room.f_blocks and not room.f_bavail:  # a file system that counts nothing says 0 of 0
        return unusable(path, OSError(errno.ENOSPC, ""))
    return ""


def _nearest(path: str) -> str:
    """``path``, or what there is on the way to it; where we may not look further, the last that we may see."""
    while not os.path.lexists(path) and (above := os.path.dirname(path)) not in {"", path}:
        path = above
    return path
