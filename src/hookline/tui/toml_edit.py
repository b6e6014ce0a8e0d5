"""Remove one table from a TOML text, or append one, and keep every other byte.

A parser forgets where values stood. tomlkit was tried: deleting a ``[[hook]]`` moves the tables behind it together,
rewrites ``[[ hook ]]`` and loses comments. So the text is cut into statements, each of which belongs to a table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import dataclass

_BLANK = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:#[^\n]*\Z)?")
#: Strings, the longest delimiters first (a multi-line one may end in two further quotes), comments, all else.
_PIECE = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}|"(?:[^"\\\n]|\\.)*"|'
    r"'''[\s\S]*?'{3,5}|'[^'\n]*'|#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[\]{}\n]+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """A header or a pair, with the line break that ends it."""

    start: int
    end: int
    #: The path of a header; None for a pair.
    header: tuple[str, ...] | None
    repeated: bool = False


def _statements(text: str) -> Iterator[_Statement]:
    """Every header and pair of a text that is valid TOML, in order. Each begins at the start of its line."""
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        begin = blank.end() if blank else at
        if begin >= len(text):
            return
        start = text.rfind("\n", 0, begin) + 1
        end = _statement_end(text, begin)
        if text[begin] == "[":
            repeated = text.startswith("[[", begin)
            yield _Statement(start=start, end=end, header=_path(text[begin:end]), repeated=repeated)
        else:
            yield _Statement(start=start, end=end, header=None)
        at = end


def _statement_end(text: str, at: int) -> int:
    """Behind the first line break that is in no string and in no bracket."""
    depth = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return len(text)
        at = piece.end()
        match piece[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth <= 0:
                return at
            case _:
                pass
    return at


def _path(header: str) -> tuple[str, ...]:
    """The keys of a header, as the parser itself reads them."""
    tree: Any = tomllib.loads(header)
    keys: list[str] = []
    while tree:
        tree = tree[0] if isinstance(tree, list) else tree
        if not tree:
            break
        ((key, tree),) = tree.items()
        keys.append(key)
    return tuple(keys)


def _spans(text: str, array: str, index: int) -> list[tuple[int, int]]:
    """The parts of the text that are element ``index`` of the array of tables ``[[array]]``, its subtables too,
    which may stand behind other tables."""
    spans: list[tuple[int, int]] = []
    current, mine = -1, False
    for statement in _statements(text):
        if statement.header is not None:
            inside = bool(statement.header) and statement.header[0] == array
            if inside and len(statement.header) == 1 and statement.repeated:
                current += 1
            mine = inside and current == index
            if mine:
                spans.append((statement.start, statement.end))
        elif mine:
            spans[-1] = (spans[-1][0], statement.end)
    return spans


def remove_table(text: str, array: str, index: int) -> str | None:
    """The text without that element; None if it cannot be removed exactly. Comments and blank lines stay,
    except the one blank line that would be left doubled."""
    kept = text
    for start, end in reversed(_spans(text, array, index)):
        kept = kept[: _cut_start(kept, start, end)] + kept[end:]
    return kept if _only_removed(text, kept, array, index) else None


def _cut_start(text: str, start: int, end: int) -> int:
    """The blank line in front goes too where another blank line, or nothing, follows."""
    followed = text[end:].lstrip(" \t\r")[:1]
    for blank in ("\r\n", "\n"):
        if text[:start].endswith((f"\n{blank}", f"\r\n{blank}")) and followed in {"", "\n"}:
            return start - len(blank)
    return start


def _only_removed(before: str, after: str, array: str, index: int) -> bool:
    """Read again, it is what it was but for that element."""
    try:
        was, now = tomllib.loads(before), tomllib.loads(after)
    except ValueError:
        return False
    elements = was.get(array)
    if not isinstance(elements, list) or not 0 <= index < len(elements):
        return False
    del elements[index]
    return was == {array: [], **now}


def append_table(text: str, table: str) -> str:
    """The text with a table behind it, divided by a blank line, in the line breaks that the text uses."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline * (2 - text.endswith("\n")) if text else ""
    return text + gap + table.replace("\n", newline)
