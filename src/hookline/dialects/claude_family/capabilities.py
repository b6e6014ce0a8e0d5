"""What of a decision an agent can carry out. What it cannot do exactly becomes a deny that says so (law 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hookline.core.event import Event
    from hookline.core.result import Decision

_Said = Literal["deny", "ask", "allow", "neutral"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Able:
    """What one agent can do. The sets are of canonical events."""

    agent: str
    denies: frozenset[str]
    asks: frozenset[str] = frozenset()
    #: Where a hook's allow spares the person a question.
    grants: frozenset[str] = frozenset()
    #: Event -> whether this change of these fields can be said; an event that is missing can say none.
    rewrites: Mapping[str, Callable[[Event, Decision], bool]]
    #: Event -> the only field that can be changed there.
    rewritable: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The effect to say, its reason, the field to rewrite ("" for none), and what is lost by it."""

    effect: _Said
    reason: str = ""
    field: str = ""
    lost: tuple[str, ...] = ()


def verdict(able: Able, event: Event, decision: Decision) -> Verdict:
    name = event.kind.name
    if decision.effect == "deny" or decision.aborted is not None:
        return _refused(able, event, decision.refusal_text, "deny", ())
    if decision.effect == "ask":
        if name in able.asks:
            return Verdict(effect="ask", reason=decision.reason)
        if name == "PermissionRequest":
            return Verdict(effect="neutral")
        asked = decision.reason or "a hook wants the person to be asked"
        return _refused(able, event, f"{asked} ({able.agent} cannot ask here, so this is refused)", "ask", ("ask",))
    return _allowed(able, event, decision)


def _allowed(able: Able, event: Event, decision: Decision) -> Verdict:
    name, fields = event.kind.name, decision.changed_fields(event)
    if fields and not (fields == (able.rewritable.get(name),) and able.rewrites[name](event, decision)):
        what = f"change of {', '.join(fields)}"
        reason = f"a hook changed {', '.join(fields)}, which {able.agent} cannot carry out exactly, so this is refused"
        return _refused(able, event, reason, what, (what,))
    rewritten = fields[0] if fields else ""
    if not decision.granted:
        return Verdict(effect="neutral", field=rewritten)
    if name in able.grants:
        return Verdict(effect="allow", reason=decision.reason, field=rewritten)
    return Verdict(effect="neutral", field=rewritten)


def _refused(able: Able, event: Event, reason: str, what: str, lost: tuple[str, ...]) -> Verdict:
    if event.kind.name in able.denies:
        return Verdict(effect="deny", reason=reason, lost=lost)
    return Verdict(effect="neutral", lost=(what,))


def always(_event: Event, _decision: Decision) -> bool:
    return True


def only_adds(event: Event, decision: Decision) -> bool:
    """The agent lays the new input over the old one, key by key: nothing can be taken away."""
    before: Any = event.data.get("tool_input", {})
    after: Any = decision.data.get("tool_input")
    return isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys()
