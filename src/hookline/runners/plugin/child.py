"""A plugin's process: started with the path of a socket it shall open, connected to, and ended as a group."""

from __future__ import annotations

import os
import signal
import socket
import stat
import struct
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.recursion import VARIABLE, one_deeper
from hookline.runners.environ import pass_on
from hookline.runners.plugin.sockets import mark
from hookline.runners.spawn import Launch, find_program, missing, spawn, why_not
from hookline.runners.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.runners.cancel import Stop

#: Seconds between SIGTERM and SIGKILL, after the plugin had its time to end by itself.
_LAST_WORDS = 0.2


class StartError(Exception):
    """A plugin that could not be started or did not introduce itself; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a process ended; both None when somebody else collected it."""

    exit_code: int | None = None
    signal: int | None = None

    @property
    def reason(self) -> str:
        return "exit" if self.exit_code == 0 else "crash"

    def __str__(self) -> str:
        return f"signal {self.signal}" if self.signal is not None else f"exit {self.exit_code}"


class Child:
    """The leader of a session of its own. It stays uncollected until its group is gone, so that the group's
    number cannot come to mean anybody else."""

    __slots__ = ("_collected", "_workspace", "pid", "pidfd")

    def __init__(self, pid: int, workspace: Workspace) -> None:
        self.pid = pid
        #: Readable once the process has ended; -1 where the system has no such thing.
        self.pidfd = _pidfd(pid)
        self._workspace = workspace
        self._collected: ExitStatus | None = None

    def ended(self) -> ExitStatus | None:
        """How it ended, without collecting it; None while it runs."""
        if self._collected is not None:
            return self._collected
        try:
            status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return ExitStatus()
        if status is None:
            return None
        exited = status.si_code == os.CLD_EXITED
        return ExitStatus(exit_code=status.si_status) if exited else ExitStatus(signal=status.si_status)

    def wait(self, until: float) -> ExitStatus | None:
        pause = 0.001
        while (ended := self.ended()) is None and (left := until - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(pause * 2, 0.02)
        return ended

    def end(self, grace: float = 0.0) -> ExitStatus:
        """Leave nothing of its group running. ``grace`` is the time it may take to end by itself."""
        if self._collected is not None:
            return self._collected
        ended = self.wait(time.monotonic() + grace)
        if ended is None and grace > 0:
            self._signal(signal.SIGTERM)
            ended = self.wait(time.monotonic() + _LAST_WORDS)
        self._signal(signal.SIGKILL)
        ended = ended or self.wait(time.monotonic() + 5) or ExitStatus()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
        self._collected = ended
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        self._workspace.remove()
        return ended

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _pidfd(pid: int) -> int:
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def start(path: str, socket_path: str, environ: Mapping[str, str], state_dir: str, interpreter: str = "") -> Child:
    """``<path> <socket-path>``, with its output thrown away: it may flood, and it speaks through the socket."""
    places = (os.getcwd(),)
    program = find_program(path, environ.get("PATH", os.defpath), places)
    if not program:
        raise StartError(missing(path, environ.get("PATH", os.defpath), places))
    workspace = Workspace(state_dir)
    words = (interpreter, program, socket_path) if interpreter else (program, socket_path)
    passed = pass_on(words, {**environ, VARIABLE: one_deeper(environ)}, workspace)
    launch = Launch(program=words[0], argv=passed.argv, environ=passed.environ)
    try:
        pid = spawn(launch, None, None, None)
    except OSError as error:
        workspace.remove()
        raise StartError(why_not(launch, error)) from error
    mark(socket_path, pid)
    return Child(pid, workspace)


def connect(socket_path: str, child: Child, deadline: float, stop: Stop) -> socket.socket:
    """A connection to the socket that the plugin opens, tried until it is there."""
    pause = 0.0005
    while True:
        connection = _try_connect(socket_path)
        if connection is not None:
            return connection
        if (ended := child.ended()) is not None:
            raise StartError(f"ended ({ended}) before it opened its socket")
        if stop.is_set():
            raise StartError("stopped while it was starting")
        if time.monotonic() >= deadline:
            raise StartError("did not open its socket in time")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)


def _try_connect(path: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
        _check_peer(connection, path)
        connection.setblocking(False)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except (OSError, StartError) as error:
        connection.close()
        raise StartError(f"its socket cannot be used: {error}") from error
    return connection


def _check_peer(connection: socket.socket, path: str) -> None:
    """The directory is ours alone; this holds even if somebody changed that."""
    status = os.lstat(path)
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
        raise StartError("it is not a socket of ours")
    if sys.platform == "linux":
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _pid, uid, _gid = struct.unpack("3i", found)
        if uid != os.geteuid():
            raise StartError(f"it is served by user {uid}")
