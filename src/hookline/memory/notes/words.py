"""The words of notes and of questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hookline.core._dataclass import dataclass

#: Words of a query that count, even if a page was pasted.
_MAX_WORDS = 32
_MAX_WORD = 64

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_EACH = re.compile(f"([{_UNSPACED}])")
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) +(?=[{_UNSPACED}])")
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_PHRASE = {sign: re.compile(f"{sign}([^{sign}]*){sign}") for sign in '"`'}

#: Words that do not describe a topic.
_COMMON = """
a about after all also an and any are as at be been before but by can could do does done for from had has have here how
i if in into is it its just like make more my need new next no not now of on one only or our out over please should so
some still test tests than that the their them then there these this to up us use used using was we were what when
where which while who will with work would you your main master develop dev trunk head detached feature feat fix bugfix
hotfix chore refactor release wip add added adds update updated merge branch pending session
"""
_STOP_WORDS = frozenset(_COMMON.split())
#: Words of questions, beside those.
_ASKED = "why did was were does must may them they very too much lot same because who whose whom during per via ever already tell"
_QUESTION_WORDS = _STOP_WORDS - frozenset(
    ["add", "update", "merge", "branch", "release", "session", "test"]
) | frozenset(_ASKED.split())
#: A name in running text: parts joined by signs, or capitals inside a word. It begins where a word begins: to try every
#: letter of a long one would take its square.
_NAME = re.compile(
    r"(?:--)?(?<![^\W_])[^\W_]+(?:[._/:\\]+[^\W_]+)+|--[\w-]+|\b[A-Z_]{4,}\b|\b[a-z]*(?:[A-Z][a-z0-9]+){2,}\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Each part is a word, or a phrase."""

    parts: tuple[tuple[str, ...], ...]
    #: Phrases that a note must have.
    exact: tuple[tuple[str, ...], ...] = ()
    #: Parts that look like names: of a file, a function, a signal.
    names: tuple[tuple[str, ...], ...] = ()
    #: As it was written, for its meaning.
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def words(self) -> list[str]:
        return [word for part in self.parts for word in part]

    def all(self) -> str:
        return " AND ".join(map(_quoted, self.parts))

    def any(self) -> str:
        return " OR ".join(map(_quoted, self.parts))

    def required(self) -> str:
        return " AND ".join(map(_quoted, self.exact))


def parse_query(text: str) -> Query:
    """A person's input. Double quotes and backticks mark what must be there as it is; no other character has a meaning.
    Words that every question has do not count, unless there are no others."""
    exact: dict[tuple[str, ...], None] = {}
    rest = text
    for sign in ('"', "`"):
        if rest.count(sign) > 1:
            pattern = _PHRASE[sign]
            exact |= {tuple(split_words(phrase)[:_MAX_WORDS]): None for phrase in pattern.findall(rest)}
            rest = pattern.sub(" ", rest)
    found = {part: None for part in exact if part}
    names = dict.fromkeys(part for name in _NAME.findall(rest) if (part := tuple(split_words(name)[:_MAX_WORDS])))
    found |= names
    words = _parts_in(rest)
    telling = [part for part in words if " ".join(part).lower() not in _QUESTION_WORDS]
    for part in telling or ([] if found else words):
        found[part] = None
    return Query(
        parts=tuple(found)[:_MAX_WORDS], exact=tuple(part for part in exact if part), names=tuple(names), text=text
    )


def keyword_query(texts: Iterable[str], most: int = _MAX_WORDS) -> Query:
    """The keywords of several texts, in order."""
    found: dict[str, None] = {}
    given = list(texts)
    for text in given:
        for word in split_words(text.lower()):
            if len(word) > 2 and word not in _STOP_WORDS and not word.isdigit():
                found[word] = None
    return Query(parts=tuple((word,) for word in found)[:most], text=" ".join(given))


def topic_words(text: str) -> list[str]:
    """Lower case, without words that every text has."""
    return [word for word in map(str.lower, split_words(text)) if word not in _QUESTION_WORDS]


def split_words(text: str) -> list[str]:
    return [one for part in _parts_in(text) for one in part]


def _parts_in(text: str) -> Sequence[tuple[str, ...]]:
    """A run of characters of a language without spaces is one phrase."""
    return [tuple(space_cjk(word[:_MAX_WORD]).split()) for word in _WORD.findall(text)]


def space_cjk(text: str) -> str:
    """As stored in the index."""
    return _EACH.sub(r" \1 ", text) if not text.isascii() else text


def unspace_cjk(text: str) -> str:
    """Nearly as it was written."""
    return _BETWEEN.sub("", text).strip() if not text.isascii() else text


def _quoted(part: Sequence[str]) -> str:
    return '"' + " ".join(part) + '"'
