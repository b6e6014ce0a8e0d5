"""1,000 machines on one broker: python -m tools.fleet_load [MACHINES] [SECONDS] [RATE …]

Connections with real credentials, in one process; each rate for so many seconds. Prints the broker's memory, the rate of a
sink that writes Parquet, and how long a record takes from its machine to the sink.
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

from tests.fleet.broker import Broker, running

from hookline.fleet.connection import close, connect, connected
from hookline.fleet.manifest import Records
from hookline.fleet.records import Batch, Shipper
from hookline.fleet.sink import Parquet, Received, consume
from hookline.fleet.streams import ensure_team


class Timed(Parquet):
    """Writes, and notes how old each record is then."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.delays: list[float] = []

    def write(self, batch: Sequence[Received]) -> None:
        super().write(batch)
        now = time.time()
        self.delays += [now - one.record["time"] for one in batch]


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


async def machine(broker: Broker, name: str, place: str, wake: asyncio.Event, journal: Journal) -> None:
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


async def measure(broker: Any, base: Path, marks: Path, *, machines: int, seconds: float, rates: Sequence[int]) -> None:
    async with connected(broker.admin()) as client:
        await ensure_team(client.jetstream(), 1)
    names = [f"m{at}" for at in range(machines)]
    for name in names:
        (marks / name).write_text(json.dumps({"number": 0, "sequence": 0, "sent": 0, "dropped": 0}))
    journals, events = [Journal() for _ in names], [asyncio.Event() for _ in names]
    started = time.monotonic()
    tasks = []
    for name, wake, journal in zip(names, events, journals, strict=True):
        tasks.append(asyncio.create_task(machine(broker, name, str(marks / name), wake, journal)))
        await asyncio.sleep(0.005)
    sink, target, wanted = await connect(broker.sink, stay=True), Timed(str(base / "out")), [True]
    sinking = asyncio.create_task(consume(sink, "load", target, lambda: wanted[0], print))
    print(
        f"{machines} machines connected in {time.monotonic() - started:.1f} s; broker {resident_mb(broker.processes[0].pid):.0f} MB"
    )
    for rate in rates:
        target.delays.clear()
        begin, made = time.monotonic(), 0
        while (passed := time.monotonic() - begin) < seconds:
            while made < passed * rate:
                at = made * 7919 % machines
                journals[at].add(names[at])
                events[at].set()
                made += 1
            await asyncio.sleep(0.01)
        while len(target.delays) < made and time.monotonic() - begin < seconds * 3 + 60:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        took = time.monotonic() - begin
        delays = sorted(target.delays)
        p50, p99 = (delays[int(len(delays) * part)] for part in (0.5, 0.99))
        print(
            f"{rate}/s for {seconds:.0f} s: {len(delays)} of {made} in the sink after {took:.1f} s ({len(delays) / took:.0f}/s),"
            f" delay median {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, longest {delays[-1] * 1000:.0f} ms;"
            f" broker {resident_mb(broker.processes[0].pid):.0f} MB"
        )
    wanted[0] = False
    await sinking
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await close(sink)


def main() -> None:
    words = [int(word) for word in sys.argv[1:]]
    machines, seconds, rates = (
        (words[0] if words else 1000),
        (words[1] if len(words) > 1 else 60),
        words[2:] or [50, 1000],
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory(dir="/dev/shm") as marks,
        running(Path(folder)) as one,
    ):
        broker: Any = one
        broker.issued = {f"m{at}": None for at in range(machines)}
        for name in broker.issued:
            broker.issued[name] = _issue(one, name)
        broker.sink = one.issue("sink", role="sink")
        asyncio.run(measure(broker, Path(folder), Path(marks), machines=machines, seconds=seconds, rates=rates))


def _issue(broker: Broker, name: str) -> Any:
    """Without a line in the owner's file for each, which would be written a thousand times."""
    from hookline.fleet.credentials import issue, parse_credentials

    authority = broker.authority
    _, text = issue(authority.teams["team"], authority.broker(), team="team", role="machine", name=name, group="all")
    return parse_credentials(text, name)


if __name__ == "__main__":
    main()
