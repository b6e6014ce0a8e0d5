"""A conversation file as messages: front matter, what the person wrote, and the interlocutors' blocks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from hookline.config.syntax.lec import split
from hookline.core._dataclass import dataclass
from hookline.core.errors import DataError

_OPENING = re.compile(r" {0,3}(:{3,})([\w-]+)(?:\[[^\]]*\])?(?:\{[^}]*\})?[ \t]*\r?$")
_CLOSING = re.compile(r" {0,3}(:{3,})[ \t]*\r?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")

#: So many other fences may stand inside one.
_FEW = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """The raw text between two blocks, comments and directives included."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The answer of one interlocutor; ``content`` is the text between the two lines of colons."""

    name: str
    content: str


_Item: TypeAlias = UserText | Block


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversation:
    header: str
    items: tuple[_Item, ...]

    @property
    def last_is_user(self) -> bool:
        return bool(self.items) and isinstance(self.items[-1], UserText)


def read_conversation(text: str, names: Collection[str] = ()) -> _Conversation:
    """``names`` are the known interlocutors, whose names may hold what no other name may."""
    lines = text.count("\n")
    if lines and text.count("\r\n") == lines:
        # Written by an editor of another system: the line ends are not part of anybody's text.
        text = text.replace("\r\n", "\n")
    found = split(text.lstrip("\ufeff"))
    if found is None:
        raise DataError('could not parse YAML header: it is not closed; end it with a line "---"')
    return _Conversation(header=found[0], items=tuple(read_body(found[1], names)))


def read_body(body: str, names: Collection[str] = ()) -> list[_Item]:
    """Every block is preceded by the person's text, which may be empty; text after the last block is the last message,
    if there is any."""
    lines = body.split("\n")
    marks = _Marks(lines, names)
    items: list[_Item] = []
    start = position = 0
    while position < len(lines):
        opened = marks.opens.get(position)
        if opened is None:
            end = marks.protected_until(position)
            position = position + 1 if end is None else end + 1
            continue
        items.append(UserText(text="\n".join(lines[start:position])))
        end = marks.end_of_block(position + 1, opened[0])
        items.append(Block(name=opened[1], content="\n".join(lines[position + 1 : end]).removeprefix("\n")))
        start = position = end + 1
    rest = "\n".join(lines[start:])
    if rest.strip():
        items.append(UserText(text=rest))
    return items


class _Marks:
    """The lines that can be structure, found once: a long file must not be read again for every fence in it."""

    def __init__(self, lines: Sequence[str], names: Collection[str]) -> None:
        self._count = len(lines)
        self._names = names
        #: Line -> how many colons open a block there, and whose it is; line -> how many colons close one.
        self.opens: dict[int, tuple[int, str]] = {}
        self._closes: dict[int, int] = {}
        #: Line -> the fence that stands there: its mark, and what follows it.
        self._fences: dict[int, tuple[str, str]] = {}
        self._comments: set[int] = set()
        self._comment_ends: list[int] = []
        for number, line in enumerate(lines):
            self._look(number, line)
        self._colons = sorted([*self.opens, *self._closes])
        self._fence_lines = list(self._fences)

    def _look(self, number: int, line: str) -> None:
        start = line.lstrip(" ")
        if start.startswith(":::"):
            opened, closing = _opened(line, self._names), _CLOSING.match(line)
            if opened is not None:
                self.opens[number] = opened
            elif closing is not None:
                self._closes[number] = len(closing[1])
        elif start.startswith(("```", "~~~")) and (fence := _FENCE.match(line.rstrip("\r"))):
            self._fences[number] = (fence[1], fence[2].strip())
        elif start.startswith("<!--"):
            self._comments.add(number)
        if "-->" in line:
            self._comment_ends.append(number)

    def protected_until(self, position: int) -> int | None:
        """The last line of the closed fence or comment that begins here.

        Only the very next line that looks like a fence can close one: a fence that a cut-off answer left open must
        not reach into the next person's words.
        """
        if position in self._fences:
            return self._closing_fence(position)
        if position in self._comments:
            at = bisect_left(self._comment_ends, position)
            return self._comment_ends[at] if at < len(self._comment_ends) else None
        return None

    def _closing_fence(self, position: int) -> int | None:
        mark = self._fences[position][0]
        for number in self._fence_lines[(at := bisect_left(self._fence_lines, position + 1)) : at + _FEW]:
            other, rest = self._fences[number]
            if other[0] == mark[0] and len(other) >= len(mark):
                return number if not rest else None
        return None

    def end_of_block(self, start: int, colons: int) -> int:
        """The line that closes the block, or the end of the file.

        A fence or comment hides colons only if no block begins in it and this one still has an end after it;
        otherwise the first line of colons is the end.
        """
        position = start
        while position < self._count:
            if self._closes.get(position, 0) >= colons:
                return position
            end = self.protected_until(position)
            if end is not None and not self._begins(position, end) and self._has_end(end + 1, colons):
                position = end
            position += 1
        return self._count

    def _between(self, start: int) -> Iterator[int]:
        for at in range(bisect_left(self._colons, start), len(self._colons)):
            yield self._colons[at]

    def _begins(self, start: int, end: int) -> bool:
        for number in self._between(start):
            if number >= end:
                return False
            if number in self.opens and (not self._names or self.opens[number][1] in self._names):
                return True
        return False

    def _has_end(self, start: int, colons: int) -> bool:
        """Whether a closing line comes before the next block begins."""
        for number in self._between(start):
            if self._closes.get(number, 0) >= colons:
                return True
            if number in self.opens:
                return False
        return False


def _opened(line: str, names: Collection[str]) -> tuple[int, str] | None:
    """How many colons open a block, and whose it is. A known name may look like anything."""
    colons = len(line) - len(line.lstrip(":"))
    if colons >= 3 and line[colons:].strip() in names:
        return colons, line[colons:].strip()
    found = _OPENING.match(line)
    return None if found is None else (len(found[1]), found[2])
