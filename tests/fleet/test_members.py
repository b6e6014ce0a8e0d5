"""Who may do what on the broker: a machine speaks for itself alone, and a revoked one not at all."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from nats.errors import Error as NatsError
from tests.cli.conftest import Project
from tests.fleet.broker import Broker, free_ports, needs_broker
from tests.patience import eventually

from hookline.cli.commands.fleet_team import print_machines
from hookline.core.errors import ConfigError, UsageError
from hookline.core.paths import Paths
from hookline.fleet import authority as authorities
from hookline.fleet import link
from hookline.fleet.connection import connect, connection, explain, silent_servers
from hookline.fleet.credentials import Credentials, parse_credentials
from hookline.fleet.join import find_joined, join
from hookline.fleet.overview import judge
from hookline.fleet.policies import Published, Rollout
from hookline.fleet.streams import tell_servers
from hookline.fleet.subjects import ask_subject, record_subject

pytestmark = needs_broker


async def _heard(listener: Credentials, speaker: Credentials, subject: str, listen: str = "") -> bool:
    """Whether something that one publishes reaches the other."""
    async with connection(listener) as one, connection(speaker) as two:
        heard = await one.subscribe(listen or subject)
        await one.flush()
        await two.publish(subject, b"x")
        await two.flush()
        try:
            await heard.next_msg(timeout=1)
        except Exception:
            return False
        return True


def test_a_machine_publishes_only_as_itself(broker: Broker) -> None:
    machine, admin = broker.issue("m1"), broker.admin()
    assert asyncio.run(_heard(admin, machine, record_subject("m1", "u0")))
    assert asyncio.run(_heard(admin, machine, ask_subject("m1", "q1")))
    assert not asyncio.run(_heard(admin, machine, record_subject("m2", "u0")))
    assert not asyncio.run(_heard(admin, machine, "$KV.hookline_machines.m2"))


def test_a_machine_listens_to_nobody_else(broker: Broker) -> None:
    machine, other = broker.issue("m1"), broker.issue("m2")
    assert not asyncio.run(_heard(machine, other, record_subject("m2", "u0")))
    assert not asyncio.run(_heard(machine, broker.admin(), "_INBOX.machine_m2.x", "_INBOX.>"))


def test_teams_do_not_hear_one_another(broker: Broker) -> None:
    assert not asyncio.run(_heard(broker.admin("other"), broker.issue("m1"), record_subject("m1", "u0"), ">"))


def test_a_revoked_machine_is_cut_off_and_stays_out(broker: Broker) -> None:
    machine, stays = broker.issue("m1"), broker.issue("m2")

    async def revoke() -> None:
        client = await connect(machine)
        broker.authority = authorities.revoke(broker.authority, "team", "m1")
        assert await tell_servers(broker.authority, "team") == 1
        for _ in range(1000):
            if not client.is_connected:
                break
            await asyncio.sleep(0.02)
        assert not client.is_connected
        await client.close()
        with pytest.raises(ConfigError, match="refuses m1"):
            await connect(machine)
        async with connection(stays):
            pass

    asyncio.run(revoke())
    broker.kill()
    broker.start()
    with pytest.raises(ConfigError, match="refuses m1"):
        asyncio.run(connect(machine))


def test_a_name_is_issued_anew_only_after_its_revocation(broker: Broker) -> None:
    broker.issue("m1")
    with pytest.raises(UsageError, match="already"):
        broker.issue("m1")
    broker.authority = authorities.revoke(broker.authority, "team", "m1")
    asyncio.run(tell_servers(broker.authority, "team"))

    async def knock() -> None:
        async with connection(broker.issue("m1")):
            pass

    asyncio.run(knock())


def test_another_brokers_certificate_is_refused(broker: Broker, tmp_path: Path) -> None:
    servers = broker.authority.servers
    elsewhere = authorities.init(str(tmp_path / "elsewhere"), servers, ["team"])
    _, text = authorities.add(elsewhere, "team", "machine", "m1", "all")
    with pytest.raises(ConfigError, match="certificate"):
        asyncio.run(connect(parse_credentials(text, "m1")))


def _paths(base: Path) -> Paths:
    return Paths(
        config=str(base / "c"), state=str(base / "s"), data=str(base / "d"), machine=str(base / "etc/hookline")
    )


def test_a_part_that_raises_is_noted_and_started_again(broker: Broker, tmp_path: Path) -> None:
    creds = tmp_path / "m1.creds"
    creds.write_text(broker.issue("m1").text)
    joined = join(_paths(tmp_path), str(creds))
    assert find_joined(_paths(tmp_path)) == joined
    assert os.stat(tmp_path / "etc/hookline/fleet/machine.creds").st_mode & 0o077 == 0
    runs: list[str] = []

    async def part(one: link.FleetLink) -> None:
        runs.append(one.machine)
        if len(runs) == 1:
            raise ConfigError("not yet")
        one.note("part", "")
        await asyncio.Event().wait()

    assert link.run(joined, _paths(tmp_path), lambda: len(runs) < 2 or not joined.state()["connected"], {"part": part})
    assert runs == ["m1", "m1"]
    assert joined.state()["problems"] == {"part": ""}


def test_what_the_broker_said_meanwhile_is_asked_for_when_it_is_back(broker: Broker, tmp_path: Path) -> None:
    """Else a machine whose time without the broker is over refuses for minutes more."""
    creds, done = tmp_path / "m1.creds", threading.Event()
    creds.write_text(broker.issue("m1").text)
    joined, news = join(_paths(tmp_path), str(creds)), list[int]()

    async def part(one: link.FleetLink) -> None:
        while True:
            await one.news.wait()
            one.news.clear()
            news.append(1)

    arguments = (joined, _paths(tmp_path), lambda: not done.is_set(), {"part": part})
    thread = threading.Thread(target=link.run, args=arguments)
    thread.start()
    try:
        assert eventually(lambda: joined.state().get("connected"))
        broker.kill()
        assert eventually(lambda: "cannot be reached" in joined.state()["problem"])
        before = len(news)
        broker.start()
        assert eventually(lambda: len(news) > before)
    finally:
        done.set()
        thread.join()


def test_servers_that_do_not_answer_are_named(broker: Broker, project: Project) -> None:
    gone = f"127.0.0.1:{free_ports(1)[0]}"
    assert asyncio.run(silent_servers([broker.authority.servers[0], gone])) == [gone]
    broker.kill()
    done = project.run("fleet", "status", "--fleet", broker.folder, "--team", "team")
    assert "1 of 1 server of the broker does not answer" in done.err
    assert "there: nats-server -c nats-1.conf" in done.err


def test_problems_of_this_machine_are_not_the_brokers(broker: Broker) -> None:
    machine = broker.issue("m1")
    assert "make room" in explain(machine, OSError(errno.ENOSPC, "No space left on device"))
    assert "new ones: hookline fleet revoke m1" in explain(machine, NatsError("nats: user authentication expired"))


def test_a_problem_of_many_machines_is_said_once_with_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    rollout = Rollout(stable=Published(version=2, digest="d", name="p"))
    why = f"it is signed by another key; {'a long story; ' * 8}hookline policy keygen NEW --previous OLD"
    told = {"state": "in force", "policy": {"version": 1}, "time": 1000.0, "problems": {"policy": why}}
    print_machines([judge(f"m{at}", "all", told, rollout, 1010) for at in range(100)], "")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 10
    assert "m0, m1, m2, m3 and 96 more" in " ".join(lines)
    assert " ".join(lines).replace("  ", " ").endswith("hookline policy keygen NEW --previous OLD")


def test_the_link_of_a_revoked_machine_says_so(broker: Broker, tmp_path: Path) -> None:
    creds, done = tmp_path / "m1.creds", threading.Event()
    creds.write_text(broker.issue("m1").text)
    joined = join(_paths(tmp_path), str(creds))
    thread = threading.Thread(target=link.run, args=(joined, _paths(tmp_path), lambda: not done.is_set(), {}))
    thread.start()
    try:
        assert eventually(lambda: joined.state().get("connected"))
        broker.authority = authorities.revoke(broker.authority, "team", "m1")
        asyncio.run(tell_servers(broker.authority, "team"))
        assert eventually(lambda: "refuses m1" in joined.state()["problem"])
        assert not joined.state()["connected"]
    finally:
        done.set()
        thread.join()


def test_the_daemon_starts_the_link_of_a_machine_that_has_joined(broker: Broker, project: Project) -> None:
    creds = project.write("m1.creds", broker.issue("m1").text)
    paths = Paths(
        config=str(project.home / ".config/hookline"), state="", data="", machine=str(project.path / "nowhere"),
    )  # fmt: skip
    place = Path(paths.fleet_credentials[1])
    place.parent.mkdir(parents=True)
    place.write_text(creds.read_text())
    runtime = tempfile.mkdtemp(prefix="hookline-")  # the path of a socket is short
    started = project.run("daemon", "start", XDG_RUNTIME_DIR=runtime)
    assert started.code == 0, started.err
    try:
        joined = find_joined(paths)
        assert joined is not None
        assert eventually(lambda: joined.state().get("connected"))
        key = project.home / ".local/state/hookline/fleet-team.key"
        assert eventually(key.exists)
        assert "m1: connected" in project.run("fleet", "status", "--local").out
        left = project.run("fleet", "leave")
        assert "hookline fleet revoke m1" in left.out
        assert not key.exists()
        assert not place.exists()
    finally:
        project.run("daemon", "stop", XDG_RUNTIME_DIR=runtime)
        shutil.rmtree(runtime)


def test_a_machine_whose_link_does_not_run_is_not_connected(broker: Broker, project: Project) -> None:
    creds, root = project.write("m1.creds", broker.issue("m1").text), str(project.path / "disk")
    assert "--key owner.key.pub" in project.run("fleet", "join", str(creds), "--root", root).err
    project.run("policy", "keygen", "owner.key")
    words = ("fleet", "join", str(creds), "--root", root, "--key", "owner.key.pub")
    assert "next: hookline fleet link" in project.run(*words).out
    joined = find_joined(Paths(config="", state="", data="", machine=f"{root}/etc/hookline"))
    assert joined is not None
    joined.keep_state({"connected": True, "problem": ""})  # as a link leaves it that is killed
    status = project.run("fleet", "status", "--local", "--root", root, "--json")
    assert (status.code, status.json["connected"]) == (1, False)
    assert "hookline fleet link" in status.json["problems"][0]


def test_credentials_for_something_else_name_the_right_ones(broker: Broker, project: Project) -> None:
    creds = project.write("m1.creds", broker.issue("m1").text)
    sink = project.run("fleet", "sink", "--to", "stdout", "--credentials", str(creds))
    assert (sink.code, "--role sink" in sink.err) == (78, True)
    nobody = project.run("fleet", "inbox")
    assert (nobody.code, "install -D -m 600" in nobody.err) == (78, True)


def test_credentials_of_no_fleet_are_refused_with_the_next_command(project: Project) -> None:
    bad = project.write("bad.creds", "-----BEGIN NATS USER JWT-----\nx\n")
    done = project.run("fleet", "join", str(bad))
    assert done.code == 78
    assert "hookline fleet add" in done.err
