"""Private files: long values, script sources, payloads of detached hooks, spilled output."""

from __future__ import annotations

import os
import time

from hookline.core.paths import private_dir

#: Files of detached hooks are removed after this many seconds.
_KEEP = 7 * 24 * 3600.0
#: The number of spilled outputs that are kept; each has a cap, so floods cannot fill the disk.
_SPILLS = 32


def state_root(state_dir: str) -> str:
    """The configured directory, or one of our own under the system's temporary directory."""
    if state_dir:
        return private_dir(state_dir)
    base = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # private_dir refuses one that is not ours
    return private_dir(os.path.join(base, f"hookline-{os.geteuid()}"))


class Workspace:
    """The private files of one run. The directory is created with the first file."""

    __slots__ = ("_dir", "_state_dir")

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._dir = ""

    def file(self, name: str, content: bytes, *, mode: int = 0o600) -> str:
        """Write ``content`` to a new private file and give its path."""
        if not self._dir:
            parent = private_dir(os.path.join(state_root(self._state_dir), "tmp"))
            made = os.path.join(parent, os.urandom(8).hex())
            os.mkdir(made, 0o700)
            self._dir = made
        path = os.path.join(self._dir, name)
        # Two values may want the same name (a variable and an argument); the second gets a number.
        if os.path.exists(path):
            path = f"{path}.{len(os.listdir(self._dir))}"
        write_private(path, content, mode=mode)
        return path

    def remove(self) -> None:
        if self._dir:
            _remove(self._dir)
            self._dir = ""

    def leave(self) -> None:
        """Keep the files for a hook that outlives us, and remove old files of earlier ones."""
        if self._dir:
            _sweep(os.path.dirname(self._dir), time.time() - _KEEP)


def write_private(path: str, content: bytes, *, mode: int = 0o600) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _sweep(directory: str, before: float) -> None:
    """Remove the entries that were last changed before that time. Others may sweep at the same moment."""
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                if entry.stat(follow_symlinks=False).st_mtime < before:
                    _remove(entry.path)
            except OSError:
                continue


def _remove(workspace: str) -> None:
    """A workspace is flat. A hook that made directories in it keeps them until a sweep finds it empty."""
    try:
        for name in os.listdir(workspace):
            path = os.path.join(workspace, name)
            if not os.path.isdir(path):
                os.unlink(path)
        os.rmdir(workspace)
    except OSError:
        return


def new_spill(state_dir: str, stream: str) -> tuple[int, str]:
    """An open file for output over the cap, and its path; the oldest ones make room."""
    directory = private_dir(os.path.join(state_root(state_dir), "spill"))
    for old in sorted(os.listdir(directory))[: -_SPILLS + 1]:
        try:
            os.unlink(os.path.join(directory, old))
        except OSError:
            continue
    path = os.path.join(directory, f"{time.time_ns():020d}-{os.urandom(4).hex()}.{stream}")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), path
