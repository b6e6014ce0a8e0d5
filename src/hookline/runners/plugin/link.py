"""The connection to one running plugin: requests out, answers back in any order, from many threads.

No reader thread delays an answer: one of the waiting callers leads and reads for all of them
(leader and followers), so a lone caller pays for one send and one receive.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from hookline.runners.base import Stop
from hookline.runners.frames import BadLine, LineBuffer, decode, encode, with_head
from hookline.runners.plugin.requests import PendingRequest, RequestTable
from hookline.runners.plugin.startup import Child, ExitStatus
from hookline.runners.plugin.watch import Patience

#: A caller watches the answer alone for so long, then the stop flag and the process too; one who must not wait stays
#: only so long (a few milliseconds where the kernel counts in those): less than it takes to have a thread wait instead.
_EAGER = 0.001
_CHUNK = 1 << 16
#: A message up to this size is sent whole or not at all.
_WHOLE = 1 << 14
_KINDS = frozenset({"hook_result", "message", "result", "error"})


class LinkDown(Exception):  # an outcome of a call
    """The plugin has ended, or was ended; the text says why."""


class LinkTimeout(Exception):  # an outcome of a call
    """No answer in time. A late one is dropped."""


class PluginLink:
    """One connection. Once ``down`` is set it stays down: a restart makes a new link."""

    __slots__ = (
        "_changed", "_followers", "_leading", "_lines", "_lock", "_on_down", "_on_message", "_patience", "_poll",
        "_requests", "_sending", "child", "down", "handshake", "name", "quick", "reason", "since", "sock",
    )  # fmt: skip

    def __init__(
        self,
        *,
        name: str,
        child: Child,
        sock: socket.socket,
        lines: LineBuffer,
        handshake: Mapping[str, Any],
        on_message: Callable[[str, Any], None],
        on_down: Callable[[PluginLink, ExitStatus], None],
    ) -> None:
        self.name = name
        self.child = child
        self.sock = sock
        self.handshake = handshake
        self.since = time.monotonic()
        self.down = ""
        self.reason = ""
        #: Its latest answer was quick, so the next one is worth waiting for.
        self.quick = False
        self._lines = lines
        self._on_message = on_message
        self._on_down = on_down
        self._requests = RequestTable()
        self._patience = Patience()
        self._leading = False
        self._followers = 0
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._sending = threading.Lock()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)
        # Blocking, with a short timeout: the leader's first read is then one cheap system call.
        sock.setblocking(True)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, int(_EAGER * 1_000_000)))

    # ── for callers ─────────────────────────────────────────────────────────────────────────

    def call(self, body: bytes, seconds: float | None, stop: Stop) -> PendingRequest:
        """Send a request and wait for its answer. Raises ``LinkDown`` or ``LinkTimeout``."""
        pending = PendingRequest(_deadline(seconds))
        self._request(body, pending.deadline, stop, pending)
        return self.wait(pending, stop)

    def wait(self, pending: PendingRequest, stop: Stop) -> PendingRequest:
        """Wait for the answer of a request that was sent. Raises as ``call`` does."""
        while True:
            turn = self._await_turn(pending, stop)
            if turn == "answered":
                return pending
            if turn == "late":
                self._count_silence()
                raise LinkTimeout
            try:
                self._lead(pending, stop)
            finally:
                self._hand_over()
            if pending.message is not None:
                return pending

    def ask_at_once(self, body: bytes, seconds: float | None) -> PendingRequest | None:
        """Send a request, for a caller that must not wait; None if it cannot be sent without waiting."""
        if len(body) > _WHOLE or not self._sending.acquire(blocking=False):
            return None
        try:
            pending = PendingRequest(_deadline(seconds))
            with self._lock:
                if self.down or self._requests:
                    return None
                number = self._requests.number(pending)
            try:
                self.sock.send(with_head(body, number), socket.MSG_DONTWAIT)
            except OSError:
                with self._lock:
                    self._requests.forget(number)
                return None
        finally:
            self._sending.release()
        return pending

    def glance(self, pending: PendingRequest) -> bool:
        """Whether the answer is there within a moment, for a caller that must not wait longer."""
        if not self._lead_at_once():
            return False
        try:
            self._read(0)
        finally:
            self._hand_over()
        return pending.message is not None

    def post(self, body: bytes, seconds: float, stop: Stop) -> None:
        """Send an event without waiting for an answer. Raises as ``call`` does."""
        self._request(body, time.monotonic() + seconds, stop, None)

    def take_held(self) -> None:
        """Handle messages that came together with the handshake."""
        if not self._lead_at_once():
            return
        try:
            for line in self._lines.feed(b""):
                self._take(line)
        finally:
            self._hand_over()

    def read_if_idle(self) -> bool:
        """Read what is there, unless a caller is already reading; then False."""
        if not self._lead_at_once():
            return bool(self.down)
        try:
            # Read the last messages before reporting that the process has ended.
            if self._poll.poll(0):
                self._read(socket.MSG_DONTWAIT)
            elif self.child.ended() is not None:
                self._gone()
        finally:
            self._hand_over()
        return True

    def terminate(self) -> None:
        """Ask it to end. Best effort: a plugin that does not read is killed anyway."""
        if not self.down and self._sending.acquire(timeout=0.1):
            with suppress(OSError):
                self.sock.send(encode({"type": "terminate"}), socket.MSG_DONTWAIT)
            self._sending.release()

    def bring_down(self, why: str, reason: str, grace: float = 0.0) -> None:
        """End the plugin and fail every caller. Only the first call acts."""
        with self._lock:
            if self.down:
                return
            self.down, self.reason = why, reason
            self._changed.notify_all()
        ended = self.child.end(grace)
        if not self.reason:
            self.reason = ended.reason
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)  # wakes a leader that is reading
        self.sock.close()
        self._on_down(self, ended)

    # ── taking turns: one leads and reads for all ────────────────────────────────────────────────────

    def _await_turn(self, pending: PendingRequest, stop: Stop) -> Literal["answered", "late", "lead"]:
        """Wait as a follower until the answer is there, the link is down, or nobody leads."""
        deadline = pending.deadline
        with self._lock:
            while self._leading and pending.message is None and not self.down and not stop.is_set():
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._followers += 1
                self._changed.wait(min(left, 0.05))
                self._followers -= 1
            if pending.message is not None:
                return "answered"
            if self.down:
                raise LinkDown(self.down)
            if stop.is_set():
                self._requests.abandon(pending)
                raise LinkDown("stopped")
            if time.monotonic() >= deadline:
                self._requests.abandon(pending)
                return "late"
            self._leading = True
            return "lead"

    def _lead_at_once(self) -> bool:
        """Lead without waiting for a turn. False: a caller leads, or the link is down."""
        with self._lock:
            if self._leading or self.down:
                return False
            self._leading = True
            return True

    def _hand_over(self) -> None:
        with self._lock:
            self._leading = False
            if self._followers:
                self._changed.notify_all()

    # ── sending ──────────────────────────────────────────────────────────────────────────────────────

    def _request(self, body: bytes, deadline: float, stop: Stop, pending: PendingRequest | None) -> None:
        """Number and send under one lock: an answer without an id belongs to the oldest request *sent*."""
        sending = self._sending
        if not sending.acquire(blocking=False) and not sending.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise LinkTimeout
        try:
            with self._lock:
                if self.down:
                    raise LinkDown(self.down)
                number = self._requests.number(pending)
            self._send(with_head(body, number), deadline, stop, number)
        finally:
            sending.release()

    def _send(self, frame: bytes, deadline: float, stop: Stop, number: int) -> None:
        """Send all of it. Half a message would corrupt the stream, so a plugin that stops reading is ended."""
        view: bytes | memoryview = frame
        while True:
            try:
                sent = self.sock.send(view, socket.MSG_DONTWAIT)
                if sent == len(view):
                    return
                view = memoryview(view)[sent:]
            except BlockingIOError:
                pass
            except OSError:
                self._gone()
            if self.down:
                raise LinkDown(self.down)
            if stop.is_set() or time.monotonic() >= deadline:
                with self._lock:
                    self._requests.forget(number)
                if len(view) < len(frame):
                    self.bring_down("it stopped reading in the middle of a message", "terminate")
                    raise LinkDown(self.down)
                self._count_silence()
                raise LinkTimeout
            self._until_writable()

    def _until_writable(self) -> None:
        """Read meanwhile: the plugin may itself be blocked writing to us."""
        self.read_if_idle()
        if not self.down:
            poll = select.poll()
            poll.register(self.sock, select.POLLOUT)
            poll.poll(10)

    # ── reading: by the leader only ──────────────────────────────────────────────────────────────────

    def _lead(self, pending: PendingRequest, stop: Stop) -> None:
        """Wait for the answer alone at first, in one system call; then also for the stop flag and the process."""
        deadline = pending.deadline
        if deadline - time.monotonic() > _EAGER:
            self._read(0)
        poll: select.poll | None = None
        while pending.message is None and not self.down and not stop.is_set():
            left = deadline - time.monotonic()
            if left <= 0:
                return
            poll = poll or self._watchful(stop)
            ready = [fd for fd, _ in poll.poll(max(1, int(min(left, 0.5) * 1000 + 0.999)))]
            if self.sock.fileno() in ready:
                self._read(socket.MSG_DONTWAIT)
            elif self.child.ended() is not None:
                self._gone()

    def _watchful(self, stop: Stop) -> select.poll:
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        poll.register(stop.fileno(), select.POLLIN)
        if self.child.pidfd >= 0:
            poll.register(self.child.pidfd, select.POLLIN)
        return poll

    def _read(self, flags: int) -> None:
        try:
            chunk = self.sock.recv(_CHUNK, flags)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._gone()
            return
        for line in self._lines.feed(chunk):
            self._take(line)
            if self.down:
                return

    def _take(self, line: bytes | None) -> None:
        try:
            if line is None:
                raise BadLine("a line over 1 MiB")
            text = line.decode(errors="replace")
            message = decode(text)
            kind = message.get("type", "hook_result")
            if kind not in _KINDS:
                raise BadLine(f"a message of the unknown type {kind!r:.80}")
        except BadLine as bad:
            if why := self._patience.after_nonsense(bad):
                self.bring_down(why, "terminate")
            return
        if kind == "message":
            if why := self._patience.after_message(time.monotonic()):
                self.bring_down(why, "terminate")
            else:
                self._on_message(self.name, message.get("data"))
            return
        self._patience.renew()
        if kind == "hook_result":
            self._answer(message, text)

    def _answer(self, message: dict[str, Any], text: str) -> None:
        with self._lock:
            if self._requests.answer(message, text) and self._followers:
                self._changed.notify_all()

    # ── ends ─────────────────────────────────────────────────────────────────────────────────────────

    def _count_silence(self) -> None:
        if why := self._patience.after_silence(time.monotonic()):
            self.bring_down(why, "terminate")

    def _gone(self) -> None:
        """The connection is closed, or the process has ended and left a child with the connection."""
        ended = self.child.wait(time.monotonic() + 0.05)
        if ended is None:
            self.bring_down("it closed its connection", "crash")
        else:
            self.bring_down(f"it ended ({ended})", ended.reason)


def _deadline(seconds: float | None) -> float:
    return time.monotonic() + (3600.0 if seconds is None else seconds)
