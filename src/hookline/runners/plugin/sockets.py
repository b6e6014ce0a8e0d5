"""A private directory whose path is short enough for sockets.

A file beside each socket names the process that was started for it, so that a hung plugin does not outlive us forever:
the next hookline process ends what a killed one left behind.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from hookline.core.errors import StateError
from hookline.core.files import is_alive
from hookline.core.paths import private_dir, short_tmp
from hookline.runners.environ import write_private
from hookline.runners.spawn import mark_process, pid_from_mark

#: The kernel's ``sun_path`` holds 108 bytes on Linux, 104 on macOS, with the closing NUL.
_LONGEST = 100
#: Characters added to a base: ``/p-<pid>-<random>/<number>``.
_ADDED = 36
#: Suffix of the file that names the process started for a socket.
_MARK = ".process"
#: Seconds between SIGTERM and SIGKILL for a plugin whose host was killed.
_GRACE = 1.0


class SocketDirectory:
    """The sockets of one runner. The directory is created with the first name."""

    __slots__ = ("_directory", "_number")

    def __init__(self) -> None:
        self._directory = ""
        self._number = 0

    def name(self, state_dir: str, environ: Mapping[str, str]) -> str:
        """An unused path; raises ``StateError`` when there is no place for one."""
        if not self._directory or not os.path.isdir(self._directory):
            self._directory = _make(state_dir, environ)
        self._number += 1
        return os.path.join(self._directory, str(self._number))

    def remove(self) -> None:
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = ""


def _make(state_dir: str, environ: Mapping[str, str]) -> str:
    for base in bases(state_dir, environ):
        if len(os.fsencode(base)) + _ADDED > _LONGEST:
            continue
        with suppress(OSError, StateError):
            private_dir(base)
            sweep(base)
            return tempfile.mkdtemp(prefix=f"p-{os.getpid()}-", dir=base)
    try:
        return tempfile.mkdtemp(prefix="hookline-", dir=short_tmp())
    except OSError as error:
        raise StateError(f"no directory for the sockets of plugins: {error}") from error


def bases(state_dir: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Where such directories are made."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        yield os.path.join(runtime, "hookline")
    if state_dir:
        yield os.path.join(state_dir, "plugins")


def mark(socket_path: str, pid: int) -> None:
    """Note which process opens that socket."""
    with suppress(OSError):
        write_private(socket_path + _MARK, mark_process(pid).encode())


def sweep(base: str) -> None:
    """Remove what killed processes left behind: directories, and plugins that still run.

    Raises OSError if ``base`` does not exist.
    """
    status = os.stat(base)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:  # others could name a process there
        return
    for entry in os.listdir(base):
        pid = entry.split("-")[1] if entry.startswith("p-") and entry.count("-") >= 2 else ""
        if pid.isdecimal() and not is_alive(int(pid)):
            directory = os.path.join(base, entry)
            _end(_orphans(directory))
            shutil.rmtree(directory, ignore_errors=True)


def _orphans(directory: str) -> list[str]:
    """The marks of plugins that were started there, running or not."""
    found: list[str] = []
    with suppress(OSError):
        for name in os.listdir(directory):
            if name.endswith(_MARK):
                with open(os.path.join(directory, name), encoding="ascii", errors="replace") as file:
                    found.append(file.read(200))
    return found


def _end(marks: list[str]) -> None:
    """Most ended with their connection. The others get SIGTERM, then SIGKILL for their group."""
    until = time.monotonic() + _GRACE
    reported: set[str] = set()
    while left := [(each, pid) for each in marks if (pid := pid_from_mark(each)) is not None]:
        late = time.monotonic() > until
        for each, pid in left:
            if late or each not in reported:
                reported.add(each)
                with suppress(OSError):
                    os.killpg(pid, signal.SIGKILL if late else signal.SIGTERM)
        if late:
            return
        time.sleep(0.01)
