"""All machines of a team at a glance."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from hookline.core._dataclass import dataclass
from hookline.fleet import policies
from hookline.fleet.subjects import MACHINES

#: Seconds after which a machine that has not reported counts as silent: two reports.
_SILENT = 660.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A machine that was issued credentials, and what it reported last."""

    name: str
    group: str
    #: in force, behind, drifted, broken, none, silent, never, revoked
    state: str
    version: int
    wanted: int
    age: float
    why: str
    report: Mapping[str, Any]


async def reports(stream: JetStreamContext) -> dict[str, Mapping[str, Any]]:
    """Machine -> its latest report."""
    found: dict[str, Mapping[str, Any]] = {}
    try:
        watcher = await (await stream.key_value(MACHINES)).watchall()
    except NotFoundError:
        return found
    try:
        async for entry in watcher:
            if entry is None:
                break
            try:
                report = json.loads(entry.value or b"")
            except (ValueError, RecursionError):
                continue
            if isinstance(report, dict) and isinstance(report.get("state"), str):
                found[entry.key] = report
    finally:
        await watcher.stop()  # type: ignore[no-untyped-call]
    return found


def judge(
    name: str, group: str, report: Mapping[str, Any] | None, rollout: policies.Rollout | None, now: float
) -> Seen:
    """What a report means beside what was published for the machine's group."""
    target = rollout.for_machine(name) if rollout else None
    wanted = target.version if target else 0
    if report is None:
        return Seen(name=name, group=group, state="never", version=0, wanted=wanted, age=-1, why="", report={})
    policy = report.get("policy")
    version = int(policy["version"]) if isinstance(policy, dict) and isinstance(policy.get("version"), int) else 0
    state, age = str(report["state"]), max(0.0, now - float(report.get("time") or 0))
    problems = report.get("problems")
    told = [*(report.get("findings") or ()), *(problems.values() if isinstance(problems, dict) else ())]
    if state == "in force" and version < wanted:
        state = "behind"
    if age > _SILENT:
        state = "silent"
    return Seen(
        name=name, group=group, state=state, version=version, wanted=wanted, age=age,
        why=str(told[0]) if told else "", report=report,
    )  # fmt: skip


def summary(machines: Sequence[Seen]) -> Iterator[tuple[str, int, str, str]]:
    """For each group: how many machines, how they are, and which versions they have."""
    for group in sorted({one.group for one in machines}):
        some = [one for one in machines if one.group == group]
        states, versions = Counter(one.state for one in some), Counter(one.version for one in some)
        yield (
            group, len(some), ", ".join(f"{count} {state}" for state, count in states.most_common()),
            ", ".join(f"v{version}: {count}" for version, count in sorted(versions.items(), reverse=True) if version),
        )  # fmt: skip


def now() -> float:
    return time.time()
