"""The fleet under faults: `python -m tests.fleet.faults [KILLS]`, or `make fleet`.

Three real servers, links and a sink as real processes, and a machine with its own daemon that decides and holds the link. All
of them are killed with SIGKILL at random points, a server or the sink is frozen for a while, and the clocks of two machines
are an hour off. At the end every record that was written must be in the sink once. tests/fleet/partition.py has the network
and full disks.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fleet.broker import Broker
from tests.patience import eventually

from hookline.core.settings import RecordSettings
from hookline.fleet.connection import connection
from hookline.fleet.streams import ensure_team
from hookline.state.record.store import store_in

_COLUMNS = 23


class Machine:
    """A machine with a record of its own, and a link as a process."""

    def __init__(self, base: Path, broker: Broker, name: str, clock: str = "") -> None:
        self.home, self.name = base / name, name
        self._clock = ["faketime", "-f", clock] if clock and shutil.which("faketime") else []
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

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def start(self) -> None:
        words = [*self._clock, sys.executable, "-m", "hookline", "fleet", "link"]
        self.process = subprocess.Popen(
            words, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def kill(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Guarded(Machine):
    """A machine whose daemon decides, records and starts the link."""

    def __init__(self, base: Path, broker: Broker, name: str) -> None:
        super().__init__(base, broker, name)
        config = self.home / ".config/hookline/hookline.toml"
        config.write_text('[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "echo no >&2; exit 2"\n')
        self.refused = 0

    def write(self, count: int = 1) -> None:
        data = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/"}
        payload = json.dumps({**data, "tool_input": {"command": "ls"}})
        words = [sys.executable, "-m", "hookline", "hook", "--agent", "claude-code"]
        for _ in range(min(count, 4)):
            done = subprocess.run(words, input=payload, env=self.environ, capture_output=True, text=True, check=False)
            assert '"deny"' in done.stdout or done.returncode == 2, (done.stdout, done.stderr)
            self.refused += 1

    def start(self) -> None:
        words = [sys.executable, "-m", "hookline", "daemon", "run"]
        self.process = subprocess.Popen(words, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        """The daemon alone: its link ends by itself."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def collect(self) -> None:
        """What was recorded, whoever of client and daemon did it: a daemon's journal reaches the store a moment later."""

        def read() -> bool:
            self.written = [row[0] for row in self.store.read("SELECT id FROM firings WHERE effect = 'deny'")]
            return len(self.written) >= self.refused

        eventually(read, 30)
        assert len(self.written) >= self.refused, f"{self.refused} refused, {len(self.written)} recorded"


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
    guarded, sink = Guarded(base, broker, "g"), Sink(base, broker)
    machines = [
        Machine(base, broker, "m0"),
        Machine(base, broker, "m1", "+1h"),
        Machine(base, broker, "m2", "-1h"),
        guarded,
    ]
    counts: Counter[str] = Counter()
    frozen: subprocess.Popen[bytes] | None = None
    try:
        broker.start_all()
        eventually(lambda: _ready(broker))
        keep_alive(*machines, sink)
        for at in range(kills):
            draw.choice(machines).write(draw.randint(1, 20))
            what = draw.choice(["server", "link", "daemon", "sink", "slow sink", *(["freeze"] if size > 1 else [])])
            counts[what] += 1
            if frozen is not None:
                frozen.send_signal(signal.SIGCONT)
                frozen = None
            if what == "server":
                node = draw.randrange(size)
                broker.kill(node)
                time.sleep(draw.uniform(0, 0.3))
                broker.start(node)
            elif what in {"freeze", "slow sink"}:
                frozen = broker.processes[draw.randrange(size)] if what == "freeze" else sink.process
                assert frozen is not None
                frozen.send_signal(signal.SIGSTOP)
            else:
                some: dict[str, Machine | Sink] = {"link": draw.choice(machines[:3]), "daemon": guarded, "sink": sink}
                some[what].kill()
                some[what].start()
            keep_alive(*machines, sink)
            time.sleep(draw.uniform(0, 0.8))
            if at % 50 == 49:
                say(f"{at + 1} faults, {sum(len(one.written) for one in machines)} records written")
        if frozen is not None:
            frozen.send_signal(signal.SIGCONT)
        guarded.collect()
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
        async with connection(broker.admin()) as client:
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
