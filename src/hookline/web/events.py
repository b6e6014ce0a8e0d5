"""Events for the pages: one line each, filtered and paged in SQLite; nothing is ever loaded whole."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from hookline.core.paths import home_directory, project_root
from hookline.state.record.chain import subject
from hookline.state.record.query import text_test
from hookline.state.record.store import Store

#: Rows of one page at most, characters of a line's texts, and recent events in which choices of filters are looked for.
_MOST, MOST_NEW, _TEXT, _RECENT = 500, 2000, 240, 20_000
#: What a line needs; the order is that of ``_line``.
_COLUMNS = "number, id, time, session, turn, agent, event, cwd, effect, granted, reason, modified, ms, data, ignored"
#: Where those columns are in a row of the journal, which has no number.
_JOURNAL = (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15, 21)


@lru_cache(maxsize=2048)
def project_name(cwd: str) -> str:
    """The name of the project's folder."""
    root = project_root(cwd, home_directory(os.environ)) if os.path.isdir(cwd) else cwd
    return os.path.basename(root) or root


def line(row: Sequence[Any], runs: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """One event in a list. ``runs`` are hook, status and effect of each."""
    number, name, time, session, turn, agent, event, cwd, effect, granted, reason, modified, ms, data, ignored = row
    values: Any = {}
    with suppress(ValueError, TypeError):
        values = json.loads(data)
    return {
        "n": number, "id": name, "t": time, "session": session, "turn": turn, "agent": agent, "event": event,
        "cwd": cwd, "project": project_name(cwd), "effect": effect, "granted": bool(granted),
        "reason": reason[:_TEXT], "modified": bool(modified), "ms": ms, "about": subject(values)[:_TEXT],
        "noted": ignored is not None,
        "hooks": [{"name": hook, "status": status, "effect": part} for hook, status, part in runs],
    }  # fmt: skip


def journal_line(rows: Any) -> dict[str, Any]:
    """The same of a line of the journal, which has not reached the store."""
    row, runs = rows
    return line((None, *(row[at] for at in _JOURNAL)), [(run[2], run[4], run[5]) for run in runs])


def _condition(filters: Mapping[str, str]) -> tuple[str, list[Any]]:
    """A condition on ``firings`` and its arguments."""
    tests: list[str] = []
    arguments: list[Any] = []

    def add(test: str, *values: Any) -> None:
        tests.append(test)
        arguments.extend(values)

    for name in ("agent", "event", "session"):
        if value := filters.get(name):
            add(f"{name} = ?", value)
    if value := filters.get("project"):
        folder = value.rstrip("/")
        add("(cwd = ? OR substr(cwd, 1, ?) = ?)", folder, len(folder) + 1, f"{folder}/")
    if (value := filters.get("effect")) in {"allow", "ask", "deny"}:
        add("effect = ?" if value == "allow" else "effect = ? AND effect <> 'allow'", value)
    elif value == "failed":
        add("number IN (SELECT firing FROM runs WHERE status IN ('failed', 'timed-out'))")
    elif value == "changed":
        add("modified = 1")
    if value := filters.get("hook"):
        ids = "SELECT hook_id FROM hooks WHERE hook = ? UNION SELECT ?"
        add(
            f"number IN (SELECT firing FROM runs WHERE hook_id IN ({ids}) AND status <> 'skipped' UNION ALL"
            f" SELECT firing FROM plans JOIN quiet USING (plan) WHERE hook_id IN ({ids}))",
            *(value,) * 4,
        )
    if value := filters.get("text"):
        test, likes = text_test(value)
        add(test, *likes)
    for name, test in (("since", "time >= ?"), ("until", "time < ?"), ("upto", "number <= ?")):
        with suppress(ValueError):
            if value := filters.get(name):
                add(test, float(value))
    return " AND ".join(tests) or "true", arguments


def page(store: Store, filters: Mapping[str, str], offset: int, limit: int) -> list[dict[str, Any]]:
    """The newest first. ``upto`` among the filters pins the newest, so that pages fit together while events arrive."""
    condition, arguments = _condition(filters)
    numbers = f"SELECT number FROM firings {_index(filters)} WHERE {condition} ORDER BY number DESC LIMIT ? OFFSET ?"
    limits = (max(1, min(limit, _MOST)), max(0, offset))
    rows = store.read(
        f"SELECT {_COLUMNS} FROM firings WHERE number IN ({numbers}) ORDER BY number DESC", [*arguments, *limits]
    )
    return _lines(store, rows)


def _lines(store: Store, rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    if not rows:
        return []
    found: dict[int, list[Any]] = {}
    marks = ", ".join("?" * len(rows))
    query = f"SELECT firing, hook, status, effect FROM every_run WHERE firing IN ({marks}) ORDER BY firing, position"
    for firing, *run in store.read(query, [row[0] for row in rows]):
        found.setdefault(firing, []).append(run)
    return [line(row, found.get(row[0], ())) for row in rows]


def _index(filters: Mapping[str, str]) -> str:
    """The narrow index unless a rarer thing is looked for, or a column that it lacks."""
    rare = filters.get("effect") in {"ask", "deny"}
    if rare:
        return "INDEXED BY firings_effect"
    lacking = any(filters.get(name) for name in ("agent", "project", "hook", "text")) or filters.get("effect")
    return "" if lacking else "INDEXED BY firings_look"


def count(store: Store, filters: Mapping[str, str]) -> int:
    condition, arguments = _condition(filters)
    rows = store.read(f"SELECT count(*) FROM firings {_index(filters)} WHERE {condition}", arguments)
    return int(rows[0][0]) if rows else 0


def newest(store: Store) -> int:
    rows = store.read("SELECT max(number) FROM firings")
    return int(rows[0][0] or 0) if rows else 0


def since(store: Store, number: int, known: Container[str]) -> tuple[int, list[dict[str, Any]]]:
    """The last of the events after this one, and those of them that are not known yet, the oldest first."""
    found = store.read(
        "SELECT number, id FROM firings INDEXED BY firings_look WHERE number > ? ORDER BY number LIMIT ?",
        (number, MOST_NEW),
    )
    fresh = [one for one, name in found if name not in known]
    marks = ", ".join("?" * len(fresh))
    query = f"SELECT {_COLUMNS} FROM firings WHERE number IN ({marks}) ORDER BY number"
    return found[-1][0] if found else number, _lines(store, store.read(query, fresh) if fresh else ())


def choices(store: Store) -> dict[str, list[str]]:
    """What recent events can be filtered by."""
    first = newest(store) - _RECENT
    found = {
        name: [str(row[0]) for row in store.read(
            f"SELECT {name} FROM firings WHERE number > ? GROUP BY {name} ORDER BY count(*) DESC LIMIT 60", (first,)
        ) if row[0]]
        for name in ("agent", "event")
    }  # fmt: skip
    hooks = store.read("SELECT DISTINCT hook FROM hooks ORDER BY hook LIMIT 200")
    return {**found, "hook": [row[0] for row in hooks], "project": projects(store)}


def projects(store: Store) -> list[str]:
    """Folders of projects that recent events happened in, the latest first."""
    rows = store.read(
        "SELECT cwd FROM firings WHERE number > ? GROUP BY cwd ORDER BY max(number) DESC LIMIT 100",
        (newest(store) - _RECENT,),
    )
    home = home_directory(os.environ)
    roots = [project_root(cwd, home) if os.path.isdir(cwd) else cwd for (cwd,) in rows if cwd]
    return list(dict.fromkeys(roots))[:50]
