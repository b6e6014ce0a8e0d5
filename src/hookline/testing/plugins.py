"""A conformance check for plugins: start it, shake hands, fire every hook it registers, stop it.

    from hookline.testing.plugins import check_plugin
    check_plugin("plugins/guard", {"process.pre_spawn": [{"command": "rm", "args": ["-rf", "/"]}]})

The plugin may be in any language; it is started as hookline starts it. ``AssertionError`` says in one line what is wrong.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.core.event import EVENTS
from hookline.core.paths import short_tmp
from hookline.core.samples import sample
from hookline.dialects.lash.entry import TYPES, canonical_key
from hookline.testing.conformance import expect

#: Seconds to start and open its socket, to answer, and to exit after a terminate message.
_START, _ANSWER, _END = 20.0, 10.0, 10.0
_LONGEST = 1 << 20
_ACTIONS = frozenset({"allow", "deny", "modify"})


class _Connection:
    """A started plugin with an open socket."""

    def __init__(self, words: Sequence[str], folder: str) -> None:
        path = os.path.join(folder, "socket")
        self.process = subprocess.Popen([*words, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._rest = b""
        try:
            self._sock = _connect(path, self.process)
        except AssertionError:
            self.process.kill()
            self.process.wait()
            raise

    def send(self, message: Mapping[str, Any]) -> None:
        self._sock.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float) -> dict[str, Any]:
        """The next message."""
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            expect(left > 0 and bool(select.select([self._sock], [], [], left)[0]), f"no answer within {seconds:g} s")
            chunk = self._sock.recv(1 << 16)
            expect(bool(chunk), "the plugin closed its socket")
            self._rest += chunk
            expect(len(self._rest) <= _LONGEST, "a line of more than 1 MiB")
        line, self._rest = self._rest.split(b"\n", 1)
        return _object(line)

    def close(self) -> None:
        self._sock.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def check_plugin(
    words: str | Sequence[str], events: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> dict[str, Any]:
    """``words`` is the plugin, or the program that runs it and the plugin. ``events`` are further data to fire, by
    event. Returns the plugin's handshake."""
    given = [words] if isinstance(words, str) else list(words)
    with tempfile.TemporaryDirectory(prefix="hl-", dir=short_tmp()) as folder:
        talk = _Connection(given, folder)
        try:
            hello = _check_handshake(talk)
            _check_answers(talk, hello, events or {})
            _check_end(talk)
        finally:
            talk.close()
    return hello


def _check_handshake(talk: _Connection) -> dict[str, Any]:
    talk.send({"type": "handshake", "version": "1.0"})
    hello = talk.receive(_START)
    expect(hello.get("type") == "handshake_ok", f"answered the handshake with type {hello.get('type')!r}")
    for entry in hello.get("hook_config", []):
        name = entry.get("event")
        expect(name in EVENTS, f"hook_config names the unknown event {name!r}")
        expect(entry.get("mode", "blocking") in TYPES, f"bad mode {entry.get('mode')!r} on {name}")
        for key in entry.get("keys", []):
            expect(canonical_key(key) is not None, f"bad key {key!r} on {name}")
    for name in hello.get("hooks", []):
        expect(name in EVENTS, f"hooks names the unknown event {name!r}")
    expect(bool(list(_registrations(hello))), "it registered no hook")
    return hello


def _check_answers(
    talk: _Connection, hello: Mapping[str, Any], events: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Every waiting hook answers with its request's id; two requests at once get two answers."""
    number = 0
    for name, mode in _registrations(hello):
        for data in [sample(name), *events.get(name, ())]:
            sent = [number + 1, number + 2]
            number += 2
            for one in sent:
                talk.send(_hook(name, one, data))
            if mode not in {"observe", "fire_and_forget"}:
                answered = sorted(_check_answer(talk.receive(_ANSWER), name) for _ in sent)
                expect(answered == sent, f"{name}: sent {sent}, answered {answered}")


def _check_end(talk: _Connection) -> None:
    talk.send({"type": "terminate"})
    try:
        talk.process.wait(_END)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"it did not exit within {_END:g} s after terminate") from None


def _check_answer(answer: Mapping[str, Any], name: str) -> int:
    expect(answer.get("type") == "hook_result", f"{name}: answered with type {answer.get('type')!r}")
    expect(answer.get("action") in _ACTIONS, f"{name}: answered with action {answer.get('action')!r}")
    expect(isinstance(answer.get("data", {}), dict), f"{name}: data is not an object")
    expect(isinstance(answer.get("reason", ""), str), f"{name}: reason is not a string")
    expect(isinstance(answer.get("id"), int), f"{name}: answered without the id")
    return int(answer["id"])


def _hook(name: str, number: int, data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "hook", "id": number, "event": name, "timestamp": "2026-01-01T00:00:00Z", "session_id": "check",
        "role": "user", "data": data,
    }  # fmt: skip


def _registrations(hello: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    config = [(str(entry.get("event")), str(entry.get("mode", "blocking"))) for entry in hello.get("hook_config", [])]
    yield from config
    yield from ((name, "blocking") for name in hello.get("hooks", []) if name not in dict(config))


def _connect(path: str, process: subprocess.Popen[bytes]) -> socket.socket:
    until = time.monotonic() + _START
    while True:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(path)
        except OSError:
            sock.close()
            expect(process.poll() is None, f"it ended with {process.returncode} before it opened its socket")
            expect(time.monotonic() < until, f"it opened no socket within {_START:g} s")
            time.sleep(0.01)
        else:
            return sock


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        raise AssertionError(f"a line is not JSON: {line[:80]!r}") from None
    expect(isinstance(value, dict), f"a line is not a JSON object: {line[:80]!r}")
    return dict(value)
