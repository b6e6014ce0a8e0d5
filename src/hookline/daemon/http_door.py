"""The HTTP door: agents that post their events instead of starting a process. Loopback only, one user's only.

Whoever knocks is let in with the right token in the path, by a connection of the same user (where the system tells),
naming this very address as the host and no origin: a page in a browser can do neither. What is let in goes through the
daemon's own socket like the request of any client, so nothing is decided differently here; where that gives no
answer, hookline is run in the ordinary way. There is one thing it cannot do: answer when the daemon is gone. Therefore
``hookline deploy`` registers it only where nothing can be refused.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import hookline
from hookline.daemon.http_place import HOST
from hookline.daemon.protocol import RESULT, Caller, Request, packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.daemon.http_place import Door
    from hookline.daemon.socket_path import Place

#: Bytes of a request's head, seconds for it to arrive, seconds between two requests of one connection, and connections.
MOST_HEAD, ARRIVE, PAUSE, MOST_CLIENTS = 16 << 10, 10.0, 60.0, 64
#: Bytes of an event. What is too much for the daemon goes to a process.
_MOST_BODY = 32 << 20
#: Seconds of an ordinary run beyond its deadline.
_GRACE = 5.0

_REASONS = {
    200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large", 503: "Service Unavailable",
}  # fmt: skip


class Refused(Exception):  # an answer, and no fault of ours
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class HttpDoor:
    """``open`` listens in threads of its own until ``close``; a port that somebody else has is said, and left alone."""

    def __init__(self, door: Door, place: Place, environ: Mapping[str, str]) -> None:
        self._door, self._place = door, place
        # What was said to whoever started the daemon is not said to those who post.
        self._environ = {name: value for name, value in environ.items() if not name.startswith("HOOKLINE_")}
        self._hosts = {f"{HOST}:{door.port}".encode(), f"localhost:{door.port}".encode()}
        self._free = threading.BoundedSemaphore(MOST_CLIENTS)
        self._sock: socket.socket | None = None

    def open(self) -> bool:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # Without it a restarted daemon could not listen for a minute; another listener still cannot share the port.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, self._door.port))
            sock.listen(64)
        except OSError as error:
            sock.close()
            sys.stderr.write(f"hookline: the HTTP door cannot open port {self._door.port}: {error.strerror}\n")
            return False
        self._sock = sock
        threading.Thread(target=self._accept, args=(sock,), name="hookline-http", daemon=True).start()
        return True

    def close(self) -> None:
        sock, self._sock = self._sock, None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _accept(self, sock: socket.socket) -> None:
        while sock.fileno() != -1:
            try:
                client, address = sock.accept()
            except OSError:  # closed, or out of descriptors: some will be closed
                time.sleep(0.01)
                continue
            if not self._free.acquire(blocking=False):
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client, address[1]), name="hookline-http", daemon=True).start()

    def _serve(self, client: socket.socket, port: int) -> None:
        try:
            with client, contextlib.suppress(OSError):
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if _same_user(port, self._door.port):
                    said = b""
                    while (rest := self._one(client, said)) is not None:
                        said = rest
        finally:
            self._free.release()

    def _one(self, client: socket.socket, said: bytes) -> bytes | None:
        """One request; what was said beyond it, or None when the connection is over."""
        try:
            head, said = _head(client, said)
            words, headers = self._allowed(head)
            length = _length(headers)
            until = time.monotonic() + ARRIVE
            while len(said) < length:
                said += _more(client, until)
            body, rest = said[:length], said[length:]
            code, out = self._answered(words, body)
        except Refused as refused:
            client.sendall(_response(refused.status, b"", close=True))
            return None
        except TimeoutError:
            return None
        close = headers.get(b"connection", b"").lower() == b"close"
        client.sendall(_response(code, out, close=close))
        return None if close else rest

    # ── who may come in ──────────────────────────────────────────────────────────────────────────────

    def _allowed(self, head: bytes) -> tuple[list[str], dict[bytes, bytes]]:
        lines = head.split(b"\r\n")
        parts = lines[0].split(b" ")
        if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
            raise Refused(400)
        headers: dict[bytes, bytes] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon or name.strip() != name or name.lower() in headers:
                raise Refused(400)  # folded, smuggled or said twice
            headers[name.lower()] = value.strip()
        if headers.get(b"host", b"").lower() not in self._hosts or b"origin" in headers:
            raise Refused(403)
        words = parts[1].split(b"/")
        if len(words) != 7 or words[:2] != [b"", b"hookline"]:
            raise Refused(404)
        if not hmac.compare_digest(words[2], self._door.token.encode()):
            raise Refused(403)
        if parts[0] != b"POST":
            raise Refused(405)
        try:
            told = [word.decode("ascii") for word in words[3:]]
        except UnicodeDecodeError:
            raise Refused(404) from None
        if not all(told) or any(word.startswith("-") for word in told) or not told[3].isdigit():
            raise Refused(404)
        return told, headers

    # ── what is answered ─────────────────────────────────────────────────────────────────────────────

    def _answered(self, words: list[str], body: bytes) -> tuple[int, bytes]:
        """An answer that a command could only give by its exit code has no form here: it is an error to the agent."""
        agent, event, registration, deadline = words
        argv = (
            "--agent", agent, "--event", event, "--registration", registration.replace(":", "/", 1), "--deadline", deadline,
        )  # fmt: skip
        told = self._warm(argv, body, float(deadline)) or self._cold(argv, body, float(deadline))
        if told is None or told[0] != 0:
            return 503, b""
        return (200, told[1]) if told[1].strip() else (204, b"")

    def _warm(self, argv: tuple[str, ...], body: bytes, deadline: float) -> tuple[int, bytes] | None:
        caller = Caller(
            version=hookline.__version__, kind="forwarded", cwd=self._cwd(body), argv=argv, environ=self._environ
        )
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                sock.settimeout(deadline + _GRACE)
                sock.connect(self._place.socket)
                sock.sendall(packed(Request(caller=caller, stdin=body)))
                told = b"".join(iter(lambda: sock.recv(1 << 16), b"")).lstrip(b"A")
        except OSError:
            return None
        if len(told) < RESULT.size or told[:1] != b"R":
            return None
        _, code, out, _ = RESULT.unpack_from(told)
        return code, told[RESULT.size : RESULT.size + out]

    def _cold(self, argv: tuple[str, ...], body: bytes, deadline: float) -> tuple[int, bytes] | None:
        line = [sys.executable, "-E", "-P", "-m", "hookline", "hook", *argv, "--cold"]
        try:
            done = subprocess.run(
                line, input=body, cwd=self._cwd(body), env=self._environ, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, check=False, timeout=deadline + _GRACE,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
        return done.returncode, done.stdout

    @staticmethod
    def _cwd(body: bytes) -> str:
        """Where the agent says it works; a client stands there, and nobody stands here."""
        try:
            said = json.loads(body).get("cwd", "")
        except (ValueError, AttributeError, RecursionError):
            said = ""
        return said if isinstance(said, str) and os.path.isabs(said) and os.path.isdir(said) else "/"


def _head(client: socket.socket, said: bytes) -> tuple[bytes, bytes]:
    until = time.monotonic() + (ARRIVE if said else PAUSE)
    while b"\r\n\r\n" not in said:
        if len(said) > MOST_HEAD:
            raise Refused(413)
        first = not said
        said += _more(client, until)
        until = time.monotonic() + ARRIVE if first else until
    head, _, rest = said.partition(b"\r\n\r\n")
    if len(head) > MOST_HEAD:
        raise Refused(413)
    return head, rest


def _more(client: socket.socket, until: float) -> bytes:
    """What is said next. Raises ``TimeoutError`` when that is nothing, or not in time however it is spread."""
    client.settimeout(max(until - time.monotonic(), 0.001))
    piece = client.recv(1 << 16)
    if not piece:
        raise TimeoutError
    return piece


def _length(headers: Mapping[bytes, bytes]) -> int:
    """Only a length that is said: pieces of a length that each says itself are not needed by any agent."""
    told = headers.get(b"content-length", b"")
    if b"transfer-encoding" in headers or not told.isdigit() or len(told) > 9:
        raise Refused(411)
    if int(told) > _MOST_BODY:
        raise Refused(413)
    return int(told)


def _response(status: int, body: bytes, *, close: bool) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS[status]}", "Cache-Control: no-store", "X-Content-Type-Options: nosniff"]
    if status != 204:
        lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += ["Connection: close"] if close else []
    return "\r\n".join([*lines, "", ""]).encode() + (body if status != 204 else b"")


def _same_user(theirs: int, ours: int) -> bool:
    """Whether the other end belongs to this user. The token alone stands in files that others may be able to read."""
    if sys.platform != "linux":
        return True
    here = f"{int.from_bytes(socket.inet_aton(HOST), sys.byteorder):08X}"
    wanted = f" {here}:{theirs:04X} {here}:{ours:04X} "
    try:
        with open("/proc/self/net/tcp", encoding="ascii") as file:
            for line in file:
                if wanted in line:
                    return int(line.split()[7]) == os.geteuid()
    except (OSError, ValueError, IndexError):
        return False
    return False
