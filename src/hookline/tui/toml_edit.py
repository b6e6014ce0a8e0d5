"""Remove one table from a TOML text, append one, or set one value, and keep every other byte.

A parser forgets where values stood. tomlkit was tried: deleting a ``[[hook]]`` moves the tables behind it together,
rewrites ``[[ hook ]]`` and loses comments. So the text is cut into statements, each of which belongs to a table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

from hookline.config.syntax import parse_text
from hookline.core._dataclass import dataclass
from hookline.core.errors import UsageError
from hookline.core.problem import Problem
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.native.render import quote

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


def table_span(text: str, array: str, index: int) -> tuple[int, int] | None:
    """Where element ``index`` of ``[[array]]`` begins and ends; None if it is not in one piece."""
    spans = _spans(text, array, index)
    joined = bool(spans) and all(not text[one[1] : two[0]].strip() for one, two in pairwise(spans))
    return (spans[0][0], spans[-1][1]) if joined else None


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


def set_value(text: str, table: str, key: str, value: str) -> str | None:
    """The text with ``key = value`` (as TOML) in ``[table]``, a dotted name; None if that cannot be done exactly."""
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f"{key} = {value}{newline}"
    inside, after = False, text
    for statement in _statements(text):
        if statement.header is not None:
            inside = statement.header == tuple(table.split(".")) and not statement.repeated
            if inside:  # first, in case it has no such key
                after = text[: statement.end] + line + text[statement.end :]
        elif inside and re.match(rf"\s*{re.escape(key)}\s*=", text[statement.start : statement.end]):
            comment = re.search(r"[ \t]+#[^\n\"']*$", text[statement.start : statement.end].rstrip("\r\n"))
            fresh = f"{line.rstrip()}{comment[0] if comment else ''}{newline}"
            after = text[: statement.start] + fresh + text[statement.end :]
            break
    if after == text:
        after = append_table(text, f"[{table}]\n{line}")
    return after if _only_set(text, after, table, key) else None


def _only_set(before: str, after: str, table: str, key: str) -> bool:
    """Read again, it is what it was but for that value."""
    try:
        was, now = tomllib.loads(before), tomllib.loads(after)
        old, new = was, now
        for name in table.split("."):
            old, new = old.setdefault(name, {}), new[name]
        old.pop(key, None)
        new.pop(key)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return was == now


def append_table(text: str, table: str) -> str:
    """The text with a table behind it, divided by a blank line, in the line breaks that the text uses."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline * (2 - text.endswith("\n")) if text else ""
    return text + gap + table.replace("\n", newline)


Kind = Literal["run", "shell", "prompt", "python", "http", "plugin"]
KINDS: tuple[Kind, ...] = ("run", "shell", "prompt", "python", "http", "plugin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The form's fields. Empty ones are left out, so that the defaults apply."""

    name: str
    on: tuple[str, ...]
    kind: Kind
    what: str
    match: str = ""
    timeout: str = ""
    on_failure: str = ""
    mode: str = ""
    inject: str = ""
    description: str = ""

    def table(self) -> str:
        """The ``[[hook]]`` table as text."""
        events = quote(self.on[0]) if len(self.on) == 1 else f"[{', '.join(map(quote, self.on))}]"
        lines = ["[[hook]]", f"name = {quote(self.name)}"]
        lines += [f"description = {quote(self.description)}"] if self.description else []
        lines += [f"on = {events}"]
        lines += [f"match = {quote(self.match)}"] if self.match else []
        lines += [f"{self.kind} = {quote(self.what)}"]
        for key in ("timeout", "on_failure", "mode", "inject"):
            if value := getattr(self, key):
                lines.append(f"{key} = {quote(value)}")
        return "\n".join(lines) + "\n"


def check_draft(draft: Draft, text: str, path: str, lookup: Lookup) -> str:
    """The new file, checked with the loader that will read it. Raises UsageError."""
    wanted = (("a name", draft.name), ("an event", draft.on), ("an action", draft.what))
    if missing := [word for word, given in wanted if not given]:
        raise UsageError(f"the hook needs {' and '.join(missing)}")
    before, broken = _names(text, path, lookup)
    if broken and any(one.pointer == "$" for one in broken):
        raise UsageError("; ".join(("the file has errors; see: hookline check", *map(str, broken))))
    if draft.name in before:
        raise UsageError(f"{path} already has a hook {draft.name!r}; choose another name")
    fresh = append_table(text, draft.table())
    after, problems = _names(fresh, path, lookup)
    known = {(one.pointer, one.finding) for one in broken}
    new = [one for one in problems if one.severity == "error" and (one.pointer, one.finding) not in known]
    if new or after != (*before, *(draft.name for _ in draft.on)):
        raise UsageError("; ".join(f"{one.finding}; {one.fix}" for one in new) or "the file cannot take this hook")
    return fresh


def _names(text: str, path: str, lookup: Lookup) -> tuple[tuple[str, ...], Sequence[Problem]]:
    document = parse_text(path, text, "toml")
    if document.tree is None:
        return (), document.problems
    layer = Layer(path=path, name="user", syntax="toml", text=text, tree=document.tree, line=document.line)
    parsed = dialect_named("native").parse([layer], lookup)
    return tuple(spec.name for spec in parsed.specs), parsed.problems
