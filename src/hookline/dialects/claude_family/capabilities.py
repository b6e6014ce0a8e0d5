"""What of a decision each agent can carry out. What it cannot do exactly becomes a deny that says so (law 11).

``hookline capabilities`` and ``hookline explain`` say one thing after the other in an agent's words and look what is
left of it, so they always show what stands here.
"""

from __future__ import annotations

from types import MappingProxyType

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.typed import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.core.event import Event
    from hookline.core.result import Decision

    Test = Callable[[Event, Decision], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one agent can do. The sets are of canonical events."""

    agent: str
    #: Where it obeys a deny; None: wherever the event can be denied at all.
    denies: frozenset[str] | None = None
    asks: frozenset[str] = frozenset()
    #: Where a hook's allow replaces the question to the person.
    grants: frozenset[str] = frozenset()
    #: Event -> the only field that can be changed there, and whether this change can be made.
    rewrites: Mapping[str, tuple[str, Test]] = field(default_factory=empty)
    #: Where text reaches the model.
    context: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasible:
    """What is left of a decision: the effect, its reason, the field to rewrite ("" for none), and what is lost."""

    effect: Literal["deny", "ask", "allow", "neutral"]
    reason: str = ""
    field: str = ""
    lost: tuple[str, ...] = ()


def feasible(can: Capabilities, event: Event, decision: Decision) -> Feasible:
    name, fields = event.kind.name, decision.changed_fields(event)
    rewritable, possible = can.rewrites.get(name, ("", _never))
    exact = not fields or (fields == (rewritable,) and possible(event, decision))
    rewrite = fields[0] if fields and exact else ""
    if decision.effect == "deny" or decision.aborted is not None:
        return _refuse(can, event, decision.refusal_text, "deny", lost=(), rewrite=rewrite)
    if decision.effect == "ask" and name not in can.asks:
        if name == "PermissionRequest":
            return Feasible(effect="neutral")
        question = decision.reason or "a hook wants the person to be asked"
        reason = f"{question} ({can.agent} cannot ask here, so this is refused)"
        return _refuse(can, event, reason, "ask", lost=("ask",), rewrite=rewrite)
    if not exact:
        change = f"change of {', '.join(fields)}"
        reason = f"a hook changed {', '.join(fields)}, which {can.agent} cannot carry out exactly, so this is refused"
        return _refuse(can, event, reason, change, lost=(change,))
    if decision.effect == "ask":
        return Feasible(effect="ask", reason=decision.reason, field=rewrite)
    if decision.granted and name in can.grants:
        return Feasible(effect="allow", reason=decision.reason, field=rewrite)
    return Feasible(effect="neutral", field=rewrite)


def _refuse(
    can: Capabilities, event: Event, reason: str, what: str, *, lost: tuple[str, ...], rewrite: str = ""
) -> Feasible:
    """Where nothing can be refused any more, a change is still made."""
    if event.kind.deniable if can.denies is None else event.kind.name in can.denies:
        return Feasible(effect="deny", reason=reason, lost=lost)
    return Feasible(effect="neutral", field=rewrite, lost=(what,))


def unconditionally(_event: Event, _decision: Decision) -> bool:
    return True


def _never(_event: Event, _decision: Decision) -> bool:
    return False


def if_granted(_event: Event, decision: Decision) -> bool:
    """A permission's input can only be changed together with granting it."""
    return decision.granted


def not_empty(_event: Event, decision: Decision) -> bool:
    """The agent puts the new output in the place of a reason."""
    return bool(str(decision.data.get("tool_output") or "").strip())


def only_adds(event: Event, decision: Decision) -> bool:
    """The agent lays the new input over the old one, key by key: nothing can be removed."""
    before: Any = event.data.get("tool_input", {})
    after: Any = decision.data.get("tool_input")
    return isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys()


_DECISIVE = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop"})
_TOOL_OR_PERMISSION = frozenset({"PreToolUse", "PermissionRequest"})

#: By dialect; those of an agent whose answers are tables follow from them (``reply_table``).
CAPABILITIES: Mapping[str, Capabilities] = MappingProxyType(
    {
        "claude": Capabilities(
            agent="Claude Code", asks=frozenset({"PreToolUse"}), grants=_TOOL_OR_PERMISSION,
            rewrites={
                "PreToolUse": ("tool_input", unconditionally), "PermissionRequest": ("tool_input", if_granted),
                "PostToolUse": ("tool_output", unconditionally),
            },
            context=frozenset(
                {
                    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit",
                    "UserPromptExpansion", "SessionStart", "Setup", "SubagentStart", "Stop", "SubagentStop",
                }
            ),
        ),
        # An ask is never passed on to Gemini: without a terminal it then ends without any message.
        "gemini": Capabilities(
            agent="Gemini CLI", denies=frozenset({"PreToolUse", "UserPromptSubmit", "Stop", "PreModelRequest"}),
            rewrites={"PreToolUse": ("tool_input", only_adds), "PostToolUse": ("tool_output", unconditionally)},
            context=frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"}),
        ),
        "letta": Capabilities(agent="Letta Code", rewrites={"PreToolUse": ("tool_input", only_adds)}),
        "copilot": Capabilities(
            agent="Copilot CLI", denies=_DECISIVE, asks=frozenset({"PreToolUse"}), grants=_TOOL_OR_PERMISSION,
            rewrites={
                "PreToolUse": ("tool_input", unconditionally), "PostToolUse": ("tool_output", unconditionally),
                "UserPromptSubmit": ("prompt", lambda _event, decision: isinstance(decision.data.get("prompt"), str)),
            },
            context=frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"}),
        ),
    }
)  # fmt: skip
