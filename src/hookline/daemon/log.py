"""What a daemon in the background has to say, and whatever is printed in it and in its workers: a file with an end."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.daemon.socket_path import DaemonPaths

#: Bytes of log that are kept from one daemon to the next, and that one daemon may fill.
_KEPT, _MOST = 1 << 20, 1 << 22
_AGAIN = b"hookline: so much was printed here that the log begins anew\n"


def redirect_output(place: DaemonPaths) -> None:
    """From now on everything that is printed stands in the log; where there can be none, nowhere, as before."""
    with contextlib.suppress(OSError):
        log = _opened(place)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)


def truncate_log() -> None:
    """Emptied when it is too long. Not replaced: workers print into the file that they were given."""
    with contextlib.suppress(OSError):
        if os.fstat(2).st_size > _MOST:
            os.ftruncate(2, 0)
            os.write(2, _AGAIN)


def _opened(place: DaemonPaths) -> int:
    with contextlib.suppress(OSError):
        if os.stat(place.log).st_size > _KEPT:
            os.replace(place.log, f"{place.log}.1")
    return os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
