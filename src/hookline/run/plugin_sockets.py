"""A private directory with a path short enough for the name of a socket."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.errors import StateError
from hookline.paths import private_dir

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The kernel's ``sun_path`` holds 108 bytes on Linux, 104 on macOS, with the closing NUL.
_LONGEST = 100
#: What is added to a base: ``/p-<pid>-<random>/<number>``.
_ADDED = 36


class SocketRoom:
    """Sockets of one runner. Nothing is made before the first name is asked for."""

    __slots__ = ("_directory", "_number")

    def __init__(self) -> None:
        self._directory = ""
        self._number = 0

    def name(self, state_dir: str, environ: Mapping[str, str]) -> str:
        """A path that nobody has used yet; raises ``StateError`` when there is no place for one."""
        if not self._directory or not os.path.isdir(self._directory):
            self._directory = _make(state_dir, environ)
        self._number += 1
        return os.path.join(self._directory, str(self._number))

    def remove(self) -> None:
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = ""


def _make(state_dir: str, environ: Mapping[str, str]) -> str:
    for base in _bases(state_dir, environ):
        if len(os.fsencode(base)) + _ADDED > _LONGEST:
            continue
        with suppress(OSError, StateError):
            private_dir(base)
            _sweep(base)
            return tempfile.mkdtemp(prefix=f"p-{os.getpid()}-", dir=base)
    try:
        return tempfile.mkdtemp(prefix="hookline-", dir="/tmp")
    except OSError as error:
        raise StateError(f"no directory for the sockets of plugins: {error}") from error


def _bases(state_dir: str, environ: Mapping[str, str]) -> Iterator[str]:
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        yield os.path.join(runtime, "hookline")
    if state_dir:
        yield os.path.join(state_dir, "plugins")


def _sweep(base: str) -> None:
    """Remove what processes left behind that were killed before they could."""
    for entry in os.listdir(base):
        pid = entry.split("-")[1] if entry.startswith("p-") and entry.count("-") >= 2 else ""
        if pid.isdecimal() and not _alive(int(pid)):
            shutil.rmtree(os.path.join(base, entry), ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
