"""The conversation a hook on ``assistant_message`` reads: a whole ``.lec`` text, front matter included."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hookline.dialects.lectic.variables import NOBODY, interlocutor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec


def conversation(spec: HookSpec, event: Event) -> str:
    """As the host gives it; for an agent without such a file it is written from the history."""
    given = event.data.get("conversation")
    if isinstance(given, str):
        return given
    told = list(_messages(event.data))
    if not told:
        return ""
    speaker = interlocutor(spec, event) or NOBODY
    model = event.data.get("model")
    header = ["---", "interlocutor:", f"  name: {_quoted(speaker)}", '  prompt: ""']
    header += [f"  model: {_quoted(model)}"] if isinstance(model, str) and model else []
    blocks = [_block(_block_name(speaker), text) if role == "assistant" else text for role, text in told]
    return "\n\n".join(["\n".join([*header, "---"]), *blocks])


def _messages(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The history, and this reply if the history does not end with it."""
    last: tuple[str, str] | None = None
    history = data.get("history")
    for item in history if isinstance(history, list | tuple) else ():
        if isinstance(item, Mapping) and isinstance(item.get("text"), str):
            last = ("assistant" if item.get("role") == "assistant" else "user", item["text"].strip())
            yield last
    message = data.get("message")
    if isinstance(message, str) and message.strip() and last != ("assistant", message.strip()):
        yield "assistant", message.strip()


def _block(name: str, text: str) -> str:
    """Fenced with more colons than any line of the text begins with."""
    longest = max((len(run) for run in re.findall(r"(?m)^\s*(:{3,})", text)), default=2)
    fence = ":" * (longest + 1)
    return f"{fence}{name}\n\n{text}\n\n{fence}"


def _block_name(speaker: str) -> str:
    return re.sub(r"[^\w-]", "_", speaker)


def _quoted(text: str) -> str:
    """A JSON string is a YAML string."""
    return json.dumps(text, ensure_ascii=False)
