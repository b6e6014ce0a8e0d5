"""An agent's answers as tables: for each part of a decision, the JSON that the agent obeys.

A value ``{reason}``, ``{event}``, ``{value}``, ``{text}``, ``{context}`` or ``{message}`` in a form is replaced by the very
thing. What no table has the agent cannot do: ``capabilities.feasible`` makes it a refusal that says so, or a loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hookline.core._dataclass import dataclass, empty, field, replace
from hookline.core.agents import AGENTS
from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.dialects.base import Answer
from hookline.dialects.claude_family.capabilities import (
    Capabilities,
    feasible,
    if_granted,
    not_empty,
    only_adds,
    unconditionally,
)
from hookline.dialects.claude_family.reply import output_as_text, to_json

#: A JSON object, or a whole text (``"{context}"``).
Form = Mapping[str, Any] | str

#: Exit code 2, with the reason on stderr.
EXIT_2: Final = "exit 2"
#: The part of an event that an agent may let a hook change; the tool's input elsewhere.
CHANGED: Mapping[str, str] = {"PostToolUse": "tool_output", "UserPromptSubmit": "prompt"}


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "{event}", **fields}}


#: Claude Code's forms.
PERMISSION_DENY = specific(permissionDecision="deny", permissionDecisionReason="{reason}")
PERMISSION_ASK = specific(permissionDecision="ask", permissionDecisionReason="{reason}")
PERMISSION_ALLOW = specific(permissionDecision="allow", permissionDecisionReason="{reason}")
UPDATED_INPUT = specific(updatedInput="{value}")
BLOCK = {"decision": "block", "reason": "{reason}"}
CONTEXT = specific(additionalContext="{context}")
REQUEST_DENY = specific(decision={"behavior": "deny", "message": "{reason}"})
REQUEST_ALLOW = specific(decision={"behavior": "allow"})
MESSAGE = {"systemMessage": "{message}"}
END = {"continue": False, "stopReason": "{end}"}


def on(events: str, form: Form) -> dict[str, Form]:
    """The same form on several events."""
    return dict.fromkeys(events.split(), form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What one agent obeys, by canonical event."""

    agent: str
    deny: Mapping[str, Form] = field(default_factory=empty)
    ask: Mapping[str, Form] = field(default_factory=empty)
    allow: Mapping[str, Form] = field(default_factory=empty)
    #: Another input before a tool, another output after one, another prompt: ``{value}``, or ``{text}`` of it.
    rewrite: Mapping[str, Form] = field(default_factory=empty)
    #: It lays the new input over the old one.
    merges: bool = False
    #: Another output is given in the place of a reason, so it must be a text that is not empty.
    output_as_reason: bool = False
    context: Mapping[str, Form] = field(default_factory=empty)
    #: It reads text for the model together with a refusal.
    context_with_deny: bool = False
    message: Form | None = None
    #: Where nobody reads a message.
    quiet: frozenset[str] = frozenset()
    #: Native events whose answer the agent does not read, although it reads that of another one of the same meaning.
    deaf: frozenset[str] = frozenset()
    #: Of several native events of one meaning, the only ones with which a person can be asked, and the input changed.
    asked_on: frozenset[str] = frozenset()
    rewritten_on: frozenset[str] = frozenset()
    #: What is said where nothing is to be said, to an agent that takes silence for a decision.
    silence: Mapping[str, Form] = field(default_factory=empty)
    #: A further form of a refusal that its hooks may use.
    read: Mapping[str, Form] = field(default_factory=empty)
    #: Exit code 2 is a refusal there; otherwise only its JSON counts, whatever the exit code.
    reads_exit_2: bool = True
    #: A hook ends the agent for good, at the events at which it could go on.
    end: Form | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            agent=self.agent, denies=frozenset(self.deny), asks=frozenset(self.ask), grants=frozenset(self.allow),
            context=frozenset(self.context), rewrites={name: self._rewritten(name) for name in self.rewrite},
        )  # fmt: skip

    def _rewritten(self, name: str) -> tuple[str, Callable[[Event, Decision], bool]]:
        if name == "PermissionRequest":
            return "tool_input", if_granted
        if name in CHANGED:
            return CHANGED[name], not_empty if self.output_as_reason else unconditionally
        return "tool_input", only_adds if self.merges else unconditionally


def replies(agent: str, **tables: Any) -> Replies:
    """The tables of an agent; how it is told a refusal stands in its row, where that is no exit code 2."""
    row = AGENTS[agent]
    denied = {name: row.blocks.get(name, EXIT_2) if form is None else form for name, form in tables.pop("deny").items()}
    return Replies(agent=row.title, deny=denied, **tables)


def plugin_replies(
    agent: str, *, deny: str = "PreToolUse UserPromptSubmit", rewrite: str = "", context: str = ""
) -> Replies:
    """Orders for a plugin of ours: ``deny`` refuses, ``args``, ``output`` and ``prompt`` are put in place, ``context`` is added."""
    places = {"tool_input": "args", "tool_output": "output", "prompt": "prompt"}
    changes = {name: {places[CHANGED.get(name, "tool_input")]: "{value}"} for name in rewrite.split()}
    return Replies(
        agent=AGENTS[agent].title, deny=on(deny, {"deny": "{reason}"}), rewrite=changes, context_with_deny=True,
        context=on(context, {"context": "{context}"}), message={"message": "{message}"},
    )  # fmt: skip


def write(table: Replies, event: Event, decision: Decision, native_name: str) -> Answer:
    """Nothing at all is the neutral answer."""
    if decision.silent:
        return _answer([table.silence[event.kind.name]], {}, ()) if event.kind.name in table.silence else Answer()
    table = _for_event(table, event.native_name)
    name, possible = event.kind.name, feasible(table.capabilities, event, decision)
    lost, parts = possible.lost, list[Form]()
    denied = table.deny.get(name) if possible.effect == "deny" else None
    text = decision.model_text
    readable = name in table.context and (denied is None or (table.context_with_deny and denied != EXIT_2))
    if text and not readable:
        lost = (*lost, "context")
    if denied == EXIT_2:
        return Answer(stderr=possible.reason, exit_code=2, lost=lost)
    if denied is not None:
        parts.append(denied)
    elif possible.effect in {"ask", "allow"}:
        parts.append((table.ask if possible.effect == "ask" else table.allow)[name])
    if possible.field:
        parts.append(table.rewrite[name])
    if event.kind.continues and decision.attributes.get("continue") is False and table.end is not None:
        parts.append(table.end)
    if text and readable:
        parts.append(table.context[name])
    if (message := decision.message_text) and table.message is not None and name not in table.quiet:
        parts.append(table.message)
    if not parts and name in table.silence:
        parts.append(table.silence[name])
    changed = decision.data.get(possible.field) if possible.field else None
    values = {
        "{reason}": possible.reason, "{end}": decision.reason or "Stopped by hook", "{event}": native_name or name,
        "{value}": changed, "{text}": output_as_text(changed), "{context}": text, "{message}": message,
    }  # fmt: skip
    return _answer(parts, values, lost)


def _for_event(table: Replies, native: str) -> Replies:
    """What is read at this one of several events of the same meaning."""
    if native in table.deaf:
        return Replies(agent=table.agent)
    if table.asked_on and native not in table.asked_on:
        table = replace(table, ask={})
    return replace(table, rewrite={}) if table.rewritten_on and native not in table.rewritten_on else table


def _answer(parts: list[Form], values: Mapping[str, Any], lost: tuple[str, ...]) -> Answer:
    texts = [str(values.get(form, form)) for form in parts if isinstance(form, str)]
    objects = [form for form in parts if not isinstance(form, str)]
    if not objects:
        return Answer(stdout="\n".join(texts), lost=lost)
    whole: dict[str, Any] = {}
    for form in objects:
        _merge(whole, _filled(form, values))
    return Answer(stdout=to_json(whole), lost=(*lost, "context") if texts else lost)


def _filled(form: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(form, Mapping):
        return {key: _filled(value, values) for key, value in form.items()}
    if isinstance(form, list):
        return [_filled(value, values) for value in form]
    return values.get(form, form) if isinstance(form, str) else form


def _merge(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, dict) and isinstance(whole.get(key), dict) and key == "hookSpecificOutput":
            _merge(whole[key], value)
        else:
            whole[key] = value
