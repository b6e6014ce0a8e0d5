"""Find the answer of a prompt hook, ``{"ok": bool, "reason": str}``, in a model's text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "title": "answer",
    "description": "The decision of the hook.",
    "properties": {
        "ok": {"type": "boolean", "description": "true allows the action, false prevents it"},
        "reason": {"type": "string", "description": "why; required when ok is false"},
    },
    "required": ["ok"],
}

#: Characters that are searched: the answer is near the beginning.
_LONGEST = 50_000


class VerdictError(ValueError):
    """No usable answer in what the model said."""


def read_verdict(text: str) -> Mapping[str, Any]:
    """The first object in the text that has ``ok``. Prose, fences, arrays and nested objects may stand around
    it, and braces may stand in the reason, because every candidate is decoded as JSON, not cut at a brace."""
    objects = list(_objects(text[:_LONGEST]))
    chosen = next((found for found in objects if "ok" in found), objects[0] if objects else None)
    if chosen is None:
        msg = f"could not read the model's answer as JSON: {text.strip()[:200] or '(empty)'}"
        raise VerdictError(msg)
    return check_verdict(chosen)


def check_verdict(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """``ok`` must be a boolean: a value that needs interpretation is not a yes."""
    if not isinstance(answer.get("ok"), bool):
        kind = _kind(answer["ok"]) if "ok" in answer else "nothing"
        msg = f'invalid answer of the model: "ok" must be a boolean, got {kind}'
        raise VerdictError(msg)
    reason = answer.get("reason")
    if reason is not None and not isinstance(reason, str):
        return {**answer, "reason": json.dumps(reason, ensure_ascii=False)}
    return answer


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            found, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(found, dict):
                yield found
        place = text.find("{", end)


def _kind(value: Any) -> str:
    kinds = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)
