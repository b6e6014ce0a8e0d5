"""What an agent sends on standard input: one JSON object, which may name its event."""

from __future__ import annotations

import json
from typing import Any

from hookline.core.errors import DataError, UsageError

#: NaN and Infinity are no JSON, but some agents write them; for a hook they are null.
_DECODER = json.JSONDecoder(parse_constant=lambda _name: None)


def payload_of(stdin: bytes) -> dict[str, Any]:
    """Raises ``DataError`` with what is wrong and where."""
    try:
        value = _read(stdin.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DataError(f"standard input is not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"standard input is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise DataError("standard input has a number that is too long") from None
    except RecursionError:
        raise DataError("standard input is nested too deeply") from None
    if not isinstance(value, dict):
        raise DataError("standard input must be a JSON object")
    return value


def event_name(payload: dict[str, Any]) -> str:
    for field in ("hook_event_name", "event_type", "event", "hookEventName"):
        if isinstance(payload.get(field), str):
            return str(payload[field])
    raise UsageError("the payload does not name its event; add --event NAME")


def _read(text: str) -> Any:
    """What the decoder makes of it, without its own look for blanks: agents send none before and after."""
    if text.startswith("{"):
        value, end = _DECODER.raw_decode(text)
        if end == len(text):
            return value
    return _DECODER.decode(text)
