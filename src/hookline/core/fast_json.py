"""``loads`` and ``dumps`` of the standard library, by its C functions alone.

The package around them compiles six expressions when it is imported, and with ``re`` and ``enum`` that was an eighth of a
cold call.
"""

from __future__ import annotations

from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner
from collections.abc import Callable
from types import SimpleNamespace

from hookline.core.typed import Any, cast

_BLANKS = " \t\n\r"
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def reader(
    constant: Callable[[str], Any] = _CONSTANTS.__getitem__,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Callable[[str], Any]:
    """A function that reads one JSON text. ``constant`` says what NaN and the infinities are, ``pairs`` makes objects."""
    hooks = {"parse_constant": constant, "object_pairs_hook": pairs}
    context = SimpleNamespace(strict=True, object_hook=None, parse_float=float, parse_int=int, **hooks)
    scan = make_scanner(cast("make_scanner", context))

    def read(text: str) -> Any:
        try:
            value, end = scan(text, len(text) - len(text.lstrip(_BLANKS)))
        except (StopIteration, SystemError):  # Python 3.11 raises its error only where the package is imported
            value, end = None, -1
        if end == len(text) or (end >= 0 and not text[end:].strip(_BLANKS)):
            return value
        from json import JSONDecoder  # noqa: PLC0415  it says what is wrong, and where

        return JSONDecoder(parse_constant=constant, object_pairs_hook=pairs).decode(text)

    return read


loads = reader()


def writer(
    default: Callable[[Any], Any] | None = None,
    *,
    ensure_ascii: bool = True,
    compact: bool = False,
    sort_keys: bool = False,
    markers: dict[int, Any] | None = None,
) -> Callable[[Any], str]:
    """A function that writes a value as JSON. Without ``markers`` a cycle ends in a RecursionError, as deep nesting does."""
    letters = encode_basestring_ascii if ensure_ascii else encode_basestring
    colon, comma = (":", ",") if compact else (": ", ", ")
    encode = make_encoder(markers, default or _refuse, letters, None, colon, comma, sort_keys, False, True)
    return lambda value: "".join(encode(value, 0))


def dumps(
    value: Any,
    *,
    default: Callable[[Any], Any] | None = None,
    ensure_ascii: bool = True,
    compact: bool = False,
) -> str:
    return writer(default, ensure_ascii=ensure_ascii, compact=compact, markers={})(value)


def _refuse(value: Any) -> Any:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
