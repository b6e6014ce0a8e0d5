"""The rows of a firing that says little, which is most of them, for a process that stays.

What ``make_rows`` makes of it, in half the time: the words of events come again (directories, sessions, names of tools),
and a word that was found to hold no secret holds none the next time. Whatever is out of the ordinary is left to
``make_rows``.

Many firings into the store at once.

Most columns of most rows are empty, and Python's SQLite takes longer to bind one NULL than all texts of a row: it asks
a protocol first, which answers with an exception. So rows without anything in those columns go by statements that do
not name them.
JSON for a process that stays: what ``rows.in_json`` writes, without the spaces, in a quarter of the time.

orjson (the extra ``daemon``) is used where it is there and where it writes the same. Whatever it has no form for, or
another one (text beyond ASCII, huge numbers, keys that are no texts), is written by the standard library as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hookline.state.record.rows import DATA_LIMIT, HEAD, Columns, Writer, in_json, run_columns
from hookline.state.record.store import INSERT_NUMBERED, INSERT_RUN

if TYPE_CHECKING:
    import sqlite3

    from hookline.core.result import Decision
    from hookline.state.record import Record
    from hookline.state.record.redact import Redactor


#: Words that are remembered, and the characters up to which one is.
MOST = 4096
_LONGEST = 512

#: The columns of a firing that hold what was said, all empty; of a run, its texts, and what is mostly empty.
_NOTHING = (None,) * 6
_SAID, _MORE, _NOTHING_MORE = itemgetter(2, 8, 9, 10), slice(11, None), (None, None)


class PlainRows:
    """Of callers with one environment, whose secrets the redactor knows."""

    __slots__ = ("_clean", "redactor")

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._clean: set[str] = set()

    def of(
        self, record: Record, *, name: str, time: float, pid: int, written: Writer
    ) -> tuple[Columns, list[Columns]] | None:
        """As ``make_rows``; None when this firing is not for us."""
        event, decision = record.event, record.decision
        data = decision.data or event.data
        words = _words_of(data)
        if words is None or _says_more(decision):
            return None
        kind, native, reason = event.kind.name, event.native_name, decision.reason
        words += (event.session, event.agent, kind, native, event.cwd, reason)
        if not name.isalnum():  # then it is none that we made
            words.append(name)
        runs = [run_columns(record, outcome, at) for at, outcome in enumerate(decision.outcomes)]
        for run in runs:
            said = _SAID(run)
            if run[_MORE] != _NOTHING_MORE or max(map(len, said)) > HEAD:
                return None
            words += said
        if not self._are_clean(words):
            return None
        text = written(data)
        firing = (
            name, time, event.session, event.turn, event.agent, kind, native, event.cwd, decision.effect,
            int(decision.granted), reason, None, 0, record.ms, pid, text, *_NOTHING,
        )  # fmt: skip
        return None if len(text) > DATA_LIMIT else (firing, runs)

    def _are_clean(self, words: list[str]) -> bool:
        known = self._clean
        if known.issuperset(words):
            return True
        fresh = [word for word in words if word not in known]
        try:
            text = '"' + '"\n"'.join(fresh) + '"'  # in quotes, as in JSON: some words are suspicious only as a whole
        except TypeError:  # a key that is no text
            return False
        if self.redactor.suspects(text):
            return False
        if not text.isascii() and any(map(_is_torn, fresh)):
            return False
        if len(known) > MOST:
            known.clear()
        known.update([word for word in fresh if len(word) <= _LONGEST])
        return True


def _says_more(decision: Decision) -> bool:
    """Whether there is something for a column that is mostly empty."""
    return bool(
        decision.modified or decision.context or decision.messages or decision.attributes or decision.ignored
        or decision.conflicts or decision.aborted
    )  # fmt: skip


def _words_of(data: Any) -> list[str] | None:
    """All keys and texts of an object that holds at most objects of plain values; None of any other."""
    if type(data) is not dict:
        return None
    words: list[Any] = [*data]
    for value in data.values():
        kind = type(value)
        if kind is str:
            words.append(value)
        elif kind is dict:
            words += value
            for inner in value.values():
                if type(inner) is str:
                    words.append(inner)
                elif type(inner) not in _PLAIN:
                    return None
        elif kind not in _PLAIN:
            return None
    return words


_PLAIN = frozenset({int, float, bool, type(None)})


def _is_torn(word: str) -> bool:
    """Whether it holds half a character, which SQLite does not take."""
    return not word.isascii() and word != word.encode(errors="ignore").decode()


_Row: TypeAlias = tuple[Any, ...]
#: The columns of a firing, and those of its runs.
Rows: TypeAlias = "tuple[Sequence[Any], Sequence[Sequence[Any]]]"

_FIRING = (
    "number", "id", "time", "session", "turn", "agent", "event", "native_event", "cwd", "effect", "granted", "reason",
    "modified", "ms", "pid", "data",
)  # fmt: skip
_RUN = ("firing", "position", "hook_id", "hook", "dialect", "status", "ms", "error", "stdout", "stderr")


def _short(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


_INSERT_SHORT = _short("firings", _FIRING)
_INSERT_SHORT_RUN = _short("runs", _RUN)

#: Of a row with its number: what may be empty, what that is like, and what is left without it.
_FIRING_EMPTY, _FIRING_LEFT = itemgetter(12, *range(17, 23)), itemgetter(*range(12), *range(13, 17))
_RUN_EMPTY, _RUN_LEFT = itemgetter(6, 7, 12, 13), itemgetter(*range(6), *range(8, 12))


def insert_many(connection: sqlite3.Connection, many: Sequence[Rows], latest: int) -> list[_Row]:
    """Numbered after ``latest``, as SQLite would do it. Gives the rows of the runs."""
    firings = [(latest + at, *row) for at, (row, _) in enumerate(many, 1)]
    runs = [(latest + at, *run) for at, (_, some) in enumerate(many, 1) for run in some]
    bare, full = _parted(firings, _FIRING_EMPTY, (None,) * 7)
    connection.executemany(_INSERT_SHORT, map(_FIRING_LEFT, bare))
    connection.executemany(INSERT_NUMBERED, full)
    bare, full = _parted(runs, _RUN_EMPTY, (None,) * 4)
    connection.executemany(_INSERT_SHORT_RUN, map(_RUN_LEFT, bare))
    connection.executemany(INSERT_RUN, full)
    return runs


def _parted(rows: Sequence[_Row], may_be_empty: itemgetter[Any], nothing: _Row) -> tuple[list[_Row], list[_Row]]:
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
    as_we_do = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME

    def written(value: Any) -> str:
        try:
            text = dumps(value, None, as_we_do)
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
