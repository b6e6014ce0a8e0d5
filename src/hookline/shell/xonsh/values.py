"""What a variable or an argument looks like to a hook: JSON, of bounded size, whatever it was."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

#: Characters of one text, items of one list, and how deep lists may lie in one another.
LONGEST, MOST, DEEPEST = 65536, 1000, 4


def plain(value: Any, depth: int = 0) -> Any:
    """The value itself where JSON has it, else its text. Never raises: a value's own ``repr`` may."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value) if len(value) <= LONGEST else value[:LONGEST]
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value[:MOST]]
    if depth < DEEPEST and isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in list(value.items())[:MOST]}
    try:
        text = os.fspath(value) if isinstance(value, os.PathLike) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    return text[:LONGEST] if isinstance(text, str) else repr(text)[:LONGEST]


def word(value: Any) -> str:
    """One word of a command line: a function among the words is known by its name."""
    if isinstance(value, str):
        return value
    if callable(value):
        return str(getattr(value, "__name__", "") or type(value).__name__)
    text = plain(value)
    return text if isinstance(text, str) else str(text)
