"""Hooks as the ``[hooks]`` tables of a ``config.toml``, and what such tables cannot say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hookline.core.hook import Command, HookSpec
from hookline.dialects.base import Rendered
from hookline.dialects.claude_family.matcher import claude_pattern, claude_text
from hookline.dialects.claude_family.render import Losses, command_text
from hookline.dialects.lazy.config import TIMEOUT
from hookline.dialects.lazy.events import EVENTS, MATCHERS, native_names


def render(specs: Sequence[HookSpec]) -> Rendered:
    """Scripts stand before external commands in a table, whatever order they had elsewhere."""
    losses, tables = Losses("lazy", kin=("claude",)), dict[str, dict[str, list[Any]]]()
    for spec in specs:
        event = spec.native_event if spec.dialect == "lazy" else native_names().get(spec.event)
        if event is None:
            losses.leave_out(spec, f"the event {spec.event}")
        elif not spec.enabled:
            losses.leave_out(spec, "a hook that is turned off")
        elif spec.event == EVENTS[event] and not losses.unwritable(spec):
            _add(tables.setdefault(event, {"scripts": [], "external": []}), event, spec, losses)
    return Rendered(text=_text(tables), losses=losses.all())


def _add(table: dict[str, list[Any]], event: str, spec: HookSpec, losses: Losses) -> None:
    own = spec.dialect == "lazy"
    text = command_text(spec.action) if isinstance(spec.action, Command) else None
    if own and "allow_patterns" in spec.extra:
        table["allow_patterns"] = spec.extra["allow_patterns"]
    if own and not (isinstance(spec.action, Command) and spec.action.form == "shell"):
        if table["external"]:
            losses.weaken(spec, "running after an external command")
        table["scripts"].append(spec.name)
    elif text is None:
        losses.leave_out(spec, f"a hook of kind {type(spec.action).__name__}")
        return
    else:
        matcher = _matcher(event, spec)
        table["external"].append(text if matcher is None else {"command": text, "matcher": matcher})
    _policy(spec, losses)


def _matcher(event: str, spec: HookSpec) -> str | None:
    if spec.dialect == "lazy":
        return spec.extra.get("matcher")
    if spec.matcher.subject == claude_pattern(MATCHERS.get(event)):
        return None
    return claude_text(spec.matcher.subject)


def _policy(spec: HookSpec, losses: Losses) -> None:
    losses.policy(spec)
    if spec.timeout is not None and spec.timeout != TIMEOUT:
        losses.weaken(spec, f"its timeout ({spec.timeout:g} s)")
    if spec.after_deny == "stop" and spec.flow == "chain":
        losses.weaken(spec, "stopping the next hooks after a deny")
    if spec.event == "PostToolUse" and spec.dialect != "lazy":
        losses.weaken(spec, "running only after a successful call")


def _text(tables: dict[str, dict[str, list[Any]]]) -> str:
    parts = [f"[hooks.{event}]\n" + "".join(_lines(table)) for event, table in tables.items()]
    return "\n".join(parts)


def _lines(table: dict[str, list[Any]]) -> list[str]:
    return [f"{key} = {_value(value)}\n" for key, value in table.items() if value or key == "allow_patterns"]


def _value(value: Any) -> str:
    """TOML's words for what these tables hold; its strings are JSON's, except for one character."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_value(one)}' for key, one in value.items())}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
