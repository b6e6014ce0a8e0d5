"""A record in the journal is a record: nothing is lost by a kill, nothing is kept twice."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.core.result import NO_OPINION, Decision, Message, Replied, Reply, RunResult
from hookline.core.settings import RecordSettings
from hookline.state.record import Record, journal, query
from hookline.state.record.journal import JournaledStore, journal_path
from hookline.state.record.store import Store, store_in
from hookline.testing import event

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

KILLED = """
import os, sys
from hookline.state.record import Record
from hookline.state.record import journal
from hookline.core.result import Decision
from hookline.core._dataclass import replace
from hookline.testing import event
journal._GATHER = 60
store = journal.JournaledStore(sys.argv[1])
for number in range(20):
    store.write(Record(event=replace(event("PreToolUse", tool_name="Bash"), id=f"e{number}"), decision=Decision(event="PreToolUse", data={}), specs={}))
if sys.argv[2] == "half":
    rows = store._waiting[:10]
    store.keep(rows)
os.kill(os.getpid(), 9)
"""


def record(name: str) -> Record:
    happened = replace(event("PreToolUse", tool_name="Bash"), id=name)
    return Record(event=happened, decision=Decision(event="PreToolUse", data=happened.data), specs={})


def names(store: Store) -> list[str]:
    return [row[0] for row in store.read("SELECT id FROM firings ORDER BY number")]


def test_a_record_reaches_the_store(tmp_path: Path):
    path = str(tmp_path / "hookline.db")
    store = JournaledStore(path)
    for number in range(5):
        assert store.write(record(f"e{number}")) == f"e{number}"
    store.close()

    assert names(Store(path)) == [f"e{number}" for number in range(5)]
    assert os.path.getsize(journal_path(path)) == 0


def test_whoever_opens_the_store_after_a_kill_finds_every_record_once(tmp_path: Path):
    for how in ("none", "half"):
        state = tmp_path / how
        state.mkdir()
        path = str(state / "hookline.db")
        subprocess.run([sys.executable, "-c", KILLED, path, how], check=False)
        assert os.path.getsize(journal_path(path)) > 0

        store = store_in(str(state), RecordSettings())

        assert sorted(names(store)) == sorted(f"e{number}" for number in range(20))
        store.close()


def test_a_line_that_was_cut_off_costs_itself_only(tmp_path: Path):
    path = str(tmp_path / "hookline.db")
    subprocess.run([sys.executable, "-c", KILLED, path, "none"], check=False)
    with open(journal_path(path), "r+b") as file:
        file.truncate(os.path.getsize(journal_path(path)) - 7)

    store = JournaledStore(path)

    assert len(names(store)) == 19
    store.close()


def test_a_journal_that_another_process_writes_is_left_alone(tmp_path: Path):
    path = str(tmp_path / "hookline.db")
    first = JournaledStore(path)
    second = JournaledStore(path)
    first.write(record("a"))
    second.write(record("b"))
    first.close()
    second.close()

    assert sorted(names(Store(path))) == ["a", "b"]


def test_whatever_columns_are_empty_a_record_reads_the_same_as_one_written_at_once(
    tmp_path: Path, replied: Callable[..., Replied], firing: Callable[..., Record]
) -> None:
    plain = replied(stdout="")
    bare = Replied(id="id-f", hook="f", ms=1.0, raw=RunResult(), reply=Reply())
    records = [
        firing(id="a"),
        firing(bare, id="b"),
        firing(plain, bare, id="c", effect="deny", reason="no", messages=(Message(hook="f", text="t"),)),
        firing(replied(effect="deny"), id="d", modified=True),
    ]
    at_once, later = Store(str(tmp_path / "a" / "hookline.db")), JournaledStore(str(tmp_path / "b" / "hookline.db"))
    for record in records:
        at_once.write(record)
        later.write(record)
    assert later.flush()
    for statement in ("SELECT * FROM firings ORDER BY number", "SELECT * FROM every_run ORDER BY firing, position"):
        kept = later.read(statement)
        assert kept
        assert [_as_read(row) for row in kept] == [_as_read(row) for row in at_once.read(statement)]
    later.close()


def _as_read(row: Any) -> list[Any]:
    """A row with its data as values: the two ways to write JSON differ in blanks."""
    return [json.loads(one) if isinstance(one, str) and one.startswith(("{", "[")) else one for one in tuple(row)]


def test_half_a_line_on_a_full_disk_does_not_spoil_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journal, "_GATHER", 60)
    path, whole = str(tmp_path / "hookline.db"), os.write
    store = JournaledStore(path)
    store.write(record("before"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: whole(handle, data[:40]))
        store.write(record("cut"))  # goes the ordinary way
    store.write(record("after"))

    with open(journal_path(path), "rb") as file:
        kept = [json.loads(line)[0][0] for line in file]

    assert kept == ["before", "after"]
    store.close()
    assert sorted(names(Store(path))) == ["after", "before", "cut"]


def test_what_a_killed_process_left_outlives_a_store_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whoever takes the journal over must not empty it of what has not reached the store."""
    path = str(tmp_path / "hookline.db")
    subprocess.run([sys.executable, "-c", KILLED, path, "all"], check=False)
    monkeypatch.setattr(journal, "_GATHER", 60)
    store = JournaledStore(path)
    with monkeypatch.context() as patch:
        patch.setattr(journal, "insert_many", full)
        store.write(record("mine"))

    assert store.flush()
    store.close()

    assert names(Store(path)) == [*(f"e{number}" for number in range(20)), "mine"]


def full(*_: Any) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def test_a_journal_that_could_not_be_opened_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = str(tmp_path / "hookline.db")
    os.mkdir(journal_path(path))
    monkeypatch.setattr(journal, "_FIRST_RETRY", 0.0)
    store = JournaledStore(path)
    store.write(record("first"))
    os.rmdir(journal_path(path))
    store.write(record("second"))
    store.write(record("third"))

    assert os.path.isfile(journal_path(path))
    store.close()
    assert names(Store(path)) == ["first", "second", "third"]


def test_records_of_many_threads_at_the_very_beginning_all_go_through_one_journal(tmp_path: Path) -> None:
    for number in range(4):
        path = str(tmp_path / str(number) / "hookline.db")
        store = JournaledStore(path)
        together = threading.Barrier(8)

        def write(name: str, together: threading.Barrier = together, store: JournaledStore = store) -> None:
            together.wait()
            for turn in range(4):
                store.write(record(f"{name}-{turn}"))

        threads = [threading.Thread(target=write, args=(f"t{thread}",)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert store._handle is not None
        store.close()
        assert sorted(names(Store(path))) == sorted(f"t{thread}-{turn}" for thread in range(8) for turn in range(4))


class Locked:
    """Somebody else writes to the store and does not come to an end."""

    def __init__(self, path: str) -> None:
        Store(path).read("SELECT 1")  # makes the file
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_: object) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


def test_a_handful_that_must_wait_costs_its_writer_nothing_and_is_no_failure(tmp_path: Path):
    path = str(tmp_path / "hookline.db")
    store = JournaledStore(path, helped=True, keep_days=0)
    many = [f"e{number}" for number in range(journal.HANDFUL + 1)]

    with Locked(path):
        for name in many:
            store.write(record(name))
        store.carry()
        told = store.note
    store.close()

    assert (told, names(Store(path))) == ("", many)


def test_whoever_writes_does_not_wait_for_one_who_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = JournaledStore(str(tmp_path / "hookline.db"), helped=True)
    begun, over = threading.Event(), threading.Event()
    waited: list[bool] = []

    def carrying(_rows: object, *, patient: bool) -> bool:
        begun.set()
        waited.append(not over.wait(10))
        return patient

    monkeypatch.setattr(store, "keep", carrying)
    for number in range(journal.HANDFUL + 1):
        store.write(record(f"e{number}"))
    thread = threading.Thread(target=store.flush)
    thread.start()
    begun.wait(10)
    for number in range(journal.HANDFUL + 1):
        store.write(record(f"f{number}"))
    store.carry()
    over.set()
    thread.join()

    store.close()

    assert set(waited) == {False}


def test_a_journal_that_was_deleted_is_begun_anew(tmp_path: Path):
    path = str(tmp_path / "state" / "hookline.db")
    store = JournaledStore(path)
    store.write(record("before"))
    store.flush()

    for name in os.listdir(tmp_path / "state"):
        os.unlink(tmp_path / "state" / name)
    store.write(record("lost sight of"))
    store.flush()
    with Locked(path):
        store.write(record("after"))
        kept = json.loads(Path(journal_path(path)).read_bytes())[0][0]
    store.close()

    assert (kept, names(Store(path))) == ("after", ["lost sight of", "after"])


def test_what_a_killed_process_left_is_not_waited_for_while_somebody_writes(tmp_path: Path):
    path = str(tmp_path / "hookline.db")
    subprocess.run([sys.executable, "-c", KILLED, path, "none"], check=False)

    with Locked(path):
        left = journal.recover(store := JournaledStore(path))

    assert (len(left), store.note) == (20, "")
    assert len(names(store_in(str(tmp_path), RecordSettings()))) == 20


def test_lines_that_cannot_be_recorded_are_set_aside_and_the_others_kept_once(tmp_path: Path):
    path = str(tmp_path / "hookline.db")
    subprocess.run([sys.executable, "-c", KILLED, path, "none"], check=False)
    good = Path(journal_path(path)).read_bytes().splitlines()
    row, runs = json.loads(good[0])
    bad = [
        b'[["x"],[]]', b"[[],[[]]]", b"{}", b"[" * 5000, b"no json",
        json.dumps([["odd", {"a": 1}, *row[2:]], runs]).encode(),
        json.dumps([["surrogate", *row[1:7], "\ud800", *row[8:]], runs]).encode(),
        json.dumps([["huge", row[1], row[2], 1 << 70, *row[4:]], runs]).encode(),
        json.dumps([["type", "no time", *row[2:]], runs]).encode(),
    ]  # fmt: skip
    Path(journal_path(path)).write_bytes(b"\n".join([bad[0], *good, *bad[1:], good[3]]) + b"\n")

    store = store_in(str(tmp_path), RecordSettings())

    assert names(store) == [f"e{number}" for number in range(20)]
    aside = Path(f"{journal_path(path)}.bad")
    assert len(aside.read_bytes().splitlines()) == len(bad)
    assert aside.stat().st_mode & 0o077 == 0
    assert "could not be recorded; moved to" in store.note
    assert Path(journal_path(path)).stat().st_size == 0


def test_callers_that_take_turns_are_each_redacted_by_their_own_environment(
    tmp_path: Path, firing: Callable[..., Record]
):
    store = JournaledStore(str(tmp_path / "hookline.db"), helped=True)
    environs = [{"DB_PASSWORD": f"violet-harbour-{number}", "PWD": str(number)} for number in range(12)]
    for turn in range(3):
        for number, environ in enumerate(environs):
            data = {"tool_name": "Bash", "tool_input": {"command": f"echo violet-harbour-{number} {turn}"}}
            store.write(firing(data=data, environ=environ, id=f"e{turn}x{number}"))
    shown = [row[0] for row in store.read("SELECT data FROM firings ORDER BY number")]
    store.close()

    assert len(shown) == 36
    assert not [row for row in shown if "violet" in row or "[redacted:DB_PASSWORD]" not in row]


def test_hooks_with_nothing_to_say_share_a_row_and_are_found_like_any_other(
    tmp_path: Path, firing: Callable[..., Record], replied: Callable[..., Replied]
) -> None:
    quiet = [
        Replied(id=f"id-{name}", hook=name, ms=ms, raw=RunResult(), reply=NO_OPINION)
        for name, ms in (("f", 1.5), ("g", 2.5))
    ]
    store = JournaledStore(str(tmp_path / "hookline.db"), keep_days=1)
    store.write(firing(*quiet, id="old", time=1.0))
    store.write(firing(quiet[0], replied(effect="deny"), quiet[1], id="loud", time=time.time()))
    assert store.flush()

    assert store.read("SELECT count(*) FROM quiet") == [(2,)]
    assert [row.id for row in query.firings(store, hook="g")] == ["old", "loud"]
    assert [row.id for row in query.firings(store, hook="g", status="failed")] == []
    number = query.find(store, "loud")[0].number
    assert [(run.position, run.status, run.ms) for run in query.load_runs(store, [number])[number]] == [
        (0, "replied", 1.5), (1, "replied", 3.0), (2, "replied", 2.5),
    ]  # fmt: skip
    assert query.stats(store, {"id-g": "g"})["id-g"].fired == 2
    assert query.latest_times(store, "id-g", "g") == [2.5, 2.5]

    assert store.prune() == 1
    assert store.read("SELECT count(*) FROM quiet") == [(1,)]
    assert [hook for (hook,) in store.read("SELECT hook FROM plans ORDER BY place")] == ["f", "g"]
    store.close()
