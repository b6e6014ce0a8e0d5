"""What ``hookline web --fleet`` shows besides this machine: the questions of all of them, and what their records tell.

Records come from the folder of a parquet sink, or else from the broker's stream, read anew from where the last look ended.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hookline.core.errors import ConfigError, HooklineError
from hookline.core.extras import extra_needed
from hookline.fleet.connection import UNREACHABLE
from hookline.fleet.credentials import Credentials
from hookline.fleet.oncall import OnCall, OnCallThread
from hookline.fleet.subjects import RECORDS

if TYPE_CHECKING:
    from nats.js import api

#: Records that are kept in mind, the days that are looked back at first, and what is shown of a list.
_MOST, _DAYS, _SHOWN = 200_000, 30, 50
_FIELDS = ("time", "machine", "agent", "event", "effect", "ms", "reason", "outcomes")
_FAILED = frozenset({"failed", "timed-out"})


class FleetView:
    def __init__(self, folder: str, credentials: Credentials | None, state: str, changed: Callable[[], None]) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self.people = OnCallThread(credentials, state, changed) if credentials is not None else None
        self._records: deque[Mapping[str, Any]] = deque(maxlen=_MOST)
        self._files, self._last = set[str](), 0

    def questions(self) -> list[dict[str, Any]]:
        return self.people.questions() if self.people is not None else []

    def answer(self, name: str, word: str, reason: str) -> str:
        if self.people is None:
            raise ConfigError(
                "there are no credentials here for whoever is on call; to issue them: hookline fleet add NAME --role oncall"
            )
        return self.people.answer(name, word, reason)

    def overview(self, days: int) -> dict[str, Any]:
        note = self.people.problem if self.people is not None else ""
        with self._lock:
            try:
                self._read_files() if self._folder else self._read_stream()
            except (HooklineError, OSError, TimeoutError) as error:
                note = f"the records cannot be read: {error or 'no answer in time'}"
            found = list(self._records)
        since = time.time() - days * 86_400
        return {**summarize([one for one in found if one["time"] >= since]), "note": note, "days": days}

    def _keep(self, record: Mapping[str, Any]) -> None:
        outcomes = record.get("outcomes")
        if isinstance(record.get("time"), int | float):
            good = [one for one in outcomes if isinstance(one, dict)] if isinstance(outcomes, list) else []
            self._records.append({**{name: record.get(name) for name in _FIELDS}, "outcomes": good})

    def _read_files(self) -> None:
        with extra_needed("parquet", "pyarrow"):
            parquet = import_module("pyarrow.parquet")
        names = {one for one in os.listdir(self._folder) if one.endswith(".parquet")} - self._files
        for name in sorted(names):
            for row in parquet.read_table(os.path.join(self._folder, name), columns=list(_FIELDS)).to_pylist():
                self._keep({**row, "outcomes": json.loads(row["outcomes"] or "[]")})
            self._files.add(name)

    def _read_stream(self) -> None:
        if self.people is None:
            raise ConfigError("no folder of a sink was given: hookline web --fleet DIR")
        for sequence, record in self.people.call(lambda people: _fetch(people, self._last)):
            self._last = sequence
            self._keep(record)


def _from(last: int) -> api.ConsumerConfig:
    from nats.js import api

    config = api.ConsumerConfig(ack_policy=api.AckPolicy.NONE)
    if last:
        config.deliver_policy, config.opt_start_seq = api.DeliverPolicy.BY_START_SEQUENCE, last + 1
    else:
        start = datetime.fromtimestamp(time.time() - _DAYS * 86_400, UTC).isoformat()
        config.deliver_policy, config.opt_start_time = api.DeliverPolicy.BY_START_TIME, start  # type: ignore[assignment]
    return config


async def _fetch(people: OnCall, last: int) -> list[tuple[int, dict[str, Any]]]:
    """What came since, as much as a few seconds allow. Raises ConfigError."""
    from hookline.fleet.sink import parse_message

    found: list[tuple[int, dict[str, Any]]] = []
    try:
        stream = people.client.jetstream()
        if (await stream.stream_info(RECORDS)).state.last_seq < last:
            last = 0  # another stream: the broker has lost its disk
        config = _from(last)
        pulled = await stream.pull_subscribe("", stream=RECORDS, config=config)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            try:
                messages = await pulled.fetch(500, timeout=0.5)
            except TimeoutError:
                break
            parsed = [one for message in messages if (one := parse_message(message, "")) is not None]
            found += [(one.sequence, one.record) for one in parsed]
        await pulled.unsubscribe()
    except UNREACHABLE as error:
        raise ConfigError(f"{error}; a sink's folder works too: hookline web --fleet DIR") from None
    return found


def summarize(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """By day, machine, agent and guard."""
    groups: dict[str, dict[str, list[Mapping[str, Any]]]] = {"day": {}, "machine": {}, "agent": {}}
    runs: dict[str, Counter[str]] = defaultdict(Counter)
    where: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    places: dict[str, set[str]] = defaultdict(set)
    refusals: deque[dict[str, Any]] = deque(maxlen=_SHOWN)
    for one in sorted(records, key=lambda record: record["time"]):
        machine, place = str(one["machine"]), f"{one['agent']} {one['event']}"
        day = time.strftime("%Y-%m-%d", time.localtime(one["time"]))
        named = {"day": day, "machine": machine, "agent": str(one["agent"])}
        for kind, name in named.items():
            groups[kind].setdefault(name, []).append(one)
        places[place].add(machine)
        for run in one["outcomes"]:
            hook = str(run.get("hook"))
            where[hook][place].add(machine)
            runs[hook] += Counter(runs=1, refused=run.get("effect") == "deny", failures=run.get("status") in _FAILED)
        if one["effect"] == "deny":
            by = next((str(run.get("hook")) for run in one["outcomes"] if run.get("effect") == "deny"), "")
            refusals.appendleft(
                {name: one[name] for name in ("time", "machine", "agent", "event", "reason")} | {"hook": by}
            )
    guards: list[dict[str, Any]] = [
        {"name": hook, **{name: count[name] for name in ("runs", "refused", "failures")},
         "silent": sorted({machine for place, seen in where[hook].items() for machine in places[place] - seen})}
        for hook, count in runs.items()
    ]  # fmt: skip
    return {
        **{f"by_{kind}": [_sums(name, some) for name, some in found.items()] for kind, found in groups.items()},
        "guards": sorted(guards, key=lambda one: (-len(one["silent"]), one["name"])), "refusals": list(refusals),
    }  # fmt: skip


def _sums(name: str, records: list[Mapping[str, Any]]) -> dict[str, Any]:
    times = sorted(float(one["ms"]) for one in records if isinstance(one["ms"], int | float)) or [0.0]
    return {
        "name": name, "events": len(records), "refused": sum(one["effect"] == "deny" for one in records),
        "failures": sum(any(run.get("status") in _FAILED for run in one["outcomes"]) for one in records),
        "median": times[len(times) // 2], "p99": times[min(len(times) - 1, len(times) * 99 // 100)],
        "last": max(one["time"] for one in records),
    }  # fmt: skip
