"""One session prompt by prompt, and what hooks cost: sums that SQLite makes, never all rows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from hookline.state.record.query import Row, Run, firings, load_runs
from hookline.state.record.store import Store
from hookline.web.events import line

_DAY = 86_400
#: Seconds in which days of every time zone can be divided.
_QUARTER = 900
_Rows = Sequence[Sequence[Any]]
#: Events of one session that are shown; the newest.
_MOST = 2000
#: What agents did: a replay is what a person wanted to know.
OWN = "session NOT LIKE 'replay:%'"


def session(store: Store, name: str) -> dict[str, Any]:
    """Its turns, each with its prompt, its events and what they took."""
    rows = firings(store, session=name, last=_MOST)
    runs = load_runs(store, [row.number for row in rows])
    turns: dict[int, list[Row]] = {}
    for row in rows:
        turns.setdefault(row.turn, []).append(row)
    spent = _usage(run for some in runs.values() for run in some)
    return {
        "session": name, "agent": rows[-1].agent if rows else "", "cwd": rows[-1].cwd if rows else "",
        "began": rows[0].time if rows else None, "ended": rows[-1].time if rows else None, "events": len(rows),
        "cut": len(rows) == _MOST, "ms": sum(row.ms for row in rows), **spent,
        "denied": sum(row.effect == "deny" for row in rows),
        "turns": [_turn(number, some, runs) for number, some in sorted(turns.items())],
    }  # fmt: skip


def _turn(number: int, rows: Sequence[Row], runs: dict[int, tuple[Run, ...]]) -> dict[str, Any]:
    prompt = next(
        (row.data.get("prompt") for row in rows if row.event == "UserPromptSubmit" and isinstance(row.data, dict)), ""
    )
    return {
        "turn": number, "prompt": str(prompt or "")[:2000], "ms": sum(row.ms for row in rows),
        **_usage(run for row in rows for run in runs.get(row.number, ())),
        "events": [_event(row, runs.get(row.number, ())) for row in rows],
    }  # fmt: skip


def _event(row: Row, runs: Sequence[Run]) -> dict[str, Any]:
    columns = (
        row.number, row.id, row.time, row.session, row.turn, row.agent, row.event, row.cwd, row.effect, row.granted,
        row.reason, row.modified, row.ms, json.dumps(row.data), row.ignored or None,
    )  # fmt: skip
    shown = line(columns, [(run.hook, run.status, run.effect) for run in runs])
    return {**shown, "context": [{"hook": one["hook"], "text": one["text"][:4000]} for one in row.context]}


def _usage(runs: Iterable[Run]) -> dict[str, float]:
    return _sum(run.usage for run in runs)


def _sum(usages: Iterable[Any]) -> dict[str, float]:
    """What model hooks used, together."""
    tokens = cost = 0.0
    for used in usages:
        if isinstance(used, dict):
            both = _number(used, "input_tokens") + _number(used, "output_tokens")
            tokens += _number(used, "total_tokens") or both
            cost += _number(used, "cost_usd")
    return {"tokens": tokens, "cost": cost}


def _number(used: dict[str, Any], name: str) -> float:
    value = used.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def sessions(store: Store, last: int = 60) -> list[dict[str, Any]]:
    """The sessions with the latest events, each with its first prompt."""
    recent = f"number > (SELECT max(number) - 50000 FROM firings) AND session <> '' AND {OWN}"
    rows = store.read(
        "SELECT session, max(agent), max(cwd), min(time), max(time), count(*), sum(effect = 'deny'), sum(ms) FROM firings"
        f" WHERE {recent} GROUP BY session ORDER BY max(number) DESC LIMIT ?",
        (last,),
    )
    prompts = {name: prompt for name, prompt, _ in store.read(
        "SELECT session, substr(json_extract(data, '$.prompt'), 1, 200), min(number) FROM firings"
        f" WHERE {recent} AND event = 'UserPromptSubmit' AND json_valid(data) GROUP BY session"
    )}  # fmt: skip
    names = ("session", "agent", "cwd", "began", "ended", "events", "denied", "ms")
    return [{**dict(zip(names, row, strict=True)), "prompt": prompts.get(row[0]) or ""} for row in rows]


def costs(store: Store, days: int) -> dict[str, Any]:
    """Time, failures, refusals and tokens by day, agent and hook; replays apart."""
    since = time.time() - days * _DAY
    own = f"JOIN firings ON number = firing WHERE time >= ? AND {OWN}"
    keys = f"CAST(time / {_QUARTER} AS INTEGER), agent"
    sums = "sum(status <> 'skipped'), sum(runs.ms), sum(status IN ('failed', 'timed-out')), coalesce(sum(runs.effect = 'deny'), 0)"
    ran = store.read(f"SELECT {keys}, hook, {sums} FROM every_run AS runs {own} GROUP BY 1, 2, 3", (since,))
    used = store.read(f"SELECT {keys}, hook, usage FROM runs {own} AND usage IS NOT NULL", (since,))
    # A call may be refused although no hook refuses: the agent cannot ask, or a guard has failed.
    calls = f"SELECT {keys}, count(*) FROM firings WHERE effect = 'deny' AND time >= ? AND {OWN} GROUP BY 1, 2"
    refused = store.read(calls, (since,))
    slowest = store.read(
        f"SELECT id, event, hook, runs.ms, time, status FROM every_run AS runs {own} AND status <> 'skipped'"
        " ORDER BY runs.ms DESC LIMIT 10",
        (since,),
    )
    names = ("id", "event", "hook", "ms", "t", "status")
    by_day = _grouped(0, ran, used, refused)
    return {
        "days": days, "by_day": sorted(by_day, key=itemgetter("name")), "by_agent": _grouped(1, ran, used, refused),
        "by_hook": _grouped(2, ran, used, [(*row[:3], row[6]) for row in ran]),
        "slowest": [dict(zip(names, row, strict=True)) for row in slowest],
    }  # fmt: skip


def _grouped(at: int, ran: _Rows, used: _Rows, refused: _Rows) -> list[dict[str, Any]]:
    """The rows of each day, agent or hook together, what took longest first. ``refused`` ends with how many."""
    found: dict[str, dict[str, Any]] = {}

    def one(row: Sequence[Any]) -> dict[str, Any]:
        name = row[at] if at else time.strftime("%Y-%m-%d", time.localtime(row[0] * _QUARTER))
        return found.setdefault(name, {"name": name, "runs": 0, "ms": 0.0, "failures": 0, "denied": 0, "usages": []})

    for row in ran:
        sums = one(row)
        for name, value in zip(("runs", "ms", "failures"), row[3:6], strict=True):
            sums[name] += value
    for row in refused:
        one(row)["denied"] += row[-1]
    for row in used:
        one(row)["usages"].append(_parsed(row[-1]))
    made = [{**sums, **_sum(sums.pop("usages"))} for sums in found.values()]
    return sorted(made, key=itemgetter("ms"), reverse=True)[:100]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def sparkline(store: Store, ids: Sequence[str], days: int = 14) -> list[int]:
    """Runs of a hook on each of the last days, the oldest first."""
    now = time.time()
    marks = ", ".join("?" * len(ids))
    rows = store.read(
        f"SELECT CAST((? - time) / {_DAY} AS INTEGER) AS ago, count(*) FROM every_run JOIN firings ON number = firing"
        f" WHERE hook_id IN ({marks}) AND status <> 'skipped' AND time >= ? GROUP BY ago",
        (now, *ids, now - days * _DAY),
    )
    counted = {int(ago): int(many) for ago, many in rows}
    return [counted.get(ago, 0) for ago in range(days - 1, -1, -1)]
