"""The bare round trip that a plugin call is measured against: one line out, one line back, nothing else."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
ECHO = HERE / "echo_plugin.py"


@contextlib.contextmanager
def bare_round_trip(program: Path = ECHO) -> Iterator[Callable[[bytes], bytes]]:
    """A function that sends one line to the plugin and gives the line it answers with."""
    with tempfile.TemporaryDirectory(prefix="hl") as room:
        path = f"{room}/s"
        with subprocess.Popen([sys.executable, "-SE", program, path]) as process, _connected(path) as connection:
            connection.sendall(b'{"type":"handshake","version":"1.0"}\n')
            connection.recv(65536)

            def ask(line: bytes) -> bytes:
                connection.sendall(line)
                return connection.recv(65536)

            yield ask
            connection.sendall(b'{"type":"terminate"}\n')
            process.wait(60)


def _connected(path: str) -> socket.socket:
    until = time.monotonic() + 60
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            if time.monotonic() > until:
                raise
            time.sleep(0.005)
        else:
            return connection
