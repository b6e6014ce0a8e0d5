"""A real broker for tests: nats-server on loopback, from the configuration that hookline fleet init writes."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from tests.patience import eventually

from hookline.fleet import authority as authorities
from hookline.fleet.authority import Authority
from hookline.fleet.credentials import Credentials, parse_credentials
from hookline.fleet.subjects import Role

needs_broker = pytest.mark.skipif(
    shutil.which("nats-server") is None, reason="nats-server is not installed: make broker"
)


def free_ports(count: int) -> list[int]:
    """Each with the port for routes beside it free too."""
    found: list[int] = []
    while len(found) < count:
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            one, two = (stack.enter_context(socket.socket()) for _ in range(2))
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            if port < 60_000 and port not in found:
                two.bind(("127.0.0.1", port + 2000))
                found.append(port)
    return found


class Broker:
    """One server, or a cluster of them; each can be killed and started again."""

    def __init__(
        self, base: Path, size: int = 1, teams: tuple[str, ...] = ("team",), servers: Sequence[str] = ()
    ) -> None:
        self.folder = str(base / "fleet")
        servers = servers or [f"127.0.0.1:{port}" for port in free_ports(size)]
        self.authority: Authority = authorities.init(self.folder, servers, teams)
        #: What starts each server, where that is not just its program.
        self.prefixes: list[list[str]] = [[] for _ in servers]
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, at: int = 0) -> None:
        place = Path(self.folder) / "server"
        with (place / f"log-{at + 1}").open("ab") as log:
            words = [*self.prefixes[at], "nats-server", "-c", f"nats-{at + 1}.conf"]
            self.processes[at] = subprocess.Popen(words, cwd=place, stdout=log, stderr=log)
        host, _, port = self.authority.servers[at].rpartition(":")
        assert eventually(lambda: _listens(host, int(port))), (place / f"log-{at + 1}").read_text()

    def start_all(self) -> None:
        for at in range(len(self.authority.servers)):
            self.start(at)

    def kill(self, at: int = 0) -> None:
        self.processes[at].send_signal(signal.SIGKILL)
        self.processes[at].wait()

    def stop(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def issue(self, name: str, *, role: Role = "machine", group: str = "all", team: str = "team") -> Credentials:
        self.authority, text = authorities.add(self.authority, team, role, name, group)
        return parse_credentials(text, name)

    def admin(self, team: str = "team") -> Credentials:
        return authorities.admin_credentials(self.authority, team)


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), 1):
        return True
    return False


@contextlib.contextmanager
def running(base: Path, size: int = 1, teams: tuple[str, ...] = ("team",)) -> Generator[Broker]:
    broker = Broker(base, size, teams)
    try:
        broker.start_all()
        yield broker
    finally:
        broker.stop()
