"""A conversation file as messages: front matter, what the person wrote, and the interlocutors' blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from hookline.config.read_lec import split
from hookline.dataclass import dataclass
from hookline.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_OPENING = re.compile(r" {0,3}(:{3,})([\w-]+)(?:\[[^\]]*\])?(?:\{[^}]*\})?[ \t]*\r?$")
_CLOSING = re.compile(r" {0,3}(:{3,})[ \t]*\r?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """The raw text between two blocks, comments and directives included."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What one interlocutor said; ``content`` is the text between the two lines of colons."""

    name: str
    content: str


Item: TypeAlias = UserText | Block


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    header: str
    items: tuple[Item, ...]

    @property
    def last_is_user(self) -> bool:
        return bool(self.items) and isinstance(self.items[-1], UserText)


def read_conversation(text: str, names: Collection[str] = ()) -> Conversation:
    """``names`` are the known interlocutors, whose names may hold what no other name may."""
    lines = text.count("\n")
    if lines and text.count("\r\n") == lines:
        # An editor of another system wrote every line end its own way; none of them is anybody's words.
        text = text.replace("\r\n", "\n")
    found = split(text.lstrip("\ufeff"))
    if found is None:
        raise DataError('could not parse YAML header: it is not closed; end it with a line "---"')
    return Conversation(header=found[0], items=tuple(read_body(found[1], names)))


def read_body(body: str, names: Collection[str] = ()) -> list[Item]:
    """Every block is preceded by what the person said, even if that is nothing; text after the last block is
    the last message, if there is any."""
    lines = body.split("\n")
    items: list[Item] = []
    start = position = 0
    while position < len(lines):
        opened = _opened(lines[position], names)
        if opened is None:
            position = _past_protected(lines, position)
            continue
        items.append(UserText(text="\n".join(lines[start:position])))
        end = _end_of_block(lines, position + 1, opened[0], names)
        items.append(Block(name=opened[1], content="\n".join(lines[position + 1 : end]).removeprefix("\n")))
        start = position = end + 1
    rest = "\n".join(lines[start:])
    if rest.strip():
        items.append(UserText(text=rest))
    return items


def _opened(line: str, names: Collection[str]) -> tuple[int, str] | None:
    """How many colons open a block, and whose it is. A known name may look like anything."""
    colons = len(line) - len(line.lstrip(":"))
    if colons >= 3 and line[colons:].strip() in names:
        return colons, line[colons:].strip()
    found = _OPENING.match(line)
    return None if found is None else (len(found[1]), found[2])


def _closes(line: str, colons: int) -> bool:
    found = _CLOSING.match(line)
    return found is not None and len(found[1]) >= colons


def _past_protected(lines: Sequence[str], position: int) -> int:
    """The next line to look at: after a fence or a comment that is closed."""
    end = _protected_until(lines, position)
    return position + 1 if end is None else end + 1


def _protected_until(lines: Sequence[str], position: int) -> int | None:
    """The last line of the closed fence or comment that begins here.

    Only the very next line that looks like a fence can close one: a fence that a cut-off answer left open must
    not reach into the next person's words.
    """
    line = lines[position]
    fence = _FENCE.match(line.rstrip("\r"))
    if fence is not None:
        return _closing_fence(lines, position, fence[1])
    if line.lstrip(" ").startswith("<!--"):
        return next((end for end in range(position, len(lines)) if "-->" in lines[end]), None)
    return None


def _closing_fence(lines: Sequence[str], position: int, mark: str) -> int | None:
    for end in range(position + 1, len(lines)):
        found = _FENCE.match(lines[end].rstrip("\r"))
        if found is not None and found[1][0] == mark[0] and len(found[1]) >= len(mark):
            return end if not found[2].strip() else None
    return None


def _end_of_block(lines: Sequence[str], start: int, colons: int, names: Collection[str]) -> int:
    """The line that closes the block, or the end of the file.

    A fence or comment hides colons only if no block begins in it and this one still has an end after it;
    otherwise the first line of colons is the end.
    """
    position = start
    while position < len(lines):
        if _closes(lines[position], colons):
            return position
        end = _protected_until(lines, position)
        if end is not None and not _begins(lines[position:end], names) and _has_end(lines, end + 1, colons, names):
            position = end
        position += 1
    return len(lines)


def _begins(lines: Sequence[str], names: Collection[str]) -> bool:
    opened = (_opened(line, names) for line in lines)
    return any(one is not None and (not names or one[1] in names) for one in opened)


def _has_end(lines: Sequence[str], start: int, colons: int, names: Collection[str]) -> bool:
    """Whether a closing line comes before the next block begins."""
    for line in lines[start:]:
        if _closes(line, colons):
            return True
        if _opened(line, names) is not None:
            return False
    return False
