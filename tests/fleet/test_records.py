"""Records reach every sink once, whatever is killed on the way; policies reach machines signed, and never an older one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nats.js import JetStreamContext
from nats.js.errors import APIError
from tests.fleet.broker import Broker, needs_broker
from tests.fleet.test_policy import Owner

from hookline.core._dataclass import replace
from hookline.core.errors import ConfigError, UsageError
from hookline.core.isolation import MAIN
from hookline.core.paths import Paths
from hookline.core.settings import RecordSettings
from hookline.fleet import feed, link, overview, parts, policies
from hookline.fleet.connection import UNREACHABLE, connection
from hookline.fleet.credentials import Credentials
from hookline.fleet.join import Joined
from hookline.fleet.link import FleetLink
from hookline.fleet.manifest import Records
from hookline.fleet.records import Batch, Shipper
from hookline.fleet.sink import Parquet, Received, consume
from hookline.fleet.streams import ensure_group, ensure_team
from hookline.fleet.subjects import RECORDS, record_subject
from hookline.state.record.store import store_in

pytestmark = needs_broker
ALL = Records(send="all")


def record(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"e{number}",
        "time": 1.0 * number,
        "event": "PreToolUse",
        "agent": "claude",
        "effect": "deny",
        **more,
    }


class Journal:
    """A record of so many rows."""

    def __init__(self, count: int, **more: Any) -> None:
        self.rows = [(number, record(number, **more)) for number in range(1, count + 1)]

    async def read(self, after: int, most: int) -> Batch:
        rows = [one for one in self.rows if one[0] > after][:most]
        return Batch(newest=self.rows[-1][0] if self.rows else 0, rows=rows)


class Kept:
    """A target that remembers."""

    gather = 0.1

    def __init__(self) -> None:
        self.got: list[Received] = []

    def begin(self, stream: str, acknowledged: int) -> None:
        self.floor = acknowledged

    def write(self, batch: Any) -> None:
        self.got += batch

    @property
    def ids(self) -> list[str]:
        return [one.record["id"] for one in self.got]


def as_owner(broker: Broker, work: Callable[[JetStreamContext], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with connection(broker.admin()) as client:
            await ensure_team(client.jetstream(), broker.authority.replicas)
            return await work(client.jetstream())

    return asyncio.run(run())


async def ship(credentials: Credentials, journal: Journal, place: Path, rules: Records = ALL) -> Shipper:
    async with connection(credentials) as client:
        shipper = Shipper(client.jetstream(), credentials.name, "u0", journal.read, str(place))
        while await shipper.step(rules):
            pass
        return shipper


def start_at(place: Path, number: int = 0) -> Path:
    place.write_text(json.dumps({"number": number, "sequence": 0, "sent": 0, "dropped": 0}))
    return place


def drain(credentials: Credentials, name: str, target: Any, count: int) -> None:
    async def run() -> None:
        async with connection(credentials) as client:
            left = asyncio.get_running_loop().time() + 30
            fewer = lambda: len(getattr(target, "got", ())) < count and asyncio.get_running_loop().time() < left  # noqa: E731
            await consume(client, name, target, fewer, print)

    asyncio.run(run())


async def nothing(_: JetStreamContext) -> None:
    pass


@pytest.fixture
def ready(broker: Broker) -> Broker:
    as_owner(broker, nothing)
    return broker


# ── records ──────────────────────────────────────────────────────────────────────────────────────────


def test_records_of_before_the_machine_joined_stay_there(ready: Broker, tmp_path: Path) -> None:
    shipper = asyncio.run(ship(ready.issue("m1"), Journal(5), tmp_path / "mark"))
    assert (shipper.mark.number, shipper.mark.sent) == (5, 0)


def test_a_lost_mark_move_sends_nothing_twice(ready: Broker, tmp_path: Path) -> None:
    machine, place = ready.issue("m1"), start_at(tmp_path / "mark")
    asyncio.run(ship(machine, Journal(3), place))
    whole = json.loads(place.read_text())
    place.write_text(json.dumps({**whole, "number": 2, "sequence": 2}))  # killed between acknowledgement and mark
    asyncio.run(ship(machine, Journal(4), place))
    target = Kept()
    drain(ready.issue("s", role="sink"), "one", target, 4)
    assert target.ids == ["e1", "e2", "e3", "e4"]


def test_the_order_of_a_source_guards_beyond_the_memory_of_ids(ready: Broker, tmp_path: Path) -> None:
    """As after a kill that lasted longer than the broker remembers message ids."""
    machine, place = ready.issue("m1"), start_at(tmp_path / "mark")
    asyncio.run(ship(machine, Journal(2), place))

    async def forget(stream: JetStreamContext) -> None:
        info = await stream.stream_info(RECORDS)
        info.config.duplicate_window = 0.1
        await stream.update_stream(info.config)
        await asyncio.sleep(0.5)

    as_owner(ready, forget)
    place.write_text(json.dumps({"number": 1, "sequence": 1, "sent": 1, "dropped": 0}))
    asyncio.run(ship(machine, Journal(3), place))
    target = Kept()
    drain(ready.issue("s", role="sink"), "one", target, 3)
    assert target.ids == ["e1", "e2", "e3"]


def test_a_mark_that_a_power_failure_took_back_sends_nothing_twice(ready: Broker, tmp_path: Path) -> None:
    machine, place = ready.issue("m1"), start_at(tmp_path / "mark")
    asyncio.run(ship(machine, Journal(20), place))
    start_at(place)
    asyncio.run(ship(machine, Journal(22), place))
    target = Kept()
    drain(ready.issue("s", role="sink"), "one", target, 22)
    assert target.ids == [f"e{number}" for number in range(1, 23)]


def test_a_record_from_a_backup_is_not_sent_again_and_a_new_one_is(ready: Broker, tmp_path: Path) -> None:
    machine, place, kept = ready.issue("m1"), start_at(tmp_path / "mark"), Kept()
    asyncio.run(ship(machine, Journal(5), place))
    restored = Journal(3)
    restored.rows.append((4, {**record(9), "id": "after"}))
    asyncio.run(ship(machine, restored, place))
    fresh = Journal(0)
    fresh.rows = [(1, {**record(11), "id": "fresh"})]
    asyncio.run(ship(machine, fresh, place))
    drain(ready.issue("s", role="sink"), "all", kept, 7)
    assert kept.ids == ["e1", "e2", "e3", "e4", "e5", "after", "fresh"]


def test_what_leaves_is_what_the_policy_says(ready: Broker, tmp_path: Path) -> None:
    machine = ready.issue("m1")
    journal = Journal(1, cwd="/secret", data={"a": 1}, reason="no")
    journal.rows.append((2, record(2, effect="allow")))
    asyncio.run(ship(machine, journal, start_at(tmp_path / "mark"), Records(send="denies")))
    target = Kept()
    drain(ready.issue("s", role="sink"), "one", target, 1)
    assert target.ids == ["e1"]
    assert target.got[0].record["reason"] == "no"
    assert not {"cwd", "data"} & target.got[0].record.keys()


def test_the_spool_is_bounded_and_counts_what_it_drops(ready: Broker, tmp_path: Path) -> None:
    rules = Records(send="all", spool=100)
    shipper = asyncio.run(ship(ready.issue("m1"), Journal(250), start_at(tmp_path / "mark"), rules))
    assert (shipper.mark.sent, shipper.mark.dropped) == (100, 150)


def test_a_record_is_never_too_large_to_be_sent(ready: Broker, tmp_path: Path) -> None:
    long, kept = "x" * (3 << 20), Kept()
    rules = Records(send="all", fields=("id", "time", "event", "agent", "effect", "session", "cwd", "data"))
    journal = Journal(2, session=long, cwd=long, data={"command": long})
    asyncio.run(ship(ready.issue("m1"), journal, start_at(tmp_path / "mark"), rules))
    drain(ready.issue("s", role="sink"), "all", kept, 2)
    assert kept.ids == ["e1", "e2"]
    assert kept.got[0].record["shortened"] is True


def test_a_mark_that_could_not_be_written_is_written_later(ready: Broker, tmp_path: Path) -> None:
    """As on a full disk: it is wrong until it is written, though nothing new is to be sent."""
    place = tmp_path / "sources" / "mark"

    async def run() -> None:
        async with connection(ready.issue("m1")) as client:
            place.parent.mkdir()
            shipper = Shipper(client.jetstream(), "m1", "u0", Journal(3).read, str(start_at(place)))
            shutil.rmtree(place.parent)
            for _ in range(2):
                with pytest.raises(OSError, match="sources"):
                    await shipper.step(ALL)
            place.parent.mkdir()
            await shipper.step(ALL)

    asyncio.run(run())
    assert json.loads(place.read_text())["sent"] == 3


def test_several_sinks_get_every_record(ready: Broker, tmp_path: Path) -> None:
    asyncio.run(ship(ready.issue("m1"), Journal(3), start_at(tmp_path / "mark")))
    one, two = Kept(), Kept()
    sink = ready.issue("s", role="sink")
    drain(sink, "one", one, 3)
    drain(sink, "two", two, 3)
    assert one.ids == two.ids == ["e1", "e2", "e3"]


def test_a_parquet_sink_that_dies_before_it_acknowledges_writes_nothing_twice(ready: Broker, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    def received(number: int) -> Received:
        return Received(stream="s", sequence=number, received="", record=record(number))

    folder = str(tmp_path / "out")
    first = Parquet(folder)
    first.begin("s", 0)
    first.write([received(1), received(3)])
    os.close(first._lock or -1)
    second = Parquet(folder)
    second.begin("s", 0)
    second.write([received(number) for number in (1, 2, 3, 4)])
    os.close(second._lock or -1)
    files = sorted(Path(folder).glob("*.parquet"))
    rows = [row for file in files for row in pyarrow.parquet.read_table(file).column("sequence").to_pylist()]
    assert sorted(rows) == [1, 2, 3, 4]
    third = Parquet(folder)
    third.begin("t", 0)
    third.write([replace(received(1), stream="t")])  # a stream that was made anew counts anew
    os.close(third._lock or -1)
    assert len(list(Path(folder).glob("*.parquet"))) == len(files) + 1


def test_what_the_server_was_made_to_put_on_anothers_subject_is_no_record(ready: Broker) -> None:
    """A reply subject is the sender's choice: the acknowledgement of m1's record lands among those of m2."""

    async def forge() -> None:
        async with connection(ready.issue("m1")) as client:
            await client.publish(record_subject("m1", "u0"), b"{}", reply=record_subject("m2", "u0"))
            await client.flush()
            await asyncio.sleep(0.5)

    asyncio.run(forge())
    target, said = Kept(), list[str]()

    async def read() -> None:
        async with connection(ready.issue("s", role="sink")) as client:
            left = asyncio.get_running_loop().time() + 5
            await consume(
                client, "one", target, lambda: not said and asyncio.get_running_loop().time() < left, said.append
            )

    asyncio.run(read())
    assert not target.got
    assert said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads the records of others")
def test_root_reads_anothers_record_by_a_process_of_theirs() -> None:
    import pwd

    from tests.fleet.faults import Machine as Recorded

    account = pwd.getpwnam("nobody")
    able = ["/bin/sh", "-c", f"test -x {sys.executable} && test -r {MAIN}"]
    if subprocess.run(able, user=account.pw_uid, group=account.pw_gid, check=False).returncode:
        account = pwd.getpwuid(0)  # this Python lies where only root can run it
    place = Path(tempfile.mkdtemp(prefix="hookline-feed-"))
    store = store_in(str(place), RecordSettings())
    Recorded.write(SimpleNamespace(store=store, written=[], name="n"), 3)  # type: ignore[arg-type]
    store.close()
    for path in (place, *place.iterdir()):
        os.chown(path, account.pw_uid, account.pw_gid)

    async def read() -> Batch:
        one = feed._Feed(account, str(place))
        try:
            return await one.read(1, 10)
        finally:
            await one.close()

    batch = asyncio.run(read())
    assert (batch.newest, [row["id"] for _, row in batch.rows]) == (3, ["n-1", "n-2"])
    shutil.rmtree(place)


# ── policies ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return owner_in(tmp_path / "owner")


def owner_in(base: Path) -> Owner:
    base.mkdir()
    return Owner(base)


def publish(broker: Broker, data: bytes, group: str = "all", percent: int = 100) -> Any:
    async def work(stream: JetStreamContext) -> Any:
        await ensure_group(stream, group, broker.authority.replicas)
        return await policies.publish(stream, group, data, percent)

    return as_owner(broker, work)


async def take(credentials: Credentials, paths: Paths) -> None:
    async with connection(credentials) as client:
        rollout = await policies.fetch_rollout(client.jetstream(), credentials.group)
        one = FleetLink(Joined(folder=str(paths.machine), credentials=credentials), paths, client)
        await parts._take(one, rollout.for_machine(credentials.name))


@pytest.fixture
def quiet_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent's managed file is written: the machine of the test is the machine."""
    monkeypatch.setattr("hookline.fleet.agent_files.Machine.plans", lambda *_, **__: iter(()))
    monkeypatch.setattr("hookline.fleet.agent_files.build_program", lambda *_, **__: "/bin/true")


@pytest.mark.usefixtures("quiet_agents")
def test_a_machine_takes_its_groups_policy_and_never_an_older_one(broker: Broker, owner: Owner) -> None:
    machine = broker.issue("m1")
    owner.machine.trust(owner.public)
    publish(broker, owner.build(2))
    asyncio.run(take(machine, owner.paths))
    assert owner.machine.highest()[0] == 2
    with pytest.raises(UsageError, match="higher"):
        publish(broker, owner.build(1))


@pytest.mark.usefixtures("quiet_agents")
def test_a_replayed_and_a_forged_policy_change_nothing(broker: Broker, owner: Owner, tmp_path: Path) -> None:
    """The broker itself lies: it names an old policy as new, and one that somebody else has signed."""
    machine = broker.issue("m1")
    owner.machine.trust(owner.public)
    publish(broker, owner.build(1))
    old = owner.build(1)
    publish(broker, owner.build(3))
    asyncio.run(take(machine, owner.paths))
    thief = owner_in(tmp_path / "thief")

    async def lie(stream: JetStreamContext, data: bytes, version: int) -> None:
        from hookline.fleet.bundle import read_bundle

        told = policies.Published(version=version, digest=read_bundle(data).digest, name="acme")
        await (await stream.object_store("hookline_policy_all")).put(told.object, data)
        bucket = await stream.key_value("hookline_policy_all")
        await bucket.put("rollout", json.dumps(asdict(policies.Rollout(stable=told))).encode())

    for data in (old, thief.build(9)):
        as_owner(broker, partial(lie, data=data, version=9))
        with pytest.raises(ConfigError):
            asyncio.run(take(machine, owner.paths))
        assert owner.machine.highest()[0] == 3
    as_owner(broker, partial(lie, data=old, version=1))
    asyncio.run(take(machine, owner.paths))
    assert owner.machine.highest()[0] == 3


def test_a_machine_reads_only_its_groups_policy(broker: Broker, owner: Owner) -> None:
    publish(broker, owner.build(1), "other")
    stranger = broker.issue("m1", group="all")

    async def read() -> None:
        async with connection(stranger) as client:
            await policies.fetch_rollout(client.jetstream(timeout=1), "other")

    with pytest.raises(ConfigError):
        asyncio.run(read())


def test_a_rollout_grows_and_goes_back(broker: Broker, owner: Owner) -> None:
    publish(broker, owner.build(1))
    partly = publish(broker, owner.build(2), percent=30)
    names = [f"m{number}" for number in range(1000)]
    early = {name for name in names if partly.for_machine(name).version == 2}
    assert 200 < len(early) < 400
    wider = as_owner(broker, lambda stream: policies.widen(stream, "all", 60))
    assert early < {name for name in names if wider.for_machine(name).version == 2}
    back = as_owner(broker, lambda stream: policies.roll_back(stream, "all", owner.key, owner.paths))
    assert back.stable.version == 3
    assert back.next is None


# ── offline, and the report ──────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(os.geteuid() != 0, reason="a policy counts only if root owns its files")
@pytest.mark.parametrize(("then", "effect"), [("warn", "allow"), ("deny", "deny")])
def test_after_the_stated_time_without_the_broker_the_policy_says_what_counts(
    owner: Owner, then: str, effect: str
) -> None:
    owner.write("hooks/no.sh", "#!/bin/sh\nexit 0\n")
    owner.write("policy.toml", f'name = "acme"\nversion = 1\n[offline]\nhours = 2\nthen = "{then}"\n')
    owner.machine.install(owner.build(), owner.public)
    folder = Path(owner.paths.machine) / "fleet"
    folder.mkdir()
    parts.keep_contact(str(folder), owner.paths)
    assert owner.fire(owner.base).effect == "allow"
    contact = folder / "contact.json"
    contact.write_text(json.dumps({**json.loads(contact.read_text()), "until": 1.0}))
    os.utime(contact, (0, 0))
    assert owner.fire(owner.base).effect == effect
    link._note_silence(str(folder))
    assert contact.stat().st_mtime > 1, "resident engines are told"


def test_the_overview_tells_who_is_behind_silent_or_broken() -> None:
    rollout = policies.Rollout(stable=policies.Published(version=2, digest="d", name="p"))
    told = {"state": "in force", "policy": {"version": 2}, "time": 1000.0, "problems": {}, "findings": []}
    states = {
        "ok": overview.judge("m", "all", told, rollout, 1010).state,
        "behind": overview.judge("m", "all", {**told, "policy": {"version": 1}}, rollout, 1010).state,
        "silent": overview.judge("m", "all", told, rollout, 9000).state,
        "never": overview.judge("m", "all", None, rollout, 9000).state,
        "skewed": overview.judge("m", "all", {**told, "time": 4600.0}, rollout, 1010).state,
    }
    assert states == {"ok": "in force", "behind": "behind", "silent": "silent", "never": "never", "skewed": "in force"}


def test_the_overview_names_clocks_versions_and_what_is_not_published() -> None:
    rollout = policies.Rollout(stable=policies.Published(version=2, digest="d", name="p"))
    told = {"state": "in force", "policy": {"version": 2}, "time": 5000.0, "received": 5000.0}
    early, late = {**told, "time": 1400.0}, {**told, "received": 1400.0}
    assert "60 minutes apart" in overview.judge("m", "all", early, rollout, 5010).why
    assert overview.judge("m", "all", late, rollout, 5010).state == "in force", "the broker's clock is behind"
    assert "--version 10" in overview.judge("m", "all", {**told, "policy": {"version": 9}}, rollout, 5010).why
    assert "publish FILE --group all" in overview.judge("m", "all", told, None, 5010).why


def test_a_group_without_a_policy_says_what_its_owner_does(ready: Broker) -> None:
    async def ask() -> None:
        async with connection(ready.issue("m1")) as client:
            await policies.fetch_rollout(client.jetstream(timeout=1), "all")

    with pytest.raises(ConfigError, match="its owner sees which: hookline fleet status"):
        asyncio.run(ask())


def test_a_copied_machine_is_noticed_and_a_purged_report_is_not_one(ready: Broker, owner: Owner) -> None:
    machine = ready.issue("m1")

    async def say(last: int) -> tuple[int, bool]:
        async with connection(machine) as client:
            one = FleetLink(Joined(folder=str(owner.base), credentials=machine), owner.paths, client)
            return await parts._say(one, {"state": "none"}, last)

    first, alone = asyncio.run(say(0))
    assert alone
    assert asyncio.run(say(first))[1]
    assert not asyncio.run(say(first))[1], "the copy has reported since"
    as_owner(ready, lambda stream: stream.purge_stream("KV_hookline_machines"))
    assert asyncio.run(say(first))[1]


def test_a_disk_on_which_nothing_can_be_recorded_is_named(tmp_path: Path) -> None:
    assert parts.find_full_disk(str(tmp_path), least=0) == ""
    assert "make room there" in parts.find_full_disk(str(tmp_path), least=1 << 60)


def test_a_machine_reports_as_itself_alone(ready: Broker, owner: Owner) -> None:
    machine = ready.issue("m1")

    async def report() -> None:
        async with connection(machine) as client:
            one = FleetLink(Joined(folder=str(owner.base), credentials=machine), owner.paths, client)
            task = asyncio.create_task(parts.report(one))
            done, _ = await asyncio.wait({task}, timeout=2)
            assert not done
            task.cancel()
            with pytest.raises((*UNREACHABLE, APIError)):
                await client.jetstream(timeout=1).publish("$KV.hookline_machines.m2", b"{}")

    asyncio.run(report())
    found = as_owner(ready, overview.reports)
    assert set(found) == {"m1"}
    assert found["m1"]["state"] == "none"
