"""1,000 machines on one broker: python -m tools.fleet_load [MACHINES] [RATE:SECONDS …]

Connections with real credentials, in one process; the sink is a process of its own, as people start it. Prints the broker's
memory, the rate of the sink, and how long a record takes from its machine until its Parquet file is complete.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyarrow import parquet
from tests.fleet.broker import Broker, running
from tests.fleet.faults import Sink, _ready

from hookline.fleet.connection import close, connect, connection
from hookline.fleet.manifest import Records
from hookline.fleet.records import Batch, Shipper
from hookline.fleet.streams import ensure_team


class Files:
    """What the sink has written so far: how old each record was when its file was complete."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._seen, self.delays = folder, set[str](), list[float]()

    def look(self) -> int:
        for path in self._folder.glob("*.parquet"):
            if path.name not in self._seen:
                self._seen.add(path.name)
                complete = path.stat().st_mtime
                times = parquet.read_table(path, columns=["time"]).column("time").to_pylist()
                self.delays += [complete - one for one in times]
        return len(self.delays)


class Journal:
    """The record of a simulated machine."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, dict[str, Any]]] = []
        self.count = 0

    def add(self, name: str) -> None:
        self.count += 1
        record = {"id": f"{name}-{self.count}", "time": time.time(), "event": "PreToolUse", "agent": "claude", "effect": "deny",
                  "session": "s", "reason": "no " * 20, "outcomes": [], "ms": 1.0}  # fmt: skip
        self.rows.append((self.count, record))

    async def read(self, after: int, most: int) -> Batch:
        self.rows = [one for one in self.rows if one[0] > after]
        return Batch(newest=self.count, rows=self.rows[:most])


async def machine(broker: Any, name: str, place: str, wake: asyncio.Event, journal: Journal) -> None:
    client = await connect(broker.issued[name], stay=True)
    shipper = Shipper(client.jetstream(timeout=30), name, "u0", journal.read, place)
    try:
        while True:
            if not await shipper.step(Records(send="all")):
                wake.clear()
                await wake.wait()
    finally:
        await close(client)


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def measure(broker: Any, base: Path, marks: Path, names: Sequence[str], loads: Sequence[tuple[int, int]]) -> None:
    async with connection(broker.admin()) as client:
        await ensure_team(client.jetstream(), 1)
    for name in names:
        (marks / name).write_text(json.dumps({"number": 0, "sequence": 0, "sent": 0, "dropped": 0}))
    journals, events = [Journal() for _ in names], [asyncio.Event() for _ in names]
    started, tasks = time.monotonic(), []
    for name, wake, journal in zip(names, events, journals, strict=True):
        tasks.append(asyncio.create_task(machine(broker, name, str(marks / name), wake, journal)))
        await asyncio.sleep(0.005)
    memory = resident_mb(broker.processes[0].pid)
    print(f"{len(names)} machines connected in {time.monotonic() - started:.1f} s; broker {memory:.0f} MB")
    for rate, seconds in loads:
        files = Files(base / "out")
        files.look()  # what came before
        files.delays.clear()
        begin, made = time.monotonic(), 0
        while (passed := time.monotonic() - begin) < seconds:
            while made < passed * rate:
                at = made * 7919 % len(names)
                journals[at].add(names[at])
                events[at].set()
                made += 1
            await asyncio.sleep(0.01)
        while files.look() < made and time.monotonic() - begin < seconds * 3 + 60:  # noqa: ASYNC110  files tell nobody
            await asyncio.sleep(0.1)
        took, delays = time.monotonic() - begin, sorted(files.delays)
        p50, p99 = (delays[int(len(delays) * part)] for part in (0.5, 0.99))
        print(
            f"{rate}/s for {seconds} s: {len(delays)} of {made} in the sink after {took:.1f} s ({len(delays) / took:.0f}/s),"
            f" delay median {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, longest {delays[-1] * 1000:.0f} ms;"
            f" broker {resident_mb(broker.processes[0].pid):.0f} MB"
        )
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def main() -> None:
    count, *pairs = sys.argv[1:] or ["1000"]
    loads = [
        (int(rate), int(seconds)) for rate, _, seconds in (one.partition(":") for one in pairs or ["50:300", "1000:60"])
    ]
    names = [f"m{at}" for at in range(int(count))]
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory(dir="/dev/shm") as marks,
        running(Path(folder)) as one,
    ):
        broker: Any = one
        broker.issued = {name: _issue(one, name) for name in names}
        sink = Sink(Path(folder), one)
        try:
            _ready(one)
            sink.start()
            asyncio.run(measure(broker, Path(folder), Path(marks), names, loads))
        finally:
            sink.kill()


def _issue(broker: Broker, name: str) -> Any:
    """Without a line in the owner's file for each, which would be written a thousand times."""
    from hookline.fleet.credentials import issue, parse_credentials

    authority = broker.authority
    _, text = issue(authority.teams["team"], authority.broker(), team="team", role="machine", name=name, group="all")
    return parse_credentials(text, name)


if __name__ == "__main__":
    main()
