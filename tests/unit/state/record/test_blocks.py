"""Filters find the same firings, wherever these are in the store and whatever happened to it."""

from __future__ import annotations

import os
import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hookline.core.result import Failed, Started
from hookline.state.record import query
from hookline.state.record.journal import JournaledStore
from hookline.state.record.store import BLOCK, Store

HOUR = 3600.0
MANY = 3 * BLOCK + BLOCK // 2


def rows(number: int) -> Any:
    """A firing every minute: sessions that end, one that is everywhere, a project and a hook that are rare."""
    session = "everywhere" if number % 100 == 0 else f"session-{number // 500}"
    cwd = "/rare/below" if number % 900 == 7 else "/often"
    effect, agent = ("deny" if number % 700 == 1 else "allow"), ("codex" if number % 800 == 3 else "claude-code")
    event = "Stop" if number % 350 == 9 else "PreToolUse"
    row = (
        f"{number:06}",
        number * 60.0,
        session,
        0,
        agent,
        event,
        event,
        cwd,
        effect,
        int(effect == "allow"),
        "",
        None,
    )
    names = ("guard", "rare") if number % 1000 == 21 else ("guard",)
    status = "failed" if number % 600 == 21 else "replied"
    runs = [(at, f"id-{name}", name, "native", status, None, 0, 1.0, "", "", "", None, None, None) for at, name in enumerate(names)]  # fmt: skip
    return (*row, 0, 1.0, 1, "{}", *(None,) * 7), runs


@pytest.fixture
def full(path: str) -> Any:
    store = JournaledStore(path, keep_days=0, keep_mb=0)
    assert all(store.keep([rows(number) for number in range(at, at + 256)]) for at in range(0, MANY, 256))
    yield store
    store.close()


FILTERS: list[dict[str, Any]] = [
    {
        name: value
        for name, value in zip(("session", "project", "agent", "hook", "status"), values, strict=True)
        if value
    }
    for values in product(
        ("", "everywhere", "session-1"), ("", "/rare"), ("", "codex"), ("", "rare", "id-guard"), ("", "failed")
    )
] + [
    {"effect": "deny"},
    {"effect": "deny", "until": 20 * HOUR},
    {"event": "Stop", "since": 10 * HOUR, "until": 30.5 * HOUR},
    {"since": 1e9},
    {"until": 61.0},
    {"session": "session-2", "after": 1100},
    {"session": "nobody"},
]


def walked(found: list[query.Row], runs: Any, filters: dict[str, Any]) -> list[str]:
    """Firing by firing."""

    def fits(row: query.Row) -> bool:
        plain = all(
            getattr(row, name) == filters[name] for name in ("session", "agent", "event", "effect") if name in filters
        )
        placed = "project" not in filters or f"{row.cwd}/".startswith(f"{filters['project']}/")
        timed = filters.get("since", 0) <= row.time < filters.get("until", 1e12) and row.number > filters.get(
            "after", 0
        )
        ran = not {"hook", "status"} & filters.keys() or any(
            filters.get("hook", run.hook) in {run.hook, run.hook_id} and filters.get("status", run.status) == run.status
            for run in runs[row.number]
        )
        return plain and placed and timed and ran

    return [row.id for row in found if fits(row)]


def check(store: Store, wanted: list[dict[str, Any]] = FILTERS) -> None:
    found = query.firings(store, last=None)
    runs = query.load_runs(store, [row.number for row in found])
    for filters in wanted:
        expected = walked(found, runs, filters)
        assert [row.id for row in query.firings(store, last=None, **filters)] == expected, filters
        assert [row.id for row in query.firings(store, last=3, **filters)] == expected[-3:], filters


def entered(store: Store) -> set[int]:
    return {block for (block,) in store.read("SELECT DISTINCT block FROM blocks")}


@pytest.mark.slow
def test_writers_enter_full_blocks_and_every_filter_finds_what_a_walk_finds(full) -> None:
    assert entered(full) == {0, 1, 2}
    check(full)


@pytest.mark.slow
def test_a_store_of_before_is_entered_by_the_first_filter_and_not_when_it_is_opened(full, path) -> None:
    full.close()
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "DROP TABLE blocks; DROP VIEW every_run; DROP TABLE quiet; DROP TABLE plans; PRAGMA user_version = 3"
        )
    connection.close()
    later = Store(path, keep_days=0, keep_mb=0)
    assert query.firings(later, last=1)
    assert entered(later) == set()
    assert [row.id for row in query.firings(later, session="session-1", last=1)] == ["000999"]
    assert entered(later) == {0, 1, 2}
    check(later)
    later.close()


@pytest.mark.slow
def test_a_store_that_cannot_be_written_is_walked(full) -> None:
    with full.connection() as connection:
        connection.execute("DELETE FROM blocks WHERE block <> 1")
        connection.execute("PRAGMA query_only = ON")
    check(full, FILTERS[::7])
    assert entered(full) == {1}


@pytest.mark.slow
def test_what_is_forgotten_leaves_no_name_and_the_rest_is_found(full, path) -> None:
    assert full.forget("everywhere") > 0
    assert full.forget("session-1") > 0
    check(full, FILTERS[::5])
    assert full.forget_before(200 * 60.0)
    check(full, FILTERS[::5])
    full.close()
    kept = b"".join(Path(name).read_bytes() for name in (path, f"{path}-wal") if os.path.exists(name))
    assert b"session-2" in kept
    assert b"session-1" not in kept
    assert b"everywhere" not in kept


@pytest.mark.slow
def test_numbers_that_are_given_again_are_found(full) -> None:
    for session in [f"session-{number}" for number in range(2, 8)]:
        full.forget(session)
    full.forget("everywhere")
    assert full.keep([rows(number) for number in range(MANY, MANY + 2 * BLOCK)])
    check(full, FILTERS[::5])
    assert [row.id for row in query.firings(full, session="everywhere", last=1)] == ["005600"]


def test_what_a_hook_did_in_the_background_is_found_when_it_ended(store, firing) -> None:
    store.write(firing(Started(id="id-a", hook="a"), id="first"))
    for number in range(BLOCK):
        store.write(firing(id=f"n{number}"))
    assert entered(store) == {0}
    store.amend("first", Failed(id="id-a", hook="a", error="boom"), aborts=True)
    assert [row.id for row in query.firings(store, status="failed")] == ["first"]
    assert [row.id for row in query.firings(store, effect="deny")] == ["first"]
    assert query.firings(store, status="started") == []
