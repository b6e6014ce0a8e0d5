"""The fleet under faults: `python -m tests.fleet.faults [KILLS]`, or `make fleet`.

Three real servers, links and a sink as real processes. Servers, links and the sink are killed with SIGKILL at random points,
a server is frozen, and its disk fills up. At the end every record that was written must be in the sink once.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fleet.broker import Broker
from tests.patience import eventually

from hookline.core.settings import RecordSettings
from hookline.fleet.connection import connected
from hookline.fleet.streams import ensure_team
from hookline.state.record.store import store_in

_COLUMNS = 23


class Machine:
    """A machine with a record of its own, and a link as a process."""

    def __init__(self, base: Path, broker: Broker, name: str, send: str = "all") -> None:
        self.home, self.name = base / name, name
        self.folder = self.home / ".config/hookline/fleet"
        self.folder.mkdir(parents=True)
        (self.folder / "machine.creds").write_text(broker.issue(name).text)
        self.store = store_in(str(self.home / ".local/state/hookline"), RecordSettings())
        self.written: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None
        (self.folder / "sources").mkdir()
        mark = {"number": 0, "sequence": 0, "sent": 0, "dropped": 0}  # from the first record on
        (self.folder / "sources" / f"u{os.geteuid()}.json").write_text(json.dumps(mark))

    def write(self, count: int = 1) -> None:
        ids = [f"{self.name}-{len(self.written) + at}" for at in range(count)]

        def insert(connection: Any) -> None:
            for one in ids:
                row = (
                    one,
                    time.time(),
                    "s",
                    0,
                    "claude",
                    "PreToolUse",
                    "PreToolUse",
                    "/",
                    "deny",
                    0,
                    "no",
                    None,
                    0,
                    1.0,
                    1,
                    "{}",
                )
                connection.execute(
                    f"INSERT INTO firings VALUES (NULL{', ?' * _COLUMNS})", (*row, *[None] * (_COLUMNS - len(row)))
                )

        failed: list[BaseException] = []
        self.store.use(insert, failed.append)
        assert not failed, failed
        self.written += ids

    def start(self) -> None:
        environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hookline", "fleet", "link"], env=environ, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Sink:
    def __init__(self, base: Path, broker: Broker) -> None:
        self.folder, self.creds = base / "out", base / "sink.creds"
        self.creds.write_text(broker.issue("sink", role="sink").text)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [sys.executable, "-m", "hookline", "fleet", "sink", "--to", "parquet", str(self.folder)]
        self.process = subprocess.Popen([*words, "--credentials", str(self.creds)], stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def ids(self) -> Counter[str]:
        import pyarrow.parquet

        found: Counter[str] = Counter()
        for file in self.folder.glob("*.parquet"):
            found.update(pyarrow.parquet.read_table(file, columns=["id"]).column("id").to_pylist())
        return found


def keep_alive(*some: Machine | Sink) -> None:
    """A sink that finds no broker ends with an error; its supervisor starts it again."""
    for one in some:
        if one.process is None or one.process.poll() is not None:
            one.start()


def run(base: Path, kills: int, seed: int, size: int = 3, say: Callable[[str], None] = print) -> dict[str, int]:
    """Raises AssertionError if a record was lost or doubled."""
    draw, broker = random.Random(seed), Broker(base, size)
    machines, sink = [Machine(base, broker, f"m{at}") for at in range(3)], Sink(base, broker)
    counts: Counter[str] = Counter()
    frozen: int | None = None
    try:
        broker.start_all()
        eventually(lambda: _ready(broker))
        keep_alive(*machines, sink)
        for at in range(kills):
            draw.choice(machines).write(draw.randint(1, 20))
            what = draw.choice(["server", "link", "sink", "freeze"] if size > 1 else ["server", "link", "sink"])
            counts[what] += 1
            if frozen is not None:
                broker.processes[frozen].send_signal(signal.SIGCONT)
                frozen = None
            if what == "server":
                node = draw.randrange(size)
                broker.kill(node)
                time.sleep(draw.uniform(0, 0.3))
                broker.start(node)
            elif what == "freeze":
                frozen = draw.randrange(size)
                broker.processes[frozen].send_signal(signal.SIGSTOP)
            else:
                chosen = draw.choice(machines) if what == "link" else sink
                chosen.kill()
                chosen.start()
            keep_alive(*machines, sink)
            time.sleep(draw.uniform(0, 0.8))
            if at % 50 == 49:
                say(f"{at + 1} faults, {sum(len(one.written) for one in machines)} records written")
        if frozen is not None:
            broker.processes[frozen].send_signal(signal.SIGCONT)
        wanted = Counter(one for machine in machines for one in machine.written)

        def complete() -> bool:
            keep_alive(*machines, sink)
            time.sleep(0.5)
            return sum(sink.ids().values()) >= wanted.total()

        eventually(complete, 240)
        found = sink.ids()
        assert found == wanted, f"lost {list(wanted - found)[:9]}, doubled {list(found - wanted)[:9]} (seed {seed})"
        return {**counts, "records": found.total()}
    finally:
        for one in machines:
            one.kill()
        sink.kill()
        broker.stop()


def _ready(broker: Broker) -> bool:
    async def make() -> None:
        async with connected(broker.admin()) as client:
            await ensure_team(client.jetstream(timeout=10), broker.authority.replicas)

    try:
        asyncio.run(make())
    except Exception:
        return False
    return True


if __name__ == "__main__":
    chosen = int(time.time())
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(f"{run(Path(folder), int(sys.argv[1]) if len(sys.argv) > 1 else 300, chosen)} seed {chosen}\n")
