"""What every runner promises, kept by the one that speaks HTTP."""

from __future__ import annotations

import socket
import threading

import pytest
from tests.patience import eventually

from hookline.core.hook import Http
from hookline.runners.http import HttpRunner
from hookline.testing import check_runner


@pytest.fixture
def speechless():
    """A server that takes connections and says nothing, and one that says the least that is an answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as brief:
        thread = threading.Thread(target=_answer_briefly, args=(brief,), daemon=True)
        thread.start()
        yield silent.getsockname()[1], brief.getsockname()[1]
        thread.join(60)


def _answer_briefly(server):
    connection, _ = server.accept()
    with connection:
        received = b""
        while not received.endswith(b"{}"):
            received += connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def test_the_http_runner_keeps_what_every_runner_promises(speechless, job_for):
    silent, brief = speechless
    before = set(threading.enumerate())  # other tests of this process may have left some

    def requests_under_way():
        def found():
            return [
                thread for thread in threading.enumerate() if thread.name == "hookline-http" and thread not in before
            ]

        eventually(lambda: not found(), 20)
        return found()

    def job(kind):
        port = brief if kind == "good" else silent
        url = "http://example.com/" if kind == "bad" else f"http://127.0.0.1:{port}/"
        return job_for(Http(url=url), timeout=0.2 if kind == "endless" else 60.0, stdin=b"{}")

    check_runner(HttpRunner, job, leftovers=requests_under_way)
