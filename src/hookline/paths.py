"""Where hookline keeps its things: XDG, unless the environment says otherwise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.dataclass import dataclass
from hookline.errors import StateError

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


_ELSEWHERE = "set HOOKLINE_STATE_DIR (or HOOKLINE_DATA_DIR, if it is for data) to a directory of your own"


def private_dir(path: str) -> str:
    """Make ``path`` a directory that only we can enter; refuse one that belongs to somebody else."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
    except OSError as error:
        msg = f"cannot use {path!r}: {error.strerror}; {_ELSEWHERE}"
        raise StateError(msg) from error
    if status.st_uid != os.geteuid():
        msg = f"{path!r} belongs to another user; {_ELSEWHERE}"
        raise StateError(msg)
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path
