"""Queries on the store: what happened, and statistics of the hooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from operator import itemgetter

from hookline.core._dataclass import dataclass
from hookline.core.typed import Any
from hookline.state.record.blocks import BITS, BOUNDS
from hookline.state.record.store import Store

#: Runs that the percentiles of a hook look back on.
_SAMPLE = 500
_ESCAPE = r"'\'"
#: More than any number.
_NO_END = (1 << 63) - 1
_LATEST_RUN = """SELECT max(latest) FROM (
    SELECT (SELECT max(firing) FROM runs WHERE hook_id = value AND firing < ?) AS latest FROM json_each(?) UNION ALL
    SELECT (SELECT max(firing) FROM quiet WHERE quiet.plan = plans.plan AND firing < ?) FROM plans
    WHERE hook_id IN (SELECT value FROM json_each(?)))"""
#: What the session of a replayed firing begins with; the id of the original follows.
REPLAY = "replay:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One firing. ``number`` counts up within the store: pass the last one as ``after`` to follow."""

    number: int
    id: str
    time: float
    session: str
    turn: int
    agent: str
    event: str
    native_event: str
    cwd: str
    effect: str
    granted: bool
    reason: str
    aborted: Any
    modified: bool
    ms: float
    pid: int
    data: Any
    #: The data as they came, where a hook has changed them; None where none has.
    before: Any
    context: Any
    messages: Any
    attributes: Any
    conflicts: Any
    ignored: Any
    #: What the agent sent and got besides (``rows.wire_columns``); None mostly.
    wire: Any

    def to_json(self) -> dict[str, Any]:
        """The fields of ``log --json``: those of ``fire --json`` and when, where and by whom it was fired."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "wire"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One hook's part in a firing."""

    firing: int
    position: int
    hook_id: str
    hook: str
    dialect: str
    status: str
    effect: str | None
    exit_code: int | None
    ms: float
    error: str
    stdout: str
    stderr: str
    spilled: tuple[str, ...]
    usage: Any
    #: The hook's own reason, what it changed, and why it was skipped; None mostly.
    detail: Any

    def to_json(self) -> dict[str, Any]:
        """The fields of ``outcomes[]`` in ``fire --json``, and the heads of what the hook printed."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in {"firing", "position", "detail"}}
        return {**fields, "error": self.error or None, "spilled": list(self.spilled)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStats:
    """Statistics of one hook. ``fired`` counts real runs, not skips; times are in milliseconds."""

    fired: int
    failures: int
    last_time: float
    p50: float
    p95: float
    last_effect: str | None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The store at a glance; ``denies`` and ``failures`` are those since ``since``, replays apart."""

    firings: int
    denies: int
    failures: int
    bytes: int

    def to_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


def _glob_escaped(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def firings(
    store: Store,
    *,
    session: str | None = None,
    hook: str | None = None,
    event: str | None = None,
    agent: str | None = None,
    project: str | None = None,
    effect: str | None = None,
    since: float | None = None,
    until: float | None = None,
    status: str | None = None,
    text: str | None = None,
    last: int | None = 20,
    after: int | None = None,
) -> list[Row]:
    """The latest firings that pass every filter, the newest last. ``hook`` is a name or an id, ``project`` a folder that
    the agent worked in or below."""
    tests: dict[str, Any] = {
        "session = ?": session,
        "event = ?": event,
        "agent = ?": agent,
        "(cwd || '/') GLOB ?": None if project is None else f"{_glob_escaped(project.rstrip('/'))}/*",
        "effect = ?": effect,
    }
    hook_ids = None if hook is None else _ids(store, hook)
    own = {"time >= ?": since, "time < ?": until, "number > ?": after, **_by_run(hook_ids, status)}
    own |= dict([text_test(text)]) if text else {}
    firing, most = _Where.of({**tests, **own}), -1 if last is None else max(last, 0)
    if any(value is not None for value in (*tests.values(), hook, since, until, status)):
        hour = "CAST(? / 3600 AS INTEGER)"
        span = {f"hour >= {hour}": since, f"hour <= {hour}": until, "instr(statuses, ?)": status}
        block = _Where.of({**tests, **span, f"block >= ? >> {BITS}": after})
        rows = _found(store, firing, block, hook_ids, most)
    else:
        rows = _in_range(store, firing, 0, _NO_END, most)
    return [_row(row) for row in reversed(rows)]


def text_test(text: str) -> tuple[str, tuple[str, ...]]:
    """A condition on firings that have this text in their data, reason or id, and its arguments."""
    as_json = dict.fromkeys(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    places = [*((name, form) for form in as_json for name in ("data", "before")), ("reason", text), ("id", text)]
    likes = tuple("%" + re.sub(r"([\\%_])", r"\\\1", form) + "%" for _, form in places)
    return f"({' OR '.join(f'{name} LIKE ? ESCAPE {_ESCAPE}' for name, _ in places)})", likes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """A condition and its arguments."""

    text: str
    arguments: list[Any]

    @classmethod
    def of(cls, tests: dict[str, Any]) -> _Where:
        """Of those tests that have a value, or several in a tuple."""
        given = {test: value for test, value in tests.items() if value is not None}
        values = [value if isinstance(value, tuple) else (value,) for value in given.values()]
        return cls(text=" AND ".join(given) or "true", arguments=[one for some in values for one in some])


def _ids(store: Store, hook: str) -> str:
    """The ids that are meant by a name or an id, as JSON."""
    return json.dumps([hook, *(one for (one,) in store.read("SELECT hook_id FROM hooks WHERE hook = ?", (hook,)))])


def _by_run(hook_ids: str | None, status: str | None) -> dict[str, Any]:
    """One test, so that it is the same run that fits both."""
    # Not of every_run: SQLite would make all of it, to look for one number in it.
    hook = {"hook_id IN (SELECT value FROM json_each(?))": hook_ids}
    run, quiet = _Where.of({**hook, "status = ?": status}), _Where.of({**hook, "'replied' = ?": status})
    return {
        f"(EXISTS (SELECT 1 FROM runs WHERE firing = number AND {run.text})"
        f" OR EXISTS (SELECT 1 FROM quiet JOIN plans USING (plan) WHERE firing = number AND {quiet.text}))": (
            (*run.arguments, *quiet.arguments) or None
        )
    }


def _in_range(store: Store, firing: _Where, low: int, high: int, most: int) -> list[Any]:
    """Rows with numbers from ``low`` to before ``high``, the newest first."""
    return store.read(
        f"SELECT * FROM firings WHERE number >= ? AND number < ? AND {firing.text} ORDER BY number DESC LIMIT ?",
        (low, high, *firing.arguments, most),
    )


def _found(store: Store, firing: _Where, block: _Where, hook_ids: str | None, most: int) -> list[Any]:
    """The same wherever a block may have some: from block to block backwards, over those that the hook did not run in."""
    store.enter_blocks(every=True)
    (first, last), *_ = *store.read(BOUNDS), (None, None)
    begin, end = (0, 0) if first is None else (first << BITS, last + 1 << BITS)
    rows = _in_range(store, firing, end, _NO_END, most)

    def left() -> int:
        return most - len(rows) if most >= 0 else most

    below = end >> BITS
    while left():
        found = store.read(
            f"SELECT block FROM blocks WHERE block < ? AND {block.text} ORDER BY block DESC LIMIT 1",
            (below, *block.arguments),
        )
        if not found:
            break
        below = found[0][0]
        if hook_ids is not None:
            ran = [one for (one,) in store.read(_LATEST_RUN, (below + 1 << BITS, hook_ids) * 2) if one is not None]
            if not ran:
                break
            if ran[0] >> BITS < below:
                below = (ran[0] >> BITS) + 1
                continue
        rows += _in_range(store, firing, below << BITS, below + 1 << BITS, left())
    return rows + _in_range(store, firing, 0, begin, left())


def rows_after(store: Store, number: int, most: int) -> list[Row]:
    """The firings that follow this one, the oldest first."""
    rows = store.read("SELECT * FROM firings WHERE number > ? ORDER BY number LIMIT ?", (number, most))
    return [_row(row) for row in rows]


def find(store: Store, id: str) -> list[Row]:  # noqa: A002 - what people call it
    """The firings whose id begins so; more than one when the beginning is too short."""
    rows = store.read(
        "SELECT * FROM firings WHERE number IN (SELECT number FROM firings INDEXED BY firings_look"
        " WHERE id >= ? AND id < ? ORDER BY number DESC LIMIT 20) ORDER BY number",
        (id, id + "\U0010ffff"),
    )
    exact = [row for row in rows if row[1] == id]
    return [_row(row) for row in exact[-1:] or rows]


def load_runs(store: Store, numbers: Iterable[int]) -> dict[int, tuple[Run, ...]]:
    """What each hook did in these firings (by ``Row.number``), in declared order."""
    found: dict[int, tuple[Run, ...]] = {}
    for number in numbers:
        rows = store.read("SELECT * FROM every_run WHERE firing = ? ORDER BY position", (number,))
        found[number] = tuple(_run(row) for row in rows)
    return found


def stats(store: Store, hooks: Mapping[str, str]) -> dict[str, HookStats]:
    """Statistics of these hooks (id -> name), by their ids; over all that is kept, the percentiles over the latest runs.

    An id is a place in a file: runs of the hook that was there before, under another name, are not counted.
    """
    names: dict[str, list[str]] = {}
    for hook_id, name in store.read("SELECT hook_id, hook FROM hooks"):
        names.setdefault(hook_id, []).append(name)
    fired: dict[str, HookStats] = {}
    for hook_id, name in hooks.items():
        known = names.get(hook_id, ())
        number, failures = _number_of_runs(store, hook_id, name if len(known) > 1 else "") if name in known else (0, 0)
        if number:
            fired[hook_id] = _stats(store, hook_id, name, number, failures)
    return fired


def _number_of_runs(store: Store, hook_id: str, name: str) -> tuple[int, int]:
    """Runs and failures of a hook. Only where ``name`` is needed are rows read; otherwise the index has it all."""
    only, tests = (" AND hook = ?", (hook_id, name)) if name else ("", (hook_id,))
    rows = store.read(
        "SELECT coalesce(sum(fired), 0), coalesce(sum(failed), 0) FROM ("
        "SELECT status <> 'skipped' AS fired, status IN ('failed', 'timed-out') AS failed"
        f" FROM runs WHERE hook_id = ?{only} UNION ALL"
        f" SELECT count(firing), 0 FROM plans JOIN quiet USING (plan) WHERE hook_id = ?{only})",
        (*tests, *tests),
    )
    return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)


def _latest_runs(
    store: Store, hook_id: str, name: str, most: int, *, since: float | None = None
) -> list[tuple[int, float, Any]]:
    """Number, milliseconds and effect of a hook's latest runs, the latest first; with ``since`` only those that were
    measured, and no replays."""

    def read(what: str, table: str, took: str, *tests: str | int) -> list[Any]:
        own = f"JOIN firings ON number = firing WHERE time >= ? AND session NOT LIKE 'replay:%' AND {took} > 0 AND"
        only, times = ("WHERE", ()) if since is None else (own, (since,))
        query = f"SELECT firing, {took}, {what} ORDER BY firing DESC LIMIT ?"
        return store.read(query.format(f"FROM {table} {only}"), (*times, *tests, most))

    rows = read("runs.effect {} hook_id = ? AND hook = ? AND status <> 'skipped'", "runs", "runs.ms", hook_id, name)
    for plan, place in store.read("SELECT plan, place FROM plans WHERE hook_id = ? AND hook = ?", (hook_id, name)):
        rows += read("NULL {} plan = ?", "quiet", f"json_extract(quiet.ms, '$[{place}]')", plan)
    return sorted(rows, key=itemgetter(0), reverse=True)[:most]


def latest_times(store: Store, hook_id: str, name: str, *, since: float = 0.0, most: int = 20) -> list[float]:
    """Milliseconds of a hook's latest runs, the latest first, without cached answers and runs that go on."""
    return [ms for _, ms, _ in _latest_runs(store, hook_id, name, most, since=since)]


def last_failure(store: Store, hook_id: str) -> str:
    """What the hook's latest failure said; "" if it never failed."""
    rows = store.read(
        "SELECT error FROM runs WHERE hook_id = ? AND status IN ('failed', 'timed-out') ORDER BY firing DESC LIMIT 1",
        (hook_id,),
    )
    return str(rows[0][0] or "it gave no reason") if rows else ""


def _stats(store: Store, hook_id: str, name: str, fired: int, failures: int) -> HookStats:
    latest = _latest_runs(store, hook_id, name, _SAMPLE)
    if not latest:  # pruned by another process in between
        return HookStats(fired=fired, failures=failures, last_time=0.0, p50=0.0, p95=0.0, last_effect=None)
    when = store.read("SELECT time FROM firings WHERE number = ?", (latest[0][0],))
    times = sorted(ms for _, ms, _ in latest if ms > 0) or [0.0]  # a cached answer took no time
    return HookStats(
        fired=fired,
        failures=failures,
        last_time=when[0][0] if when else 0.0,
        p50=_percentile(times, 0.50),
        p95=_percentile(times, 0.95),
        last_effect=latest[0][2],
    )


def _percentile(ordered: list[float], share: float) -> float:
    """The nearest rank: a time that was really measured."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def counts(store: Store, *, since: float) -> Counts:
    """``since`` is mostly the start of today, which the caller knows."""

    def count(statement: str, *arguments: Any) -> int:
        rows = store.read(statement, arguments)
        return int(rows[0][0]) if rows else 0

    return Counts(
        firings=count("SELECT count(*) FROM firings"),
        denies=count(
            "SELECT count(*) FROM firings WHERE effect = 'deny' AND effect <> 'allow' AND time >= ?"
            " AND session NOT LIKE 'replay:%'",
            since,
        ),
        failures=count(
            "SELECT count(*) FROM runs JOIN firings ON number = firing"
            " WHERE status IN ('failed', 'timed-out') AND time >= ? AND session NOT LIKE 'replay:%'",
            since,
        ),
        bytes=store.size(),
    )


def _row(row: tuple[Any, ...]) -> Row:
    fields = dict(zip(Row.__slots__, row, strict=True))
    for name in ("aborted", "data", "before", "wire"):
        fields[name] = _parsed(fields[name], None)
    for name in ("context", "messages", "conflicts", "ignored"):
        fields[name] = _parsed(fields[name], [])
    fields["attributes"] = _parsed(fields["attributes"], {})
    fields["granted"], fields["modified"] = bool(fields["granted"]), bool(fields["modified"])
    return Row(**fields)


def _run(row: tuple[Any, ...]) -> Run:
    fields = dict(zip(Run.__slots__, row, strict=True))
    fields["spilled"] = tuple(_parsed(fields["spilled"], []))
    fields["usage"], fields["detail"] = _parsed(fields["usage"], None), _parsed(fields["detail"], None)
    return Run(**fields)


def _parsed(text: str | None, default: Any) -> Any:
    return default if text is None else json.loads(text)
