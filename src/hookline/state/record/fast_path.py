"""Quicker ways to write records, for a process that stays.

``PlainRows`` makes the rows of an ordinary firing in half the time of ``make_rows``: texts come again (directories,
sessions, names of tools), and a text that was found to hold no secret holds none the next time. Whatever is out of the
ordinary is left to ``make_rows``.

``insert_many`` writes many firings at once. Most columns of most rows are empty, and Python's SQLite takes longer to
bind one NULL than all texts of a row, so rows without anything in those columns go by statements that omit them.

``quickest`` writes JSON with orjson (the extra ``daemon``) where it is installed and gives the same result; everything
else (text beyond ASCII, huge numbers, keys that are no texts) is written by the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hookline.core.result import NO_OPINION, NOTHING
from hookline.state.record.rows import DATA_LIMIT, HEAD, Columns, Writer, in_json, run_columns, wire_columns
from hookline.state.record.store import INSERT_NUMBERED, INSERT_RUN

if TYPE_CHECKING:
    import sqlite3

    from hookline.core.hook import HookSpec
    from hookline.core.result import Decision
    from hookline.state.record import Record
    from hookline.state.record.redact import Redactor


#: How many texts are remembered, and the length up to which one is.
MOST = 4096
_LONGEST = 512
#: How many sets of hooks that ran together are remembered.
_MOST_PLANS = 64

#: The columns of a firing that are mostly empty; of a run, what it printed, and the columns that are mostly empty.
_NOTHING = (None,) * 6
_RUN_TEXTS, _RUN_REST, _EMPTY_REST = itemgetter(8, 9, 10), slice(11, None), (None, None, None)
#: Before and after the time of a run that had nothing to say.
_QUIET, _PRINTED_NOTHING = ("replied", None, None), ("", "", "", None, None, None)

#: The hooks of a firing that had nothing to say; of a run without its number, which hook it was.
_Plan: TypeAlias = "tuple[tuple[Any, ...], ...]"
_WHO = itemgetter(0, 1, 2, 3, 6)


class _QuietRuns(list[Columns]):
    """The runs of a firing in which no hook had anything to say: which hooks, and the time of each."""

    __slots__ = ("plan", "times")

    def __init__(self, heads: Sequence[Columns], plan: _Plan, times: list[float]) -> None:
        super().__init__([(*head, ms, *_PRINTED_NOTHING) for head, ms in zip(heads, times, strict=True)])
        self.plan, self.times = plan, times


class PlainRows:
    """For callers with one environment, whose secrets the redactor knows."""

    __slots__ = ("_clean", "_heads", "redactor")

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._clean: set[str] = set()
        #: By the hooks of an engine and the ids of those that ran: the columns before the time, and the plan.
        self._heads: dict[tuple[Any, ...], tuple[Mapping[str, HookSpec], list[Columns], _Plan]] = {}

    def of(
        self, record: Record, *, name: str, time: float, pid: int, written: Writer
    ) -> tuple[Columns, list[Columns]] | None:
        """As ``make_rows``; None for a firing that is out of the ordinary."""
        event, decision = record.event, record.decision
        data = decision.data or event.data
        texts = _texts_in(data)
        if texts is None or _has_more(decision):
            return None
        kind, native, reason = event.kind.name, event.native_name, decision.reason
        texts += (event.session, event.agent, kind, native, event.cwd, reason)
        if not name.isalnum():  # an id that hookline did not make
            texts.append(name)
        wire = wire_columns(event, decision)
        if wire is not None:
            more = _texts_in({**wire, "answer": "", "added": ""})
            if more is None:
                return None
            texts += more
            texts += wire.get("answer", ())[1:]
            texts += wire.get("added", ())
        texts += [outcome.hook for outcome in decision.outcomes]
        runs = self._quiet_runs(record) or _plain_runs(record, texts)
        if runs is None or not self._all_clean(texts):
            return None
        serialised = written(data)
        firing = (
            name, time, event.session, event.turn, event.agent, kind, native, event.cwd, decision.effect,
            int(decision.granted), reason, None, 0, record.ms, pid, serialised, *_NOTHING,
            None if wire is None else written(wire),
        )  # fmt: skip
        return None if len(serialised) > DATA_LIMIT else (firing, runs)

    def _quiet_runs(self, record: Record) -> _QuietRuns | None:
        """By far the most common: no hook had anything to say, and the same ones ran before."""
        outcomes = record.decision.outcomes
        for outcome in outcomes:
            if (
                outcome.raw is not NOTHING or outcome.reply is not NO_OPINION or outcome.error
                or outcome.not_run is not None
            ):  # fmt: skip
                return None
        specs = record.specs
        key = (id(specs), *[outcome.id for outcome in outcomes])
        known = self._heads.get(key)
        if known is None or known[0] is not specs:
            if len(self._heads) >= _MOST_PLANS:
                self._heads.clear()
            heads = [
                (at, one.id, one.hook, specs[one.id].dialect if one.id in specs else "", *_QUIET)
                for at, one in enumerate(outcomes)
            ]
            known = self._heads[key] = (specs, heads, tuple(map(_WHO, heads)))
        return _QuietRuns(known[1], known[2], [outcome.ms for outcome in outcomes])

    def _all_clean(self, texts: list[str]) -> bool:
        known = self._clean
        if known.issuperset(texts):
            return True
        fresh = [one for one in texts if one not in known]
        try:
            # In quotes, as in JSON: some are suspicious only as a whole. None is the name of the next.
            text = '"' + '"\n;\n"'.join(fresh) + '"'
        except TypeError:  # a key that is no text
            return False
        if self.redactor.suspects(text):
            return False
        if not text.isascii() and any(map(_is_torn, fresh)):
            return False
        if len(known) > MOST:
            known.clear()
        known.update([one for one in fresh if len(one) <= _LONGEST])
        return True


def _plain_runs(record: Record, texts: list[str]) -> list[Columns] | None:
    """Adds what the hooks printed to ``texts``; None where one of them left more than texts."""
    runs = [run_columns(record, outcome, at) for at, outcome in enumerate(record.decision.outcomes)]
    for run in runs:
        if run[_RUN_REST] != _EMPTY_REST:
            return None
        if run[8] or run[9] or run[10]:  # most hooks print nothing
            printed = _RUN_TEXTS(run)
            if max(map(len, printed)) > HEAD:
                return None
            texts += printed
    return runs


def _has_more(decision: Decision) -> bool:
    """Whether there is something for a column that is mostly empty."""
    return bool(
        decision.modified or decision.context or decision.messages or decision.attributes or decision.ignored
        or decision.conflicts or decision.aborted
    )  # fmt: skip


def _texts_in(data: Any) -> list[str] | None:
    """All keys and texts of an object that holds at most objects of plain values; None of any other."""
    if type(data) is not dict:
        return None
    texts: list[Any] = [*data]
    for value in data.values():
        kind = type(value)
        if kind is str:
            texts.append(value)
        elif kind is dict:
            texts += value
            for inner in value.values():
                if type(inner) is str:
                    texts.append(inner)
                elif type(inner) not in _PLAIN:
                    return None
        elif kind not in _PLAIN:
            return None
    return texts


_PLAIN = frozenset({int, float, bool, type(None)})


def _is_torn(text: str) -> bool:
    """Whether it holds half a character, which SQLite does not take."""
    return not text.isascii() and text != text.encode(errors="ignore").decode()


_Row: TypeAlias = tuple[Any, ...]
#: The columns of a firing, and those of its runs.
Rows: TypeAlias = "tuple[Sequence[Any], Sequence[Sequence[Any]]]"

_FIRING = (
    "number", "id", "time", "session", "turn", "agent", "event", "native_event", "cwd", "effect", "granted", "reason",
    "modified", "ms", "pid", "data", "wire",
)  # fmt: skip
_RUN = ("firing", "position", "hook_id", "hook", "dialect", "status", "ms", "error", "stdout", "stderr")


def _short(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


_INSERT_SHORT = _short("firings", _FIRING)
_INSERT_SHORT_RUN = _short("runs", _RUN)

#: Of a run without its number: what it said, and what that is like if it said nothing.
_SAID, _SAID_NOTHING = itemgetter(4, 5, *range(8, 14)), ("replied", None, "", "", "", None, None, None)
_INSERT_PLAN = "INSERT OR IGNORE INTO plans VALUES (?, ?, ?, ?, ?, ?, ?)"

#: Of a row with its number: what may be empty, what that is like, and what is left without it.
_FIRING_EMPTY, _FIRING_LEFT = itemgetter(12, *range(17, 23)), itemgetter(*(*range(12), *range(13, 17), 23))
_RUN_EMPTY, _RUN_LEFT = itemgetter(6, 7, 12, 13, 14), itemgetter(*range(6), *range(8, 12))


def insert_many(
    connection: sqlite3.Connection, many: Sequence[Rows], latest: int, written: Writer
) -> set[tuple[str, str]]:
    """Numbered after ``latest``, as SQLite would do it. Gives the hooks that ran, by name and id."""
    firings = [(latest + at, *row) for at, (row, _) in enumerate(many, 1)]
    plans: dict[_Plan, int] = {}
    quiet: list[_Row] = []
    runs: list[_Row] = []
    for number, (_, some) in enumerate(many, latest + 1):
        plan, times, rest = _quiet_part(some)
        if plan:
            quiet.append((number, plans.get(plan) or plans.setdefault(plan, _plan_number(plan)), written(times)))
        runs += [(number, *run) for run in rest]
    # Each time: another process may have deleted a plan with the last of its firings.
    connection.executemany(
        _INSERT_PLAN, [(number, at, *who) for plan, number in plans.items() for at, who in enumerate(plan)]
    )
    connection.executemany("INSERT INTO quiet VALUES (?, ?, ?)", quiet)
    bare, full = _split(firings, _FIRING_EMPTY, (None,) * 7)
    connection.executemany(_INSERT_SHORT, map(_FIRING_LEFT, bare))
    connection.executemany(INSERT_NUMBERED, full)
    bare, full = _split(runs, _RUN_EMPTY, (None,) * 5)
    connection.executemany(_INSERT_SHORT_RUN, map(_RUN_LEFT, bare))
    connection.executemany(INSERT_RUN, full)
    return {(run[3], run[2]) for run in runs} | {(hook, hook_id) for plan in plans for _, hook_id, hook, *_ in plan}


def _quiet_part(runs: Sequence[Sequence[Any]]) -> tuple[_Plan, list[float], Sequence[Sequence[Any]]]:
    """The runs that said nothing, their times, and the other runs."""
    if type(runs) is _QuietRuns:
        return runs.plan, runs.times, ()
    quiet = [run for run in runs if _SAID(run) == _SAID_NOTHING]
    plan, times = tuple(map(_WHO, quiet)), [run[7] for run in quiet]
    try:
        hash(plan)
        odd = not {float, int}.issuperset(map(type, times))
    except TypeError:
        odd = True
    if odd:  # a line that somebody else wrote into the journal, for SQLite to judge
        return (), [], runs
    return (
        plan,
        times,
        runs if not quiet else () if len(quiet) == len(runs) else [run for run in runs if _SAID(run) != _SAID_NOTHING],
    )


def _plan_number(plan: _Plan) -> int:
    """The same in every process."""
    return int.from_bytes(blake2b(repr(plan).encode(errors="replace"), digest_size=8).digest(), "big", signed=True) or 1


def _split(rows: Sequence[_Row], may_be_empty: itemgetter[Any], nothing: _Row) -> tuple[list[_Row], list[_Row]]:
    """Rows with nothing in those columns, and the others."""
    bare: list[_Row] = []
    full: list[_Row] = []
    for row in rows:
        (bare if may_be_empty(row) == nothing else full).append(row)
    return bare, full


def quickest() -> Callable[[Any], str]:
    """The way to write a value as JSON, in ASCII. Raises what ``in_json`` raises."""
    try:
        from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, dumps  # may not be there
    except ImportError:
        return in_json
    options = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME

    def written(value: Any) -> str:
        try:
            text = dumps(value, None, options)
        except TypeError:
            return in_json(value)
        return str(text, "ascii") if text.isascii() else in_json(value)

    return written


def quickest_line() -> Callable[[Any], bytes]:
    """The same as a line of a file: bytes that end with the only line break among them."""
    try:
        from orjson import OPT_APPEND_NEWLINE, dumps  # may not be there
    except ImportError:
        return _line

    def line(value: Any) -> bytes:
        try:
            return dumps(value, None, OPT_APPEND_NEWLINE)
        except TypeError:
            return _line(value)

    return line


def _line(value: Any) -> bytes:
    return f"{in_json(value)}\n".encode()
