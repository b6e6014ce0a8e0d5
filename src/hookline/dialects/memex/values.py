"""What a value of the INI file means: memex's normaliser, and the way back."""

from __future__ import annotations

import json
import re
from typing import Any

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}


def normalize(text: str, home: str = "") -> Any:
    """Trim, expand ``~``, then: object, list, integer, boolean, or text without its one pair of quotes."""
    value = text.strip()
    if home and (value == "~" or value.startswith("~/")):
        value = home + value[1:]
    if (value[:1], value[-1:]) == ("{", "}") and len(value) > 1:
        return _object(value)
    if (value[:1], value[-1:]) == ("[", "]") and len(value) > 1:
        return [item for part in value[1:-1].split(",") if (item := unquote(part.strip()))]
    if value.isascii() and value.isdigit():
        return int(value[:300])
    if value.lower() in {"true", "yes"}:
        return True
    if value.lower() in {"false", "no"}:
        return False
    return unquote(value)


def _object(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def names(text: str) -> tuple[str, ...]:
    """A comma-separated list, order and repetitions kept, blanks dropped; brackets and quotes are allowed."""
    value = unquote(text.strip())
    if (value[:1], value[-1:]) == ("[", "]"):
        value = value[1:-1]
    return tuple(item for part in value.split(",") if (item := unquote(part.strip())))


def positive(value: Any) -> int | None:
    """An integer above zero; a plain yes is one; None for everything else."""
    if value is True:
        return 1
    return value if isinstance(value, int) and value > 0 else None


def seconds(text: str) -> float | None:
    found = _DURATION.fullmatch(unquote(text.strip()))
    return float(found[1]) * _SECONDS[found[2]] if found else None


def quote(text: str) -> str:
    """A text so that the reader gives it back: quoted where the normaliser would change it, ``%`` doubled."""
    plain = text if normalize(text, "/home") == text and text else f'"{text}"'
    return plain.replace("%", "%%")
