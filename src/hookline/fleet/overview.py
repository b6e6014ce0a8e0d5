"""All machines of a team at a glance."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nats.js import JetStreamContext, api

from hookline.core._dataclass import dataclass
from hookline.fleet import policies
from hookline.fleet.subjects import MACHINES

#: Seconds after which a machine that has not reported counts as silent: two reports.
_SILENT = 660.0
#: Seconds by which clocks may differ.
_SKEW = 120.0
_BATCH, _PATIENCE = 500, 5.0


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
    #: What is wrong, each on a line of its own.
    why: str
    report: Mapping[str, Any]


async def reports(stream: JetStreamContext) -> dict[str, Mapping[str, Any]]:
    """Machine -> its latest report, and when the broker got it. By pulling: the library's watcher may end before it began."""
    found: dict[str, Mapping[str, Any]] = {}
    config = api.ConsumerConfig(ack_policy=api.AckPolicy.NONE, deliver_policy=api.DeliverPolicy.LAST_PER_SUBJECT)
    pulled = await stream.pull_subscribe(f"$KV.{MACHINES}.*", stream=f"KV_{MACHINES}", config=config)
    left = (await pulled.consumer_info()).num_pending
    while left:
        for message in await pulled.fetch(_BATCH, timeout=_PATIENCE):
            left = message.metadata.num_pending
            with suppress(ValueError, RecursionError):
                report = json.loads(message.data)
                if isinstance(report, dict) and isinstance(report.get("state"), str):
                    received = message.metadata.timestamp.timestamp()
                    found[message.subject.rpartition(".")[2]] = {**report, "received": received}
    await pulled.unsubscribe()
    return found


def judge(
    name: str, group: str, report: Mapping[str, Any] | None, rollout: policies.Rollout | None, now: float
) -> Seen:
    """What a report means beside what was published for the machine's group."""
    target = rollout.for_machine(name) if rollout else None
    wanted = target.version if target else 0
    if report is None:
        why = "no report yet; there: hookline fleet status --local, or first: sudo hookline fleet join NAME.creds --key owner.key.pub"
        return Seen(name=name, group=group, state="never", version=0, wanted=wanted, age=-1, why=why, report={})
    policy = report.get("policy")
    version = int(policy["version"]) if isinstance(policy, dict) and isinstance(policy.get("version"), int) else 0
    state, told_at = str(report["state"]), float(report.get("time") or 0)
    received = float(report.get("received") or told_at)
    # Whichever of the two clocks is not ahead of ours tells how long ago that was.
    age = now - max((one for one in (received, told_at) if one <= now + _SKEW), default=now)
    problems, told = report.get("problems"), list[str]()
    if abs(told_at - received) > _SKEW:
        told.append(
            f"its clock and the broker's are {abs(told_at - received) / 60:.0f} minutes apart: timedatectl status"
        )
    if rollout is None:
        told.append(f"no policy is published for it: hookline fleet publish FILE --group {group}")
    known = problems if isinstance(problems, dict) else {}
    told += [*(report.get("findings") or ()), *(text for part, text in known.items() if rollout or part != "policy")]
    if wanted and version > wanted:
        told.append(f"it has version {version} and takes no older one: hookline policy build --version {version + 1}")
    if state == "in force" and version < wanted:
        state = "behind"
    if age > _SILENT:
        state = "silent"
        told.append("no report for more than ten minutes; there: hookline fleet status --local")
    return Seen(
        name=name, group=group, state=state, version=version, wanted=wanted, age=max(0.0, age),
        why="\n".join(map(str, told)), report=report,
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
