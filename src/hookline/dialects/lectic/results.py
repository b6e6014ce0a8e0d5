"""What a tool gave back, in the JSON shapes that Lectic's hooks read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_KIB = 1024


def results_json(output: Any) -> str:
    """A list of ``{mimetype, content}``."""
    return compact(_results(output))


def error_json(error: Any) -> str:
    """``{type, message}``; a type that was not given is ``error``, as for everything unforeseen."""
    if isinstance(error, Mapping):
        message = error.get("message", "")
        return compact({"type": str(error.get("type") or "error"), "message": _as_text(message)})
    return compact({"type": "error", "message": "" if error is None else _as_text(error)})


def size_text(size: int) -> str:
    """``68 KiB``: one decimal below ten, none from ten on."""
    if size < _KIB:
        return f"{size} B"
    scaled, unit = (size / _KIB, "KiB") if size < _KIB * _KIB else (size / (_KIB * _KIB), "MiB")
    return f"{scaled:.1f} {unit}" if scaled < 10 else f"{scaled:.0f} {unit}"


def _results(output: Any) -> list[dict[str, Any]]:
    if output is None:
        return []
    if isinstance(output, str):
        return [_result("text/plain", output)]
    if isinstance(output, list | tuple) and all(isinstance(item, Mapping | str) for item in output):
        return [_one(item) for item in output]
    return [_result("application/json", compact(output))]


def _one(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return _result("text/plain", item)
    if "mimetype" in item:
        return {"mimetype": item["mimetype"], "content": item.get("content", "")}
    # The content blocks of other agents: {"type": "text", "text": …}.
    if isinstance(item.get("text"), str):
        return _result("text/plain", item["text"])
    return _result("application/json", compact(item))


def _result(mimetype: str, content: str) -> dict[str, Any]:
    return {"mimetype": mimetype, "content": content}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


def compact(value: Any) -> str:
    """JSON without spaces, in the characters as they are; what has no JSON is told as text."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(str(type(value)))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
