"""The object a native hook answers with, read strictly: an answer we would misunderstand is a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from hookline.core._dataclass import EMPTY
from hookline.core.hook import Output
from hookline.core.result import Context, Effect, Placement, Reply

_EFFECTS = get_args(Effect)
_PLACEMENTS = get_args(Placement)


class NotAnAnswerError(ValueError):
    """What came back is JSON, but says something that an answer cannot say."""


def parse_reply(answer: Any, output: Output) -> Reply:
    """All fields are optional, unknown ones are left alone, and a known one of the wrong type spoils the answer."""
    if not isinstance(answer, dict):
        raise NotAnAnswerError("the answer is JSON, but not an object")
    effect = answer.get("effect")
    if effect is not None and effect not in _EFFECTS:
        raise NotAnAnswerError(f"effect must be one of {', '.join(_EFFECTS)}; got {str(effect)[:40]!r}")
    return Reply(
        effect=effect,
        reason=_text(answer, "reason"),
        data=_table(answer, "data"),
        context=_contexts(answer.get("context"), output),
        messages=_messages(answer),
        attributes=_table(answer, "attributes"),
    )


def _text(answer: Mapping[str, Any], key: str) -> str:
    value = answer.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NotAnAnswerError(f"{key} must be text")
    return value


def _table(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = answer.get(key)
    if value is None:
        return EMPTY
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise NotAnAnswerError(f"{key} must be an object")
    return value


def _messages(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """``message`` is one, ``messages`` is several; each is text, or an object with a text as ``fire`` prints it."""
    one = _text(answer, "message")
    several = answer.get("messages") or []
    if not isinstance(several, list):
        raise NotAnAnswerError("messages must be a list")
    texts = [item.get("text") if isinstance(item, dict) else item for item in several]
    if not all(isinstance(text, str) for text in texts):
        raise NotAnAnswerError("messages must be strings")
    return tuple(text for text in (one, *texts) if text)


def _contexts(given: Any, output: Output) -> tuple[Context, ...]:
    if given is None or given == "":
        return ()
    items = given if isinstance(given, list) else [given]
    return tuple(_context(item, output) for item in items)


def _context(item: Any, output: Output) -> Context:
    """A hook that speaks of context means it, also without ``inject``; label and prefix are the hook's own."""
    placement = "context" if output.inject == "none" else output.inject
    if isinstance(item, str):
        return Context(text=add_prefix(item, output.prefix), placement=placement, label=output.label)
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise NotAnAnswerError('context must be text, a list of texts, or {"text", "label", "attributes", "as"}')
    chosen = item.get("as", placement)
    if chosen not in _PLACEMENTS:
        raise NotAnAnswerError(f"placement must be one of {', '.join(_PLACEMENTS)}; got {str(chosen)[:40]!r}")
    return Context(
        text=add_prefix(item["text"], output.prefix),
        placement=chosen,
        label=_text(item, "label") or output.label,
        attributes=_attributes(item),
    )


def add_prefix(text: str, prefix: str) -> str:
    return prefix + ("" if not prefix or prefix.endswith("\n") else "\n") + text


def _attributes(item: Mapping[str, Any]) -> Mapping[str, str]:
    """Attributes end up as text in a transcript, so scalars are written out here, once."""
    table = _table(item, "attributes")
    if not all(isinstance(value, (str, int, float)) for value in table.values()):
        raise NotAnAnswerError("attributes of a context must be strings")
    return {
        key: ("true" if value else "false") if isinstance(value, bool) else str(value) for key, value in table.items()
    }
