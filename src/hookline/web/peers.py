"""Which process is at the other end of a loopback connection, and whether an agent started it. From /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain

from hookline.core.agent_processes import find_agent_at

#: Connections whose process is remembered.
_KNOWN = 512


class Peers:
    """Remembers what was found for each socket, and who held the latest: looking at every process takes long."""

    def __init__(self) -> None:
        self._agents: dict[str, str] = {}
        #: Processes that held a socket of ours, the latest first: a browser opens several connections.
        self._recent: list[int] = []

    def refusal(self, peer_port: int, own_port: int) -> str:
        """Why the process at ``peer_port`` may not connect; "" if it may, or the system does not say who it is."""
        socket = _find_socket(peer_port, own_port)
        if socket is None:
            return ""
        inode, user = socket
        if user not in {os.geteuid(), 0}:
            return "another user"
        if inode == "0":
            return "a process that has ended"
        if inode not in self._agents:
            if len(self._agents) > _KNOWN:
                self._agents.clear()
            found = self._agent_holding(inode)
            if found is None:  # asked again next time
                return ""
            self._agents[inode] = found
        return self._agents[inode]

    def _agent_holding(self, inode: str) -> str | None:
        """None if the system does not show who has it: a process in a sandbox hides that, and browsers are such."""
        holder = next(_holders(inode, self._recent), None)
        if holder is None:
            return None
        self._recent = [holder, *(pid for pid in self._recent if pid != holder)][:4]
        return find_agent_at(holder)


def _find_socket(peer_port: int, own_port: int) -> tuple[str, int] | None:
    """Inode and user of the other end of a connection to us."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii", errors="replace") as file:
                for line in file:
                    words = line.split()
                    if len(words) > 9 and _port(words[1]) == peer_port and _port(words[2]) == own_port:
                        return words[9], int(words[7])
        except (OSError, ValueError):
            continue
    return None


def _port(address: str) -> int:
    try:
        return int(address.rpartition(":")[2], 16)
    except ValueError:
        return -1


def _holders(inode: str, likely: Sequence[int]) -> Iterator[int]:
    """The processes that have the socket open, as far as we may look: the likely ones, then the youngest, first."""
    wanted = f"socket:[{inode}]"
    for name in chain(likely, _processes()):
        folder = f"/proc/{name}/fd"
        try:
            if any(os.readlink(f"{folder}/{handle}") == wanted for handle in os.listdir(folder)):
                yield name
        except OSError:
            continue


def _processes() -> Iterator[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    yield from sorted(map(int, filter(str.isdigit, names)), reverse=True)
