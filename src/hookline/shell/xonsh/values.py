"""Convert any variable or argument to JSON of limited size, for hooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

#: Limits: characters of a text, items of a list, levels of nesting.
_MAX_TEXT, _MAX_ITEMS, _MAX_DEPTH = 65536, 1000, 4


def to_json(value: Any, depth: int = 0) -> Any:
    """The value itself if JSON has it, else its text. Never raises, although a value's ``repr`` may."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value) if len(value) <= _MAX_TEXT else value[:_MAX_TEXT]
    if depth < _MAX_DEPTH and isinstance(value, list | tuple):
        return [to_json(item, depth + 1) for item in value[:_MAX_ITEMS]]
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return {str(key): to_json(item, depth + 1) for key, item in list(value.items())[:_MAX_ITEMS]}
    try:
        text = os.fspath(value) if isinstance(value, os.PathLike) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    return text[:_MAX_TEXT] if isinstance(text, str) else repr(text)[:_MAX_TEXT]


def argument_text(value: Any) -> str:
    """One word of a command line; a function is shown by its name."""
    if isinstance(value, str):
        return value
    if callable(value):
        return str(getattr(value, "__name__", "") or type(value).__name__)
    text = to_json(value)
    return text if isinstance(text, str) else str(text)
