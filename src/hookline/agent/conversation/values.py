"""The arguments of a tool call as elements, and back: exact for every JSON value, with or without a schema.

A text is recognised by its bars, so reading needs no schema; writing uses it for the order only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

_BAR = "\u2506"
_MARK = "\u2502"

_ATTRIBUTE = re.compile(r'([A-Za-z0-9_:-]+)="([^"]*)"')
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "&#10;"), ("\r", "&#13;"))

#: What would be structure at the beginning of a line of prose, with the backslashes that may stand before it.
_GUARDED = (":::", "<tool-call", "<inline-attachment", "<thought-block")
_STRUCTURE = re.compile(r"^([ \t]*)(\\*)(?=" + "|".join(map(re.escape, _GUARDED)) + r"|<!--[ \t\r]*$)", re.MULTILINE)
_UNDECIDED = re.compile(r"[ \t]*\\*(?P<rest>.*)", re.DOTALL)


# ── inside a record ──────────────────────────────────────────────────────────────────────────────────


def escape(text: str) -> str:
    """Every line gets a bar and every ``<`` a mark, so that no line is blank and no tag can be closed."""
    return f"\n{text}".replace("\n", f"\n{_BAR}").replace("<", f"<{_MARK}") + "\n"


def unescape(text: str) -> str:
    """The way back; text without bars stays as it is."""
    text = text.removesuffix("\n").replace(f"\n{_BAR}", "\n").removeprefix("\n")
    return text.replace(f"<{_MARK}", "<")


def attributes_text(attributes: Iterable[tuple[str, str]]) -> str:
    return "".join(f' {key}="{_entities(value)}"' for key, value in attributes)


def _entities(value: str) -> str:
    for char, entity in _ENTITIES:
        value = value.replace(char, entity)
    return value


def read_attributes(text: str) -> Mapping[str, str]:
    """``key="value"`` pairs; the last duplicate wins."""
    found: dict[str, str] = {}
    for key, value in _ATTRIBUTE.findall(text):
        plain = value
        for char, entity in reversed(_ENTITIES):
            plain = plain.replace(entity, char)
        found[key] = plain
    return found


# ── prose ────────────────────────────────────────────────────────────────────────────────────────────


def guard_prose(text: str) -> str:
    """Prose in which no line is structure: those that would be get a backslash more."""
    return _STRUCTURE.sub(r"\1\2\\", text)


def unguard_prose(text: str) -> str:
    """The way back: one backslash less. A line without one is left alone."""
    return _STRUCTURE.sub(lambda found: found[1] + found[2][:-1], text)


class StreamGuard:
    """``guard_prose`` for a stream: a beginning of a line is held back only while it may still become structure."""

    __slots__ = ("_held", "_inside")

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        return "".join(map(self._line, re.split(r"(?<=\n)", piece)))

    def flush(self) -> str:
        """What was held back, and a fresh start: the next piece begins a line."""
        held, self._held, self._inside = self._held, "", False
        return guard_prose(held)

    def _line(self, piece: str) -> str:
        """``piece`` holds at most one line end, as its last character."""
        if self._inside:
            self._inside = not piece.endswith("\n")
            return piece
        self._held += piece
        if not self._held.endswith("\n") and _may_become_structure(self._held):
            return ""
        text, self._held = guard_prose(self._held), ""
        self._inside = bool(text) and not text.endswith("\n")
        return text


def _may_become_structure(start: str) -> bool:
    found = _UNDECIDED.fullmatch(start)
    rest = found["rest"] if found else start
    if rest.startswith("<!--"):
        return not rest[4:].strip(" \t\r")
    return any(token.startswith(rest) and rest != token for token in (*_GUARDED, "<!--"))


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_OPEN = re.compile(r"<([A-Za-z_][A-Za-z0-9_.-]*)((?:\s[^<>]*)?)>")

#: Names that have a meaning of their own among the elements.
_RESERVED = frozenset({"entry", "array", "object", "item"})


def arguments_text(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """In the order of the tool's parameters; what the schema does not know follows."""
    known = _properties(schema)
    names = [name for name in known if name in arguments] + [name for name in arguments if name not in known]
    return "\n".join(_member(name, arguments[name], known.get(name, {})) for name in names)


def _properties(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _member(name: str, value: Any, schema: Any) -> str:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        return f"<entry{attributes_text([('key', name)])}>{escape(_json(value))}</entry>"
    media = schema.get("contentMediaType") if isinstance(schema, Mapping) and isinstance(value, str) else None
    extra = attributes_text([("contentMediaType", media)]) if isinstance(media, str) else ""
    return f"<{name}{extra}>{_value(value, schema)}</{name}>"


def _value(value: Any, schema: Any) -> str:
    if isinstance(value, str):
        return escape(value)
    if value is None:
        return ""
    if isinstance(value, Mapping):
        known = _properties(schema)
        return (
            "<object>"
            + "".join(_member(str(key), item, known.get(key, {})) for key, item in value.items())
            + "</object>"
        )
    if isinstance(value, Sequence):
        inner = schema.get("items", {}) if isinstance(schema, Mapping) else {}
        return "<array>" + "".join(f"<item>{_value(item, inner)}</item>" for item in value) + "</array>"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


# ── back ─────────────────────────────────────────────────────────────────────────────────────────────


class _Element(NamedTuple):
    """``inner`` is the text between its tags."""

    name: str
    attributes: Mapping[str, str]
    inner: str


def elements(text: str) -> list[_Element]:
    """The elements that stand next to one another; anything between them is passed over."""
    found: list[_Element] = []
    position = 0
    while (opening := _OPEN.search(text, position)) is not None:
        name = opening[1]
        end = _closing(text, name, opening.end())
        if end < 0:
            position = opening.end()
            continue
        found.append(_Element(name, read_attributes(opening[2]), text[opening.end() : end]))
        position = end + len(name) + 3
    return found


def _closing(text: str, name: str, start: int) -> int:
    """Where the element ends; elements of the same name may stand inside it."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}(?=[\s>])[^<>]*>").finditer(text, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.start()
    return -1


def read_arguments(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in elements(text):
        if one.name == "entry":
            found[one.attributes.get("key", "")] = _read_json(unescape(one.inner))
        else:
            found[one.name] = _read_value(one.inner)
    return found


def _read_value(inner: str) -> Any:
    if inner.startswith("\n"):
        return unescape(inner)
    if inner == "":
        return None
    if inner.startswith("<array>"):
        return [_read_value(one.inner) for one in elements(elements(inner)[0].inner)]
    if inner.startswith("<object>"):
        return read_arguments(elements(inner)[0].inner)
    return _read_json(inner)


def _read_json(text: str) -> Any:
    """A value that is not JSON was written by hand, and is a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return unescape(text)
