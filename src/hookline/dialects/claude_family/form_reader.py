"""The answer of a hook, read by the same forms that are written to its agent (``reply_table``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.event import Event
from hookline.core.result import Context, Effect, HookError, Reply, RunResult
from hookline.dialects.claude_family.payload import as_text, read_object
from hookline.dialects.claude_family.reply_reader import refuse
from hookline.dialects.claude_family.reply_table import CHANGED, Form, Replies


def read_by_forms(table: Replies, event: Event, raw: RunResult) -> Reply | HookError:
    """Exit code 2 refuses where the agent reads it so; any other failure decides nothing."""
    name, stderr = event.kind.name, raw.stderr.strip()
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if isinstance(raw.value, Reply):
        return raw.value
    if raw.exit_code == 2 and table.reads_exit_2 and name in table.deny:
        return refuse(event, stderr or "Blocked by hook")
    answer = dict(raw.value) if isinstance(raw.value, dict) else read_object(raw.stdout)
    if answer is not None and (table.reads_exit_2 is False or not raw.failed):
        return _reply(table, event, answer)
    if raw.failed:
        return HookError(error=raw.failure_text(stderr))
    text = raw.stdout.strip()
    if text.startswith("{"):
        return HookError(error="its output starts like a JSON object but is not valid JSON")
    return Reply(context=(Context(text=text),)) if text and isinstance(table.context.get(name), str) else Reply()


def _reply(table: Replies, event: Event, answer: Mapping[str, Any]) -> Reply:
    name = event.kind.name
    effect, reason = _effect(table, name, answer)
    changed = _found(table.rewrite.get(name), answer)
    value = (changed or {}).get("{value}", (changed or {}).get("{text}"))
    context = as_text((_found(table.context.get(name), answer) or {}).get("{context}"))
    message = as_text((_found(table.message, answer) or {}).get("{message}"))
    return Reply(
        effect=effect, reason=reason, data={} if value is None else {CHANGED.get(name, "tool_input"): value},
        context=(Context(text=context),) if context else (), messages=(message,) if message else (),
    )  # fmt: skip


def _effect(table: Replies, name: str, answer: Mapping[str, Any]) -> tuple[Effect | None, str]:
    effects: tuple[tuple[Effect, Mapping[str, Form]], ...] = (
        ("deny", table.deny), ("deny", table.read), ("ask", table.ask), ("allow", table.allow),
    )  # fmt: skip
    for effect, forms in effects:
        found = _found(forms.get(name), answer)
        if found is not None:
            return effect, as_text(found.get("{reason}")) or ("Blocked by hook" if effect == "deny" else "")
    return None, ""


def _found(form: Form | None, answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """What stands in the places of a form; None if the answer is not of this form."""
    if form is None or isinstance(form, str):
        return None
    found: dict[str, Any] = {}
    return found if _fits(form, answer, found) and (found or _constant(form)) else None


def _fits(form: Mapping[str, Any], answer: Mapping[str, Any], found: dict[str, Any]) -> bool:
    for key, wanted in form.items():
        given = answer.get(key)
        if isinstance(wanted, Mapping):
            if not isinstance(given, Mapping) or not _fits(wanted, given, found):
                return False
        elif isinstance(wanted, str) and wanted.startswith("{"):
            if given is not None and wanted != "{event}":
                found.setdefault(wanted, given)
        elif given != wanted:
            return False
    return True


def _constant(form: Mapping[str, Any]) -> bool:
    return any(not (isinstance(value, str) and value.startswith("{")) for value in form.values())
