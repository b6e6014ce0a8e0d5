"""A fleet that is broken while it works: a few faults here, hundreds by make fleet."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.fleet import faults
from tests.fleet.broker import Broker, free_ports, needs_broker, running
from tests.fleet.test_records import Journal, as_owner, drain, nothing, ship, start_at
from tests.patience import eventually

from hookline.core.errors import StateError
from hookline.fleet.connection import connection
from hookline.fleet.sink import Postgres, Received

pytestmark = needs_broker


def test_no_record_is_lost_or_doubled_while_everything_is_killed() -> None:
    pytest.importorskip("pyarrow")
    # The path of a daemon's socket must be short; and a link that ends with its daemon may still write while it is removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        assert faults.run(Path(folder), kills=5, seed=3, size=1, say=lambda _: None)["records"]


def test_a_broker_that_lost_its_disk_gets_what_comes_afterwards(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with running(tmp_path) as broker:
        assert eventually(lambda: faults._ready(broker))
        machine, sink = faults.Machine(tmp_path, broker, "m0"), faults.Sink(tmp_path, broker)
        try:
            machine.write(5)
            faults.keep_alive(machine, sink)
            assert eventually(lambda: sink.ids().total() == 5, 60)
            broker.kill()
            shutil.rmtree(Path(broker.folder) / "server/data-1")
            machine.write(5)
            broker.start()
            assert eventually(lambda: faults._ready(broker))
            assert eventually(lambda: sink.ids().total() == 10, 120), sink.ids()
            assert sink.process is not None
            assert sink.process.poll() is None, "it goes on by itself"
        finally:
            machine.kill()
            sink.kill()


def test_a_cluster_of_three_takes_records_while_one_server_is_down(tmp_path: Path) -> None:
    with running(tmp_path, 3) as cluster:
        assert eventually(lambda: faults._ready(cluster))
        machine, place = cluster.issue("m1"), start_at(tmp_path / "mark")
        cluster.kill(0)

        def sent() -> bool:
            try:
                return asyncio.run(ship(machine, Journal(5), place)).mark.sent == 5
            except Exception:
                return False  # until the others have chosen a leader

        assert eventually(sent, 120)


# ── PostgreSQL ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def database() -> Generator[str]:
    """A server of its own on a socket in a folder of its own; PostgreSQL refuses to run as root."""
    if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    pytest.importorskip("psycopg")
    folder = tempfile.mkdtemp(prefix="hookline-pg-")
    account = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    if os.geteuid() == 0:
        os.chown(folder, account.pw_uid, account.pw_gid)

    def run(*words: str) -> None:
        user = account.pw_uid if os.geteuid() == 0 else None
        done = subprocess.run(
            words, cwd=folder, user=user, capture_output=True, text=True, check=False, timeout=120,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    run("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "hookline", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -p {free_ports(1)[0]}"
    port = options.rpartition(" ")[2]
    run("pg_ctl", "-D", f"{folder}/data", "-o", options, "-l", f"{folder}/log", "-w", "start")
    try:
        yield f"host={folder} port={port} user=hookline dbname=postgres"
    finally:
        run("pg_ctl", "-D", f"{folder}/data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


def test_a_database_has_each_record_once_and_tells_when_it_is_away(
    database: str, broker: Broker, tmp_path: Path
) -> None:
    import psycopg

    as_owner(broker, nothing)
    asyncio.run(ship(broker.issue("m1"), Journal(7, reason="nul\0 here"), start_at(tmp_path / "mark")))

    class Counted(Postgres):
        got: list[Received] = []

        def write(self, batch: list[Received]) -> None:  # type: ignore[override]
            super().write(batch)
            super().write(batch)  # as after an acknowledgement that was lost
            self.got += batch

    target = Counted(database)
    drain(broker.issue("s", role="sink"), "pg", target, 7)
    target._connection.close()
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT id, machine, reason FROM hookline_records ORDER BY sequence").fetchall()
    assert rows == [(f"e{number}", "m1", "nul here") for number in range(1, 8)]
    with pytest.raises(StateError, match="cannot be used"):
        Postgres(f"{database} connect_timeout=1".replace("dbname=postgres", "dbname=nowhere")).begin("a", 0)


def test_the_knock_of_a_machine_is_answered_by_any_server(tmp_path: Path) -> None:
    with running(tmp_path, 3) as cluster:
        machine = cluster.issue("m1")
        cluster.kill(1)

        async def knock() -> bool:
            async with connection(machine) as client:
                return client.is_connected

        assert asyncio.run(knock())
