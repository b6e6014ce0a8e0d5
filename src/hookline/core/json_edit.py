"""JSON as text: where every value stands, so that one can be added or taken out and all other bytes stay.

Comments and trailing commas are understood, since some agents allow them in their settings.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from hookline.core._dataclass import dataclass

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TRIVIA = re.compile(r"//[^\n]*|/\*.*?\*/|,", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
#: Deeper than any settings file, and shallow enough for Python.
_DEEPEST = 100


class JsonError(ValueError):
    """The text is no JSON; the message says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonNode:
    """A value and the place it stands at; ``key`` is its name if it is a member of an object."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    key: str = ""
    #: Where the whole child begins: its key, or the value itself.
    begin: int = -1
    children: tuple[JsonNode, ...] = ()
    value: Any = None

    def member(self, key: str) -> JsonNode | None:
        return next((child for child in self.children if child.key == key), None) if self.kind == "object" else None

    def plain(self) -> Any:
        """The value itself."""
        if self.kind == "object":
            return {child.key: child.plain() for child in self.children}
        return [child.plain() for child in self.children] if self.kind == "array" else self.value


def scan(text: str) -> JsonNode:
    """Raises ``JsonError``, also for a key that is there twice: nobody could say which of them counts."""
    scanner = _Scanner(text)
    node = scanner.value(scanner.space(0), 0)
    end = scanner.space(node.end)
    if end != len(text):
        raise scanner.broken(end, "more text after the value")
    return node


class _Scanner:
    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return at if found is None else found.end()

    def broken(self, at: int, what: str) -> JsonError:
        line = self._text.count("\n", 0, at) + 1
        return JsonError(f"{what} in line {line}, column {at - self._text.rfind(chr(10), 0, at)}")

    def value(self, at: int, depth: int, key: str = "", begin: int = -1) -> JsonNode:
        if depth > _DEEPEST:
            raise self.broken(at, "nested too deeply")
        begin = at if begin < 0 else begin
        opening = self._text[at : at + 1]
        if opening == "{":
            return self._container("object", at, depth, key, begin)
        if opening == "[":
            return self._container("array", at, depth, key, begin)
        found = _STRING.match(self._text, at) or _SCALAR.match(self._text, at)
        if found is None:
            raise self.broken(at, "a value is expected")
        value = self._read(found)
        return JsonNode(kind="scalar", start=at, end=found.end(), key=key, begin=begin, value=value)

    def _read(self, found: re.Match[str]) -> Any:
        try:
            return json.loads(found[0])
        except ValueError:
            raise self.broken(found.start(), "no JSON value") from None

    def _container(self, kind: Literal["object", "array"], at: int, depth: int, key: str, begin: int) -> JsonNode:
        closing, children, keys = {"object": "}", "array": "]"}[kind], list[JsonNode](), set[str]()
        here = self.space(at + 1)
        while self._text[here : here + 1] != closing:
            child = self._member(here, depth) if kind == "object" else self.value(here, depth + 1)
            if kind == "object" and child.key in keys:
                raise self.broken(here, f"the key {child.key!r} is there twice")
            keys.add(child.key)
            children.append(child)
            here = self.space(child.end)
            if self._text[here : here + 1] == ",":
                here = self.space(here + 1)
            elif self._text[here : here + 1] != closing:
                raise self.broken(here, f"a comma or {closing} is expected")
        return JsonNode(kind=kind, start=at, end=here + 1, key=key, begin=begin, children=tuple(children))

    def _member(self, at: int, depth: int) -> JsonNode:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self.broken(at, "a key is expected")
        colon = self.space(found.end())
        if self._text[colon : colon + 1] != ":":
            raise self.broken(colon, "a colon is expected")
        return self.value(self.space(colon + 1), depth + 1, str(self._read(found)), at)


# ── changing ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How this file is written."""

    indent: str = "  "
    newline: str = "\n"


def detect_style(text: str) -> Style:
    found = re.search(r"\n([ \t]+)\S", text)
    return Style(indent=found[1] if found else "  ", newline="\r\n" if "\r\n" in text else "\n")


def add_child(text: str, container: JsonNode, value: Any, *, depth: int, style: Style, key: str = "") -> str:
    """``value`` as the last child of ``container``, which stands ``depth`` levels deep."""
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    inner = style.newline + style.indent * (depth + 1)
    closing = container.end - 1
    kept = len(text[:closing].rstrip())
    if not container.children:
        whole = name + _rendered(value, depth + 1, style)
        return text[:kept] + inner + whole + style.newline + style.indent * depth + text[closing:]
    last = container.children[-1]
    in_lines = "\n" in text[container.start : container.children[0].begin]
    whole = name + (_rendered(value, depth + 1, style) if in_lines else json.dumps(value, ensure_ascii=False))
    lead = _lead(text, last.begin) if in_lines else style.newline if _in_comment(text[last.end : kept]) else " "
    if _comma_after(text, last.end) >= 0:
        return text[:kept] + lead + whole + "," + text[kept:]
    return text[: last.end] + "," + text[last.end : kept] + lead + whole + text[kept:]


def _lead(text: str, at: int) -> str:
    """The new line and the indentation that stand before a child."""
    start = len(text[:at].rstrip(" \t"))
    newline = "\r\n" if text[:start].endswith("\r\n") else "\n"
    return newline + text[start:at] if text[:start].endswith("\n") else newline + " " * 2


def _rendered(value: Any, depth: int, style: Style) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=style.indent).split("\n")
    return (style.newline + style.indent * depth).join(lines)


def _in_comment(trivia: str) -> bool:
    """Whether this ends within a comment that lasts to the end of its line: what follows must not be part of it."""
    found_trivia = [found[0] for found in _TRIVIA.finditer(trivia)]
    return bool(found_trivia) and found_trivia[-1].startswith("//")


def _comma_after(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    here = at if found is None else found.end()
    return here if text[here : here + 1] == "," else -1


def remove_child(text: str, container: JsonNode, child: JsonNode) -> str:
    """The text without this child, the space before it and one comma: the inverse of ``add_child``."""
    place, after = container.children.index(child), _comma_after(text, child.end)
    begin, end = len(text[: child.begin].rstrip()), child.end
    cuts = [(after, after + 1)] if after >= 0 else []
    before = container.children[place - 1].end if place else container.start + 1
    commented = _in_comment(text[before:begin])
    if len(container.children) == 1 and after < 0 and not commented:
        end = len(text) - len(text[end:].lstrip())
    elif place + 1 == len(container.children) and place and after < 0:
        comma = _comma_after(text, container.children[place - 1].end)
        cuts.append((comma, comma + 1))
        begin = max(begin, comma + 1)
    rest = text[after + 1 if after >= 0 else end :].lstrip(" \t")
    if commented and not rest.startswith(("\n", "\r\n")):
        begin = text.index("\n", begin) + 1
    cuts.append((begin, end))
    for start, stop in sorted(cuts, reverse=True):
        text = text[:start] + text[stop:]
    return text
