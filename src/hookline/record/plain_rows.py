"""The rows of a firing that says little, which is most of them, for a process that stays.

What ``rows_of`` makes of it, in half the time: the words of events come again (directories, sessions, names of tools),
and a word that was found to hold no secret holds none the next time. Whatever is out of the ordinary is left to
``rows_of``.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from hookline.record.rows import DATA_LIMIT, HEAD, firing_columns, run_columns

if TYPE_CHECKING:
    from hookline.record import Record
    from hookline.record.redact import Redactor
    from hookline.record.rows import Columns, Writer

#: Words that are remembered, and the characters up to which one is.
MOST = 4096
LONGEST = 512

#: Where ``rows`` keeps what, in a firing and in a run.
_ABORTED, _DATA, _SAID = 11, 15, slice(16, None)
_FIRING_TEXTS = itemgetter(2, 4, 5, 6, 7, 10)
_RUN_TEXTS = itemgetter(2, 8, 9, 10)
_RUN_SAID = slice(11, None)
_NOTHING, _NOTHING_MORE = (None,) * 6, (None, None)


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
        firing = firing_columns(record, name, time, pid)
        words = words_of(firing[_DATA])
        if words is None or firing[_SAID] != _NOTHING or firing[_ABORTED] is not None:
            return None
        words += _FIRING_TEXTS(firing)
        if not name.isalnum():  # then it is none that we made
            words.append(name)
        runs = [run_columns(record, outcome, at) for at, outcome in enumerate(record.decision.outcomes)]
        for run in runs:
            said = _RUN_TEXTS(run)
            if run[_RUN_SAID] != _NOTHING_MORE or max(map(len, said)) > HEAD:
                return None
            words += said
        if not self._are_clean(words):
            return None
        data = written(firing[_DATA])
        return None if len(data) > DATA_LIMIT else ((*firing[:_DATA], data, *_NOTHING), runs)

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
