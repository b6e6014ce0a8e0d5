"""Where the daemon of this user is found: a socket in a directory that nobody else can enter."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.core.paths import find_paths, private_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Bytes of a path that every system takes as the name of a socket.
LONGEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonPaths:
    directory: str

    @property
    def socket(self) -> str:
        return os.path.join(self.directory, "daemon.sock")

    @property
    def lock(self) -> str:
        return os.path.join(self.directory, "daemon.lock")

    @property
    def starting(self) -> str:
        """There while a client's daemon is on its way up."""
        return os.path.join(self.directory, "daemon.starting")

    @property
    def hung(self) -> str:
        """What the latest daemons that hung were doing."""
        return os.path.join(self.directory, "daemon.hung")

    @property
    def log(self) -> str:
        return os.path.join(self.directory, "daemon.log")


def find_daemon_paths(environ: Mapping[str, str]) -> DaemonPaths:
    """In the runtime directory if the system gives one that is ours alone, else beside the state."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _ours_alone(runtime):
        return DaemonPaths(directory=os.path.join(runtime, "hookline"))
    home = environ.get("HOME") or os.path.expanduser("~")
    state = find_paths({name: value for name, value in environ.items() if name.startswith("XDG_")}, home).state
    return DaemonPaths(directory=os.path.join(state, "run"))


def create_directory(place: DaemonPaths) -> DaemonPaths:
    """The same place, with its directory. Raises ``StateError`` where there cannot be one."""
    if len(os.fsencode(place.socket)) > LONGEST:
        raise StateError(f"the path of the socket is too long ({place.socket}); set XDG_RUNTIME_DIR to a shorter one")
    private_dir(place.directory)
    return place


def _ours_alone(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
