"""From a path to a plugin that has introduced itself, or to the reason why not."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any

from hookline.runners.frames import BadLine, LineBuffer, decode, encode
from hookline.runners.plugin.child import StartError, connect, start

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from hookline.runners.cancel import Stop
    from hookline.runners.plugin.child import Child

#: What we speak; a plugin may speak another minor version of it.
_VERSION = "1.0"
#: Seconds from the start of the process to its answer.
DEADLINE = 5.0


class _OpenPlugin:
    """A running plugin after its handshake; ``lines`` may hold the start of what it said next."""

    __slots__ = ("child", "handshake", "lines", "sock")

    def __init__(self, child: Child, sock: socket.socket, lines: LineBuffer, handshake: dict[str, Any]) -> None:
        self.child = child
        self.sock = sock
        self.lines = lines
        self.handshake = handshake


def open_plugin(
    path: str, socket_path: str, environ: Mapping[str, str], state_dir: str, stop: Stop, *, interpreter: str = ""
) -> _OpenPlugin:
    """Start, connect, shake hands. On every way out but the good one nothing is left running."""
    deadline = time.monotonic() + DEADLINE
    child = start(path, socket_path, environ, state_dir, interpreter)
    sock: socket.socket | None = None
    try:
        sock = connect(socket_path, child, deadline, stop)
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
            lines.unread([_unasked(line) for line in found[1:]])
            if found[0] is None:
                raise BadLine("a line over 1 MiB")
            return found[0]
    raise StartError("did not answer the handshake in time")


def _unasked(line: bytes | None) -> bytes:
    """A plugin may send messages at any time, also in one breath with its handshake; there is nothing to answer yet."""
    if line is None or decode(line).get("type") != "message":
        raise StartError("said more than its handshake before it was asked anything")
    return line


def _checked(line: bytes) -> dict[str, Any]:
    answer = decode(line)
    if answer.get("type") != "handshake_ok":
        raise StartError(f"answered the handshake with type {answer.get('type')!r:.80}, not 'handshake_ok'")
    major = str(answer.get("version", _VERSION)).partition(".")[0]
    if major != _VERSION.partition(".")[0]:
        raise StartError(f"speaks version {answer['version']!r:.40} of the protocol; {_VERSION} is spoken here")
    return answer
