"""What the link of a machine does: take the group's policy, send records, and report how things are."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import APIError

from hookline import __version__
from hookline.core.errors import HooklineError
from hookline.core.files import replace_atomically
from hookline.core.paths import Paths
from hookline.fleet import machine, policies
from hookline.fleet.connection import UNREACHABLE, explain
from hookline.fleet.feed import sources
from hookline.fleet.install import PolicyFolder
from hookline.fleet.link import FleetLink
from hookline.fleet.manifest import Manifest, Records
from hookline.fleet.policies import Published
from hookline.fleet.records import WRONG_SEQUENCE, Shipper, marks
from hookline.fleet.subjects import MACHINES, policy_bucket

#: Seconds between two looks at the policy (a change is announced besides), after one that failed, at the machine, and between
#: two reports.
_POLICY, _RETRY, _LOOK, _REPORT = 120.0, 30.0, 60.0, 300.0
#: Machines that hear the same news must not all ask at once.
_SPREAD = random.SystemRandom().uniform
_CONTACT = "contact.json"
#: Bytes that a record needs to grow.
_ROOM = 1 << 20
_ANEW = "a copy has its credentials: hookline fleet revoke NAME, then hookline fleet add and join for each"


def _manifest(paths: Paths) -> Manifest:
    """Of the policy in force; without one, what holds by default."""
    bundle = PolicyFolder(paths).bundle()
    return Manifest(name="", version=0) if bundle is None else bundle.manifest


def _root(paths: Paths) -> str:
    """Of the disk that the machine's directory is on."""
    return paths.machine.removesuffix("/etc/hookline")


# ── the policy ───────────────────────────────────────────────────────────────────────────────────────


async def pull(link: FleetLink) -> None:
    stream = link.client.jetstream()

    async def announce(_: Any) -> None:
        link.news.set()

    announced = await link.client.subscribe(f"$KV.{policy_bucket(link.group)}.rollout", cb=announce)
    try:
        while True:
            link.news.clear()
            problem = await _follow(link, stream)
            link.note("policy", problem)
            with suppress(TimeoutError):
                pause = _RETRY if problem else _POLICY
                await asyncio.wait_for(link.news.wait(), pause * _SPREAD(0.8, 1.2))
                await asyncio.sleep(_SPREAD(0, 1))
    finally:
        with suppress(*UNREACHABLE):
            await announced.unsubscribe()


async def _follow(link: FleetLink, stream: JetStreamContext) -> str:
    """Take what the broker says; what is wrong with it. A policy that we cannot take is a sign of the broker all the same."""
    try:
        rollout = await policies.fetch_rollout(stream, link.group)
        try:
            await _take(link, rollout.for_machine(link.machine))
        finally:
            keep_contact(link.joined.folder, link.paths)
    except HooklineError as error:
        return str(error)
    except UNREACHABLE as error:
        return explain(link.joined.credentials, error)
    return ""


async def _take(link: FleetLink, wanted: Published | None) -> None:
    folder = PolicyFolder(link.paths)
    if wanted is None or folder.highest()[0] >= wanted.version:
        return
    folder.require_writable()
    data = await policies.fetch(link.client.jetstream(), link.group, wanted)
    async with link.installing:
        await asyncio.to_thread(partial(machine.put_in_force, link.paths, data, None, root=_root(link.paths)))


def keep_contact(folder: str, paths: Paths) -> None:
    """Until when the policy counts without another sign of the broker (``config.managed`` reads it).

    It is written rarely: every resident engine loads its hooks anew when it changes.
    """
    if not folder.startswith(paths.machine):
        return
    offline = _manifest(paths).offline
    grace, now, path = offline.hours * 3600.0, time.time(), os.path.join(folder, _CONTACT)
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        if kept["then"] == offline.then and 0.95 * grace < kept["until"] - now <= grace:
            return
    except (OSError, ValueError, KeyError, TypeError):
        pass
    replace_atomically(path, json.dumps({"until": now + grace, "then": offline.then}).encode(), mode=0o644)


# ── records ──────────────────────────────────────────────────────────────────────────────────────────


async def ship(link: FleetLink) -> None:
    stream, shippers = link.client.jetstream(), dict[str, Shipper]()
    place = os.path.join(link.joined.folder, "sources")
    os.makedirs(place, 0o700, exist_ok=True)
    async with sources(link) as found:
        while True:
            rules = _manifest(link.paths).records
            rows = 0
            for source, read in (await found()).items():
                if source not in shippers:
                    shippers[source] = Shipper(
                        stream, link.machine, source, read, os.path.join(place, f"{source}.json")
                    )
                rows += await _step(link, shippers[source], rules, source)
            if not rows:
                await asyncio.sleep(1)


async def _step(link: FleetLink, shipper: Shipper, rules: Records, source: str) -> int:
    try:
        rows = await shipper.step(rules)
        link.note(f"records of {source}", "")
        return rows
    except UNREACHABLE as error:
        link.note(f"records of {source}", explain(link.joined.credentials, error))
    except (HooklineError, ValueError) as error:
        link.note(f"records of {source}", str(error))
    return 0


# ── the report ───────────────────────────────────────────────────────────────────────────────────────


async def report(link: FleetLink) -> None:
    at, sequence, doubt = 0.0, 0, 0.0
    said: dict[str, Any] = {}
    while True:
        link.note("disk", find_full_disk(link.paths.state))
        async with link.installing:
            found = await asyncio.to_thread(describe, link.paths, link.joined.folder)
        found |= {"group": link.group, "problems": link.problems()}
        if found != said or time.monotonic() - at > _REPORT:
            sequence, alone = await _say(link, {**found, "time": time.time()}, sequence)
            link.note("report", "")
            said, at = found, time.monotonic()
            doubt = doubt if alone else at + 3 * _REPORT
        before, until = _news(link), time.monotonic() + _LOOK
        link.note("identity", f"another machine reports as {link.machine}; {_ANEW}" if time.monotonic() < doubt else "")
        while _news(link) == before and time.monotonic() < until:  # noqa: ASYNC110  files tell nobody
            await asyncio.sleep(2)


async def _say(link: FleetLink, found: Mapping[str, Any], last: int) -> tuple[int, bool]:
    """The sequence of this report, and whether the one before it was ours too, or purged; of the first nothing is known."""
    stream, subject, data = link.client.jetstream(), f"$KV.{MACHINES}.{link.machine}", json.dumps(found).encode()
    for expected in (last, 0) if last else ():
        headers: dict[str, Any] = {Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(expected)}
        try:
            return (await stream.publish(subject, data, headers=headers)).seq, True
        except APIError as error:
            if error.err_code != WRONG_SEQUENCE:
                raise
    return (await stream.publish(subject, data)).seq, not last


def find_full_disk(state: str, least: int = _ROOM) -> str:
    """What to do about it; "" while there is room."""
    with suppress(OSError):
        if shutil.disk_usage(state).free < least:
            return f"the disk of {state} is full, so calls are decided and not recorded; make room there"
    return ""


def _news(link: FleetLink) -> Any:
    """What is reported at once."""
    try:
        return PolicyFolder(link.paths).highest(), link.problems(), find_full_disk(link.paths.state)
    except HooklineError as error:
        return str(error)


def describe(paths: Paths, folder: str) -> dict[str, Any]:
    """What is in force here, what has drifted from it, and what is broken."""
    policy: dict[str, Any] | None = None
    agents: list[dict[str, Any]] = []
    findings: list[str] = []
    state = "none"
    try:
        bundle = PolicyFolder(paths).bundle()
        if bundle is not None:
            policy = {"name": bundle.manifest.name, "version": bundle.manifest.version, "digest": bundle.digest}
            agents, findings = machine.inspect(paths, root=_root(paths))
            state = "drifted" if findings else "in force"
    except (HooklineError, OSError) as error:
        findings, state = [str(error)], "broken"
    sent = {source: {"sent": one.sent, "dropped": one.dropped} for source, one in marks(folder).items()}
    return {
        "hookline": __version__, "state": state, "policy": policy, "findings": findings[:20], "records": sent,
        "agents": {one["agent"]: one["state"] for one in agents},
    }  # fmt: skip
