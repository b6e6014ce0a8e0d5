"""Hooks as a ``.claude/settings.json``, and what such a file cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookline.core.event import EVENTS as ROWS
from hookline.core.hook import Command, HookSpec, Http, Pattern, Prompt
from hookline.dialects.base import Rendered
from hookline.dialects.claude import EVENTS
from hookline.dialects.claude.config import KEPT, PROMPT_EVENTS, SWITCH, default_timeout
from hookline.dialects.claude_family.matcher import claude_text
from hookline.dialects.claude_family.render import Groups, Losses, amount, command_text


def render(specs: Sequence[HookSpec]) -> Rendered:
    losses, groups = Losses("claude", kin=("lazy",)), Groups()
    off = bool(specs) and not any(spec.enabled for spec in specs)
    for spec in specs:
        event = spec.native_event if spec.dialect == "claude" else EVENTS.get(spec.event)
        if event is None:
            losses.leave_out(spec, f"the event {spec.event}")
        elif not spec.enabled and not off:
            losses.leave_out(spec, "a single hook that is turned off")
        elif not _unwritable(spec, losses) and (hook := _hook(spec, losses)) is not None:
            groups.add(event, _matcher(spec), hook)
    return groups.text(losses, inside={}, beside={SWITCH: True} if off else {})


def _unwritable(spec: HookSpec, losses: Losses) -> bool:
    row = ROWS.get(spec.event)
    if row is not None and row.subject is None and spec.matcher.subject != Pattern():
        losses.leave_out(spec, f"a matcher on {spec.event}")
        return True
    # Its own tests are said by ``if`` and the matcher.
    return losses.unwritable(spec, said=spec.matcher.fields if spec.dialect == "claude" else ())


def _hook(spec: HookSpec, losses: Losses) -> dict[str, Any] | None:
    hook = _action(spec)
    if hook is None or (isinstance(spec.action, Prompt) and spec.event in EVENTS and spec.event not in PROMPT_EVENTS):
        losses.leave_out(spec, f"a hook of kind {type(spec.action).__name__} on {spec.event}")
        return None
    if spec.dialect == "claude":
        hook |= {key: spec.extra[key] for key in KEPT if key in spec.extra}
    if spec.mode == "background" and hook.get("asyncRewake") is not True:
        hook["async"] = True
    if spec.timeout is not None and spec.timeout != default_timeout(spec.action, spec.event):
        hook["timeout"] = amount(spec.timeout, 1)
    losses.policy(spec, modes=("sync", "background"))
    if isinstance(spec.action, Http) and spec.action.allow_insecure:
        losses.weaken(spec, "plain http to another machine")
    if spec.after_deny == "stop" and spec.flow == "chain":
        losses.weaken(spec, "stopping the next hooks after a deny")
    return hook


def _action(spec: HookSpec) -> dict[str, Any] | None:
    match spec.action:
        case Command(form="argv", argv=(program, *args)):
            return {"type": "command", "command": program, "args": args}
        case Command() as action:
            text = command_text(action)
            return None if text is None else {"type": "command", "command": text}
        case Prompt(text=text, model=model):
            return {"type": "prompt", "prompt": text, **({"model": model} if model else {})}
        case Http(url=url, headers=headers):
            return {"type": "http", "url": url, **({"headers": dict(headers)} if headers else {})}
        case _:
            return None


def _matcher(spec: HookSpec) -> str | None:
    if spec.dialect == "claude":
        return spec.extra.get("matcher")
    return claude_text(spec.matcher.subject) or None
