"""Who leads is never missed for long."""

from __future__ import annotations

import socket
import sys
import tempfile
import threading
from typing import TYPE_CHECKING

import pytest

import hookline
from hookline.daemon import server
from hookline.daemon.protocol import Caller, DaemonRequest, pack_request
from hookline.daemon.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator


class Running:
    def __init__(self, path: str) -> None:
        self.path = path
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.listen(8)
        listening.setblocking(False)
        self.server = Server(listening)
        self._thread = threading.Thread(target=self.server.run)

    def start(self) -> None:
        self._thread.start()

    def ask(self) -> bytes:
        """What is said to a client that has time; nothing if it is hung up on."""
        caller = Caller(version=hookline.__version__, kind="status", cwd="/", environ={})
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(45)
            sock.connect(self.path)
            try:
                sock.sendall(pack_request(DaemonRequest(caller=caller)))
                return b"".join(iter(lambda: sock.recv(65536), b""))
            except (BrokenPipeError, ConnectionResetError):
                return b""

    def end(self) -> None:
        self.server.end()
        self._thread.join(60)


@pytest.fixture
def running() -> Iterator[Running]:
    with tempfile.TemporaryDirectory(prefix="hkl-", dir="/tmp") as folder:
        one = Running(f"{folder}/s")
        yield one
        one.end()


def test_a_leader_who_tidies_up_for_long_is_replaced(running: Running):
    begun, over = threading.Event(), threading.Event()

    def tidy() -> None:
        begun.set()
        over.wait(90)

    running.server.service.tidy = tidy
    running.start()
    try:
        first = running.ask()
        begun.wait(60)
        second = running.ask()
    finally:
        over.set()

    assert (first[:1], second[:1]) == (b"R", b"R")


def test_who_comes_when_there_is_no_room_does_without_us_and_the_silent_make_room(
    running: Running, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server, "_HURRY", 0.0)
    running.start()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.settimeout(60)
        silent.connect(running.path)
        before = running.ask()
        running.server.full = 0
        refused = running.ask()
        hung_up = silent.recv(1)
    running.server.full = sys.maxsize

    assert (before[:1], refused[:1], hung_up, running.ask()[:1]) == (b"R", b"", b"", b"R")
