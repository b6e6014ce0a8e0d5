"""The arguments of a tool call as elements, and back: exact for every JSON value, with or without a schema.

A text is told from other values by its bars, so reading needs no schema; writing uses it for the order only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.agent.conversation.escape import attributes_text, escape, read_attributes, unescape

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_OPEN = re.compile(r"<([A-Za-z_][A-Za-z0-9_.-]*)((?:\s[^<>]*)?)>")

#: Names that have a meaning of their own among the elements.
_TAKEN = frozenset({"entry", "array", "object", "item"})


def arguments_text(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """In the order of the tool's parameters; what the schema does not know follows."""
    known = _properties(schema)
    names = [name for name in known if name in arguments] + [name for name in arguments if name not in known]
    return "\n".join(_member(name, arguments[name], known.get(name, {})) for name in names)


def _properties(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _member(name: str, value: Any, schema: Any) -> str:
    if not _NAME.fullmatch(name) or name in _TAKEN:
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


class _Element:
    """One element: its name, its attributes and the text between its tags."""

    __slots__ = ("attributes", "inner", "name")

    def __init__(self, name: str, attributes: Mapping[str, str], inner: str) -> None:
        self.name = name
        self.attributes = attributes
        self.inner = inner


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
    return {_key(one): _read_member(one) for one in elements(text)}


def _key(one: _Element) -> str:
    return one.attributes.get("key", "") if one.name == "entry" else one.name


def _read_member(one: _Element) -> Any:
    return _read_json(unescape(one.inner)) if one.name == "entry" else _read_value(one.inner)


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
    """What is no JSON was written by hand, and is a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return unescape(text)
