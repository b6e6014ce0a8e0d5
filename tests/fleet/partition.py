"""A cluster whose servers are cut off from one another, and whose disk fills up: `python -m tests.fleet.partition [CUTS]`.

Every server has a network namespace of its own; the whole runs in a namespace too (it starts itself again under unshare), so
nothing of the machine's network is touched. Needs root.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from tests.fleet.broker import Broker
from tests.fleet.faults import Machine, Sink, _ready, keep_alive
from tests.patience import eventually

_INSIDE = "HOOKLINE_PARTITION"


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _apart(pid: int, namespace: str) -> bool:
    return os.readlink(f"/proc/{pid}/ns/net") != namespace


def _network(size: int) -> list[subprocess.Popen[bytes]]:
    """A bridge, and a namespace for each server, kept by a process that sleeps."""
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "link", "add", "br0", "type", "bridge")
    _run("ip", "addr", "add", "10.77.0.254/24", "dev", "br0")
    _run("ip", "link", "set", "br0", "up")
    keepers = [subprocess.Popen(["unshare", "-n", "sleep", "100000"]) for _ in range(size)]
    for at, keeper in enumerate(keepers, 1):
        eventually(partial(_apart, keeper.pid, os.readlink("/proc/self/ns/net")))
        _run("ip", "link", "add", f"v{at}", "type", "veth", "peer", "name", f"p{at}")
        _run("ip", "link", "set", f"v{at}", "master", "br0", "up")
        _run("ip", "link", "set", f"p{at}", "netns", str(keeper.pid))
        inside = ("nsenter", "-t", str(keeper.pid), "-n", "ip")
        _run(*inside, "addr", "add", f"10.77.0.{at}/24", "dev", f"p{at}")
        _run(*inside, "link", "set", f"p{at}", "up")
    return keepers


def run(base: Path, cuts: int, seed: int) -> dict[str, int]:
    """Raises AssertionError if a record was lost or doubled."""
    draw, keepers = random.Random(seed), _network(3)
    broker = Broker(base, servers=[f"10.77.0.{at}:4222" for at in (1, 2, 3)])
    broker.prefixes = [["nsenter", "-t", str(one.pid), "-n"] for one in keepers]
    disk = Path(broker.folder) / "server/data-1"
    disk.mkdir()
    _run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk))
    machines, sink = [Machine(base, broker, f"m{at}") for at in range(3)], Sink(base, broker)
    try:
        broker.start_all()
        assert eventually(lambda: _ready(broker))
        keep_alive(*machines, sink)
        for at in range(cuts):
            cut = [str(one) for one in draw.sample((1, 2, 3), draw.choice((1, 1, 2, 3)))]
            for one in cut:
                _run("ip", "link", "set", f"v{one}", "down")
            draw.choice(machines).write(draw.randint(1, 20))
            time.sleep(draw.uniform(0.5, 6))
            for one in cut:
                _run("ip", "link", "set", f"v{one}", "up")
            if at == cuts // 2:
                _fill(disk)
                machines[0].write(200)
                time.sleep(5)
                (disk / "filler").unlink()
                broker.kill(0)  # a server whose disk was full gives JetStream up until it is started again
                broker.start(0)
            keep_alive(*machines, sink)
            time.sleep(draw.uniform(0, 2))
        wanted = Counter(one for machine in machines for one in machine.written)

        def complete() -> bool:
            keep_alive(*machines, sink)
            time.sleep(0.5)
            return sum(sink.ids().values()) >= wanted.total()

        eventually(complete, 300)
        found = sink.ids()
        assert found == wanted, f"lost {list(wanted - found)[:9]}, doubled {list(found - wanted)[:9]} (seed {seed})"
        return {"cuts": cuts, "records": found.total()}
    finally:
        for machine in machines:
            machine.kill()
        sink.kill()
        broker.stop()
        for keeper in keepers:
            keeper.kill()
            keeper.wait()
        _run("umount", "-l", str(disk))


def _fill(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "filler").open("wb") as file:
        while True:
            file.write(b"x" * 65_536)
            file.flush()


if __name__ == "__main__":
    if _INSIDE not in os.environ:
        words = ["unshare", "-n", "-m", sys.executable, "-u", "-m", "tests.fleet.partition", *sys.argv[1:]]
        sys.exit(subprocess.run(words, env={**os.environ, _INSIDE: "1"}, check=False).returncode)
    chosen = int(time.time())
    with tempfile.TemporaryDirectory() as folder:
        result = run(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else 20, chosen)
        sys.stdout.write(f"{result} seed {chosen}\n")
