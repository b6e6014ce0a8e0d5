"""The options of a program as its own parser takes them: clusters, abbreviations, ``--name=value``, ``--``.

A specification is one line: ``"rR,recursive f,force t:,target-directory: i?"``. The letters before a comma are short
options, the names after it long ones, the first name is the key; ``:`` takes a value, ``?`` takes one only if attached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from hookline.core._dataclass import dataclass
from hookline.guard.reading import Word, cut

_EVERYWHERE = "help version"


class _Option(NamedTuple):
    key: str
    #: "" for none, ":" for a value, "?" for a value that must be attached.
    takes: str


class _Specification(NamedTuple):
    short: Mapping[str, _Option]
    long: Mapping[str, _Option]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """What was given: key to values (None for a flag), operands, and options that the specification does not know."""

    given: Mapping[str, tuple[Word | None, ...]]
    operands: tuple[Word, ...]
    unknown: tuple[str, ...] = ()
    #: Operands after ``--``.
    after: tuple[Word, ...] = ()
    #: An option that takes a value was abbreviated, which may mean another one in another version.
    abbreviated: bool = False

    def __contains__(self, key: str) -> bool:
        return key in self.given

    def any(self, *keys: str) -> bool:
        return any(key in self.given for key in keys)

    def values(self, *keys: str) -> tuple[Word, ...]:
        return tuple(word for key in keys for word in self.given.get(key, ()) if word is not None)

    def last(self, *keys: str) -> Word | None:
        found = self.values(*keys)
        return found[-1] if found else None

    @property
    def informs(self) -> bool:
        """It only prints its help or version."""
        return "help" in self.given or "version" in self.given


def parse_options(
    words: Iterable[Word],
    specification: str = "",
    *,
    until_operand: bool = False,
    before: int = 0,
    dashes: int = 2,
    others: str | None = None,
) -> GivenOptions:
    """Read ``words`` (without the program's name), to the end or to the first operand behind those ``before`` it.

    ``dashes=1``: long options begin with one dash, as in terraform. ``others``: what an option takes that the
    specification lacks; without it, such options are ``unknown``.
    """
    parser = _Parser(words, _specification(specification), others)
    after = parser.run(before if until_operand else None, dashes=dashes)
    given = {key: tuple(values) for key, values in parser.given.items()}
    return GivenOptions(
        given=given,
        operands=(*parser.operands, *after),
        unknown=tuple(parser.unknown),
        after=after,
        abbreviated=parser.abbreviated,
    )


class _Parser:
    def __init__(self, words: Iterable[Word], known: _Specification, others: str | None) -> None:
        self._rest, self._known, self._others = iter(words), known, others
        self.abbreviated = False
        self.given: dict[str, list[Word | None]] = {}
        self.operands: list[Word] = []
        self.unknown: list[str] = []

    def run(self, before: int | None, *, dashes: int) -> tuple[Word, ...]:
        """What follows ``--``."""
        for word in self._rest:
            text = word.prefix
            if text == "--" and word.text == "--":
                return tuple(self._rest)
            if text.startswith("--") or (dashes == 1 and len(text) > 1 and text[0] == "-"):
                self._long(word, text)
            elif len(text) > 1 and text[0] == "-":
                self._cluster(word, text)
            else:
                self.operands.append(word)
                if before is not None and len(self.operands) > before:
                    self.operands.extend(self._rest)
        return ()

    def _long(self, word: Word, text: str) -> None:
        name, equals, _ = text.lstrip("-").partition("=")
        option = _find(name, self._known.long)
        self.abbreviated = self.abbreviated or (
            option is not None and bool(option.takes) and name not in self._known.long
        )
        option = option or self._other(name, self._others)
        if option is None:
            self.unknown.append(text)
            return
        value = cut(word, text.index("=") + 1) if equals else self._next(option)
        self.given.setdefault(option.key, []).append(value)

    def _other(self, name: str, takes: str | None) -> _Option | None:
        return None if self._others is None else _Option(name, takes or "")

    def _next(self, option: _Option) -> Word | None:
        return next(self._rest, None) if option.takes == ":" else None

    def _cluster(self, word: Word, text: str) -> None:
        for position, letter in enumerate(text[1:], 2):
            option = self._known.short.get(letter) or self._other(letter, "")
            if option is None:
                self.unknown.append("-" + letter)
                continue
            attached = cut(word, position)
            values = self.given.setdefault(option.key, [])
            if option.takes:
                values.append(attached if attached.pieces else self._next(option))
                return
            values.append(None)


def _find(name: str, long: Mapping[str, _Option]) -> _Option | None:
    """Exactly this name, or the only one (or several of one meaning) that it abbreviates."""
    if name in long:
        return long[name]
    found = {long[one] for one in long if name and one.startswith(name)}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=512)
def _specification(text: str) -> _Specification:
    short: dict[str, _Option] = {}
    long: dict[str, _Option] = {}
    for item in f"{_EVERYWHERE} {text}".split():
        takes = item[-1] if item[-1] in ":?" else ""
        letters, _, names = item.replace(":", "").replace("?", "").partition(",")
        listed = names.split(",") if names else []
        if not listed and (len(letters) > 1):
            letters, listed = "", [letters]
        option = _Option(listed[0] if listed else letters[0], takes)
        short.update(dict.fromkeys(letters, option))
        long.update(dict.fromkeys(listed, option))
    return _Specification(short, long)
