"""Start a plugin, connect to the socket that it opens, and shake hands; or say why that failed.

The process is the leader of its own session, and is ended as a group.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.core.files import read_json, replace_atomically
from hookline.runners.base import Stop
from hookline.runners.environ import DEPTH_VARIABLE, Workspace, next_depth, pass_on, state_root
from hookline.runners.frames import BadLine, LineBuffer, decode, encode
from hookline.runners.plugin.sockets import mark
from hookline.runners.programs import find_program, missing
from hookline.runners.spawn import Launch, own_directory, spawn, why_not

_NAME = "plugins-cache.json"
_KEPT = 200
_CHUNK = 1 << 20


def digest(program: str) -> str:
    """The identity of an executable: its path and content; "" if it cannot be read."""
    found = hashlib.blake2b(os.fsencode(os.path.realpath(program)) + b"\0", digest_size=16)
    try:
        with open(program, "rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
    except OSError:
        return ""
    return found.hexdigest()


def recall(state_dir: str, identity: str) -> Mapping[str, Any] | None:
    known = _read(state_dir).get(identity) if identity else None
    return known if isinstance(known, dict) else None


def remember(state_dir: str, identity: str, handshake: Mapping[str, Any]) -> None:
    """Best effort: without it the plugin is started again for its handshake."""
    known = _read(state_dir)
    if not identity or known.get(identity) == handshake:
        return
    known.pop(identity, None)
    kept = dict([*known.items(), (identity, dict(handshake))][-_KEPT:])
    with suppress(OSError, StateError, ValueError):
        replace_atomically(os.path.join(state_root(state_dir), _NAME), json.dumps(kept), durable=False)


def _read(state_dir: str) -> dict[str, Any]:
    try:
        known = read_json(os.path.join(state_root(state_dir), _NAME))
    except (OSError, StateError):
        return {}
    return known if isinstance(known, dict) else {}


#: Our version of the protocol; a plugin may use another minor version.
_VERSION = "1.0"
#: Seconds from the start of the process to the end of the handshake.
DEADLINE = 5.0
#: Seconds between SIGTERM and SIGKILL, after the plugin had its time to end by itself.
_KILL_AFTER = 0.2


class StartError(Exception):
    """A plugin could not be started or did not shake hands; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """How a process ended; both are None when another part of the process reaped it."""

    exit_code: int | None = None
    signal: int | None = None

    @property
    def reason(self) -> str:
        return "exit" if self.exit_code == 0 else "crash"

    def __str__(self) -> str:
        return f"signal {self.signal}" if self.signal is not None else f"exit {self.exit_code}"


class Child:
    """The leader of its own session. It is reaped only after its group is gone, so that the group's
    number cannot be reused meanwhile."""

    __slots__ = ("_collected", "_workspace", "pid", "pidfd")

    def __init__(self, pid: int, workspace: Workspace) -> None:
        self.pid = pid
        #: Readable once the process has ended; -1 where the system has no process descriptors.
        self.pidfd = _pidfd(pid)
        self._workspace = workspace
        self._collected: ExitStatus | None = None

    def ended(self) -> ExitStatus | None:
        """How it ended, without reaping it; None while it runs."""
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
        """Kill its whole group. ``grace`` is the time it gets to end by itself."""
        if self._collected is not None:
            return self._collected
        ended = self.wait(time.monotonic() + grace)
        if ended is None and grace > 0:
            self._signal(signal.SIGTERM)
            ended = self.wait(time.monotonic() + _KILL_AFTER)
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


def _start(path: str, socket_path: str, environ: Mapping[str, str], state_dir: str, interpreter: str = "") -> Child:
    """Run ``<path> <socket-path>`` with its output discarded: it communicates through the socket."""
    places = (own_directory(),)
    program = find_program(path, environ.get("PATH", os.defpath), places)
    if not program:
        raise StartError(missing(path, environ.get("PATH", os.defpath), places))
    workspace = Workspace(state_dir)
    words = (interpreter, program, socket_path) if interpreter else (program, socket_path)
    passed = pass_on(words, {**environ, DEPTH_VARIABLE: next_depth(environ)}, workspace)
    launch = Launch(program=words[0], argv=passed.argv, environ=passed.environ)
    try:
        pid = spawn(launch, None, None, None)
    except OSError as error:
        workspace.remove()
        raise StartError(why_not(launch, error)) from error
    mark(socket_path, pid)
    return Child(pid, workspace)


def _connect(socket_path: str, child: Child, deadline: float, stop: Stop) -> socket.socket:
    """Connect to the socket that the plugin opens, retrying until it exists."""
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
    """The directory is private; this check holds even if that was changed."""
    status = os.lstat(path)
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
        raise StartError("it is not a socket of this user")
    if sys.platform == "linux":
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _pid, uid, _gid = struct.unpack("3i", found)
        if uid != os.geteuid():
            raise StartError(f"it is served by user {uid}")


# ── the handshake ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _OpenPlugin:
    """A running plugin after its handshake; ``lines`` may hold the start of its next message."""

    child: Child
    sock: socket.socket
    lines: LineBuffer
    handshake: dict[str, Any]


def open_plugin(
    path: str, socket_path: str, environ: Mapping[str, str], state_dir: str, stop: Stop, *, interpreter: str = ""
) -> _OpenPlugin:
    """Start, connect, shake hands. On failure nothing stays running."""
    deadline = time.monotonic() + DEADLINE
    child = _start(path, socket_path, environ, state_dir, interpreter)
    sock: socket.socket | None = None
    try:
        sock = _connect(socket_path, child, deadline, stop)
        lines = LineBuffer()
        return _OpenPlugin(child, sock, lines, _shake_hands(sock, lines, child, deadline, stop))
    except BaseException:
        if sock is not None:
            sock.close()
        child.end()
        raise


def _shake_hands(sock: socket.socket, lines: LineBuffer, child: Child, deadline: float, stop: Stop) -> dict[str, Any]:
    try:
        sock.send(encode({"type": "handshake", "version": _VERSION}))
        return _checked(_first_line(sock, lines, child, deadline, stop))
    except BadLine as bad:
        raise StartError(f"answered the handshake with {bad}") from bad
    except OSError as error:
        raise StartError(f"broke off the handshake: {error.strerror}") from error


def _first_line(sock: socket.socket, lines: LineBuffer, child: Child, deadline: float, stop: Stop) -> bytes:
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        if stop.is_set():
            raise StartError("stopped while it was starting")
        if not poll.poll(max(1, int(min(left, 0.05) * 1000))):
            continue
        chunk = sock.recv(1 << 16)
        if not chunk:
            ended = child.wait(time.monotonic() + 0.05)
            raise StartError(
                f"ended ({ended}) during the handshake" if ended else "closed its socket during the handshake"
            )
        found = lines.feed(chunk)
        if found:
            lines.unread([_unsolicited(line) for line in found[1:]])
            if found[0] is None:
                raise BadLine("a line over 1 MiB")
            return found[0]
    raise StartError("did not answer the handshake in time")


def _unsolicited(line: bytes | None) -> bytes:
    """A plugin may send messages at any time, also together with its handshake; answers it cannot have yet."""
    if line is None or decode(line).get("type") != "message":
        raise StartError("sent more than its handshake before the first request")
    return line


def _checked(line: bytes) -> dict[str, Any]:
    answer = decode(line)
    if answer.get("type") != "handshake_ok":
        raise StartError(f"answered the handshake with type {answer.get('type')!r:.80}, not 'handshake_ok'")
    major = str(answer.get("version", _VERSION)).partition(".")[0]
    if major != _VERSION.partition(".")[0]:
        raise StartError(f"uses version {answer['version']!r:.40} of the protocol; hookline supports {_VERSION}")
    return answer
