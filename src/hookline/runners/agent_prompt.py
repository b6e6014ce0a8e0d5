"""The prompt of a hook agent: its templates filled in, and after it the data that they did not use.

``{{hook_input_text}}``, ``{{hook_last_display}}`` and the like, ``{{chat}}`` and ``{{chat:last=4}}`` are filled
with data, and data are fenced. ``{{hook_name}}`` and ``{{hook_phase}}`` are our own words and are not fenced.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.runners.prompt_fence import Fence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.runners.snapshot import ChatTurn, Snapshot

_TEMPLATE = re.compile(r"\{\{\s*(?P<name>\w+)\s*(?::(?P<options>[^{}]*))?\}\}")
_OURS = frozenset({"hook_name", "hook_phase"})

_DEFAULT_PROMPT = "Look at the conversation and write down, in a few lines, what would help with the next answer."

#: How much of the conversation an agent gets whose prompt does not select a part of it.
_LATEST_TURNS = 20
_LONGEST_CHAT = 40_000
_LONGEST_FACTS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Briefing:
    system: str
    user: str


def build_prompt(snapshot: Snapshot, *, steps: int, fence: Fence) -> _Briefing:
    """One pass over the prompt: filled-in text is never searched for templates."""
    used: set[str] = set()

    def fill(found: re.Match[str]) -> str:
        name = found["name"]
        if name == "chat":
            used.add(name)
            return fence.around(_shown(_selected(snapshot.chat, found["options"] or "")))
        if name not in snapshot.variables:
            return "" if name.startswith("hook_") else found[0]
        used.add(name)
        value = snapshot.variables[name]
        return value if name in _OURS else fence.around(value)

    prompt = _TEMPLATE.sub(fill, snapshot.prompt or _DEFAULT_PROMPT)
    rules = (
        "You are a small agent that runs beside a conversation between a person and an assistant. You do not talk to "
        "the person: your last message is handed on as it is, so write only what should be handed on. "
        f"You have {steps} step{'s' if steps != 1 else ''}; tool calls of the last step are carried out, but you will "
        "not see what came of them."
    )
    return _Briefing(system=f"{prompt}\n\n{rules}\n{fence.law}", user=_beside(snapshot, used, steps, fence))


def _beside(snapshot: Snapshot, used: set[str], steps: int, fence: Fence) -> str:
    parts = [f"Turn 1 of {steps}."]
    told = {
        "The message of the person": ("hook_input_text", snapshot.variables.get("hook_input_text", "")),
        "The answer of the assistant": ("hook_last_display", snapshot.variables.get("hook_last_display", "")),
        "The conversation so far": ("chat", _shown(snapshot.chat[-_LATEST_TURNS:])),
        "Further context": ("contexts", _json(snapshot.contexts)),
        "The event": ("facts", _json(snapshot.facts)),
    }
    for title, (name, text) in told.items():
        if text and name not in used:
            parts.append(f"{title}:\n{fence.around(text)}")
    return "\n\n".join(parts)


def _selected(chat: Sequence[ChatTurn], options: str) -> Sequence[ChatTurn]:
    """``last=N`` and ``role=user``, separated by commas or semicolons; other words have no meaning here."""
    wanted = dict(part.split("=", 1) for part in re.split(r"[,;]", options.replace(" ", "")) if "=" in part)
    chosen = [turn for turn in chat if wanted.get("role", turn.role) == turn.role]
    last = wanted.get("last", "")
    return (chosen[-int(last) :] if int(last) else []) if last.isdecimal() and last.isascii() else chosen


def _shown(chat: Sequence[ChatTurn]) -> str:
    text = "\n".join(f"{turn.role}: {turn.text}" for turn in chat)
    return text if len(text) <= _LONGEST_CHAT else "…" + text[-_LONGEST_CHAT:]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)[:_LONGEST_FACTS] if value else ""
