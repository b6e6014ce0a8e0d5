"""JSON for a process that stays: what ``rows.in_json`` writes, without the spaces, in a quarter of the time.

orjson (the extra ``daemon``) is used where it is there and where it writes the same. Whatever it has no form for, or
another one (text beyond ASCII, huge numbers, keys that are no texts), is written by the standard library as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.record.rows import in_json

if TYPE_CHECKING:
    from collections.abc import Callable


def quickest() -> Callable[[Any], str]:
    """The way to write a value as JSON, in ASCII. Raises what ``in_json`` raises."""
    try:
        from orjson import OPT_PASSTHROUGH_DATACLASS, OPT_PASSTHROUGH_DATETIME, dumps  # noqa: PLC0415  may not be there
    except ImportError:
        return in_json
    as_we_do = OPT_PASSTHROUGH_DATACLASS | OPT_PASSTHROUGH_DATETIME

    def written(value: Any) -> str:
        try:
            text = dumps(value, None, as_we_do)
        except TypeError:
            return in_json(value)
        return str(text, "ascii") if text.isascii() else in_json(value)

    return written


def quickest_line() -> Callable[[Any], bytes]:
    """The same as a line of a file: bytes that end with the only line break among them."""
    try:
        from orjson import OPT_APPEND_NEWLINE, dumps  # noqa: PLC0415  may not be there
    except ImportError:
        return _line

    def line(value: Any) -> bytes:
        try:
            return dumps(value, None, OPT_APPEND_NEWLINE)
        except TypeError:
            return _line(value)

    return line


def _line(value: Any) -> bytes:
    return f"{in_json(value)}\n".encode()
