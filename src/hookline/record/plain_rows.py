"""The rows of a firing that says little, which is most of them, for a process that stays.

What ``rows_of`` makes of it, in half the time: the words of events come again (directories, sessions, names of tools),
and a word that was found to hold no secret holds none the next time. Whatever is out of the ordinary is left to
``rows_of``.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hookline.record.rows import DATA_LIMIT, HEAD, run_columns

if TYPE_CHECKING:
    from hookline.record import Record
    from hookline.record.redact import Redactor
    from hookline.record.rows import Columns, Writer
    from hookline.result import Decision

#: Words that are remembered, and the characters up to which one is.
MOST = 4096
LONGEST = 512

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
        """As ``rows_of``; None when this firing is not for us."""
        event, decision = record.event, record.decision
        data = decision.data or event.data
        words = words_of(data)
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
        known.update([word for word in fresh if len(word) <= LONGEST])
        return True


def _says_more(decision: Decision) -> bool:
    """Whether there is something for a column that is mostly empty."""
    return bool(
        decision.modified or decision.context or decision.messages or decision.attributes or decision.ignored
        or decision.conflicts or decision.aborted
    )  # fmt: skip


def words_of(data: Any) -> list[str] | None:
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
