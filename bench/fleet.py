"""What a fleet costs a decision: two daemons in one run, one of them linked to a broker that takes all of its records.

    PYTHONPATH=. python bench/fleet.py [DECISIONS]

Decisions alternate between the two, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.fleet.broker import Broker, running
from tests.patience import eventually

import daemon
from daemon import HOOK, PAYLOAD, Bench
from hookline.core.paths import find_paths
from hookline.daemon.client.build import compile_client
from hookline.fleet.connection import connection
from hookline.fleet.join import find_joined
from hookline.fleet.records import marks
from hookline.fleet.streams import ensure_team


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    daemon.PAYLOAD = {**PAYLOAD, "tool_input": {"command": "rm -rf /tmp/x"}}  # refused, and so sent
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as broker:
        asyncio.run(_prepare(broker))
        sides = {name: Bench(os.path.join(folder, name)) for name in ("off", "on")}
        try:
            return _measure(sides, broker, folder, count)
        finally:
            for one in sides.values():
                one.close()


async def _prepare(broker: Broker) -> None:
    async with connection(broker.admin()) as client:
        await ensure_team(client.jetstream(), 1)


def _measure(sides: dict[str, Bench], broker: Broker, folder: str, count: int) -> int:
    paths = find_paths({}, sides["on"].home)
    place = Path(paths.fleet_credentials[1])
    place.parent.mkdir(parents=True)
    place.write_text(broker.issue("m1").text, encoding="ascii")
    client = os.path.join(folder, "hookc")
    compile_client(client)
    calls = {name: one.started(client, *HOOK) for name, one in sides.items()}
    for call in calls.values():
        for _ in range(20):
            call()
    joined = find_joined(paths)
    assert joined is not None
    assert eventually(lambda: joined.state().get("connected")), "the daemon has not started the link"
    time.sleep(3)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for at in range(count):
        for name in ("off", "on") if at % 2 else ("on", "off"):
            start = time.perf_counter()
            calls[name]()
            times[name].append((time.perf_counter() - start) * 1000)
    found = {name: sorted(some) for name, some in times.items()}
    p50, p99 = ({name: some[int(len(some) * part)] for name, some in found.items()} for part in (0.5, 0.99))
    eventually(lambda: sum(one.sent for one in marks(joined.folder).values()) >= count)
    sent = sum(one.sent for one in marks(joined.folder).values())
    print(f"median: off {p50['off']:.2f} ms, on {p50['on']:.2f} ms, ratio {p50['on'] / p50['off']:.2f} (at most 1.10)")
    print(f"p99:    off {p99['off']:.2f} ms, on {p99['on']:.2f} ms, ratio {p99['on'] / p99['off']:.2f} (at most 1.50)")
    print(f"{count} decisions each; {sent} records sent")
    return int(p50["on"] > 1.1 * p50["off"] or p99["on"] > 1.5 * p99["off"])


if __name__ == "__main__":
    sys.exit(main())
