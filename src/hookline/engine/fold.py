"""From outcomes to a decision: ``step`` after every hook, ``finish`` at the end. Pure.

It is a stepper because on a chain the next hook's input, and whether there is a next hook at all, depend on
what came before. What a failure means, what may be changed and what a deny stops is decided here and nowhere
else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, assert_never

from hookline.core._dataclass import EMPTY, dataclass, empty, fast_constructor, field, replace
from hookline.core.event import COMMON_FIELDS
from hookline.core.result import (
    NO_OPINION,
    Aborted,
    Conflict,
    Decision,
    Failed,
    Injected,
    Message,
    Replied,
    Skipped,
    Started,
    TimedOut,
)
from hookline.engine.json_diff import diff, graft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import EventKind
    from hookline.core.hook import HookSpec
    from hookline.core.result import Effect, Outcome, Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """One hook's word on the action itself."""

    hook: str
    effect: Effect
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the hooks so far have said and changed; a hook that said nothing leaves it as it is."""

    kind: EventKind
    #: As it was fired, and as the hooks so far left it.
    original: Mapping[str, Any]
    data: Mapping[str, Any]
    said: tuple[_Said, ...] = ()
    #: Leaf of the data -> the hook that changed it last.
    changed: Mapping[str, str] = field(default_factory=empty)
    conflicts: tuple[Conflict, ...] = ()
    ignored: tuple[Message, ...] = ()
    told: tuple[Message, ...] = ()
    aborted: Aborted | None = None
    #: The session mode as the hooks so far set it; None when none did.
    mode: str | None = None
    #: A hook asked or rewrote, and said that it must not be dropped where an agent cannot do that.
    firm: bool = False
    #: No further hook of this event is called.
    stopped: bool = False


_make_state, _make_decision = fast_constructor(State), fast_constructor(Decision)


def begin(kind: EventKind, data: Mapping[str, Any]) -> State:
    return _make_state(kind=kind, original=data, data=data)


def step(state: State, spec: HookSpec, outcome: Outcome, *, seen: Mapping[str, Any] | None = None) -> State:
    """The state after one more hook. ``seen`` is the data it was given, if that was not the latest (parallel)."""
    if outcome.reply is NO_OPINION and type(outcome) is Replied:
        return state
    match outcome:
        case Replied():
            return _replied(state, spec, outcome, state.data if seen is None else seen)
        case Failed() | TimedOut():
            return _failed(state, spec, outcome)
        case Skipped() | Started():
            return state
        case _:
            assert_never(outcome)


# ── what a reply does ────────────────────────────────────────────────────────────────────────────────


def _replied(state: State, spec: HookSpec, outcome: Replied, seen: Mapping[str, Any]) -> State:
    reply = outcome.reply
    if reply is None:
        return state
    if reply.data:
        state = _rewritten(state, spec, reply.data, seen)
    if "mode" in reply.attributes:
        state = replace(state, mode=str(reply.attributes["mode"] or ""))
    if reply.effect is not None:
        state = _spoken(state, spec, _Said(hook=spec.name, effect=reply.effect, reason=reply.reason))
    return state


def _spoken(state: State, spec: HookSpec, said: _Said) -> State:
    """A deny of what has already happened is ignored, and the record says so."""
    if said.effect != "allow" and not state.kind.deniable:
        note = Message(hook=said.hook, text=f"{said.effect} ignored ({state.kind.name})")
        return replace(state, ignored=(*state.ignored, note))
    stops = said.effect == "deny" and spec.after_deny == "stop"
    firm = said.effect == "ask" and spec.on_unsupported == "deny"
    return _make_state(  # replace() takes ten times as long, and every deny passes here
        kind=state.kind, original=state.original, data=state.data, said=(*state.said, said), changed=state.changed,
        conflicts=state.conflicts, ignored=state.ignored, told=state.told, aborted=state.aborted, mode=state.mode,
        firm=state.firm or firm, stopped=state.stopped or stops,
    )  # fmt: skip


def _rewritten(state: State, spec: HookSpec, fields: Mapping[str, Any], seen: Mapping[str, Any]) -> State:
    """Only the leaves that this hook changed are changed, so that a parallel neighbour's work survives."""
    data, changed = dict(state.data), dict(state.changed)
    conflicts, ignored = list(state.conflicts), list(state.ignored)
    for name, value in fields.items():
        if not _may_change(state.kind, name):
            ignored.append(Message(hook=spec.name, text=f"{name} cannot be changed on {state.kind.name}"))
            continue
        for path, leaf in diff(seen.get(name), value, (name,)):
            data = graft(data, path, leaf)
            pointer = ".".join(path)
            conflicts += _conflicts(changed, pointer, spec.name)
            changed[pointer] = spec.name
    firm = state.firm or (changed != state.changed and spec.on_unsupported == "deny")
    return replace(state, data=data, changed=changed, conflicts=tuple(conflicts), ignored=tuple(ignored), firm=firm)


def _conflicts(changed: Mapping[str, str], pointer: str, hook: str) -> list[Conflict]:
    """When two hooks change the same leaf, the later wins and the record says so."""
    return [
        Conflict(pointer=pointer, first=first, second=hook)
        for earlier, first in changed.items()
        if first != hook and (f"{earlier}.".startswith(f"{pointer}.") or f"{pointer}.".startswith(f"{earlier}."))
    ]


def _may_change(kind: EventKind, name: str) -> bool:
    """Documented fields change only where the row says so; fields that nobody documented are free."""
    return name in kind.modifies or (name not in kind.fields and name not in COMMON_FIELDS)


# ── what a failure means ─────────────────────────────────────────────────────────────────────────────


def _failed(state: State, spec: HookSpec, outcome: Failed | TimedOut) -> State:
    """A failure is told apart from a deny, and means what ``on_failure`` says."""
    match spec.on_failure:
        case "ignore":
            return state
        case "abort":
            aborted = state.aborted or Aborted(hook=spec.name, message=outcome.error)
            return replace(state, aborted=aborted, stopped=True)
        case "deny":
            what = "timeout" if isinstance(outcome, TimedOut) else outcome.error
            told = Message(hook=spec.name, text=f"failed, and on_failure is deny: {outcome.error}")
            state = replace(state, told=(*state.told, told))
            return _spoken(state, spec, _Said(hook=spec.name, effect="deny", reason=f"hook failed: {what}"))
        case _:
            assert_never(spec.on_failure)


# ── the decision ─────────────────────────────────────────────────────────────────────────────────────

_RANK: dict[Effect, int] = {"allow": 0, "ask": 1, "deny": 2}


def finish(state: State, outcomes: Sequence[Outcome], *, continuations: int = 0, limit: int = 0) -> Decision:
    """One deny is enough, reasons keep declared order, and there is no deny without a denier."""
    replies = [
        (outcome.hook, outcome.reply)
        for outcome in outcomes
        if outcome.reply is not NO_OPINION and _says_more(outcome.reply)
    ]
    if not replies and _silent(state):
        return _make_decision(event=state.kind.name, data=state.data, outcomes=tuple(outcomes))
    effect = _strongest(state.said)
    reason = _reasons(state.said, effect) if state.said else ""
    ignored, told = state.ignored, state.told
    if state.aborted is not None:
        # Whoever reads only the effect must not go on with a run that a hook has ended.
        effect, reason = "deny", reason if effect == "deny" else state.aborted.message
    elif effect == "deny" and state.kind.continues and limit and continuations >= limit:
        guard = f"loop guard: {state.kind.name} was already sent back {continuations} times in this turn"
        effect, ignored = "allow", (*ignored, Message(hook=_denier(state.said), text=guard))
        told = (*told, Message(hook=_denier(state.said), text=guard))
    refused = effect == "deny"
    return Decision(
        event=state.kind.name,
        effect=effect,
        granted=effect == "allow" and bool(state.said) and any(said.effect == "allow" for said in state.said),
        reason=reason,
        aborted=state.aborted,
        # What is refused is not rewritten: nobody will run it.
        data=state.original if refused else state.data,
        modified=not refused and state.data is not state.original and state.data != state.original,
        context=tuple([Injected(hook=hook, context=one) for hook, reply in replies for one in reply.context]),
        messages=(*[Message(hook=hook, text=text) for hook, reply in replies for text in reply.messages], *told),
        attributes=_attributes(replies, state.mode) if replies or state.mode is not None else EMPTY,
        conflicts=state.conflicts,
        outcomes=tuple(outcomes),
        droppable=not state.firm,
        ignored=ignored,
    )


def _silent(state: State) -> bool:
    """Nobody said or changed anything, as after most firings."""
    return not (
        state.said or state.ignored or state.aborted or state.data is not state.original or state.mode is not None
    )


def _says_more(reply: Reply | None) -> TypeGuard[Reply]:
    """More than its word on the action itself, which is counted already."""
    return reply is not None and bool(reply.context or reply.messages or reply.attributes)


def _strongest(said: tuple[_Said, ...]) -> Effect:
    effect: Effect = "allow"
    for one in said:
        if _RANK[one.effect] > _RANK[effect]:
            effect = one.effect
    return effect


def _reasons(said: tuple[_Said, ...], effect: Effect) -> str:
    return "\n".join(one.reason for one in said if one.effect == effect and one.reason)


def _denier(said: tuple[_Said, ...]) -> str:
    return next((one.hook for one in said if one.effect == "deny"), "")


def _attributes(replies: list[tuple[str, Reply]], mode: str | None) -> Mapping[str, Any]:
    merged: dict[str, Any] = {}
    for _hook, reply in replies:
        merged.update(reply.attributes)
    if mode is not None:
        merged["mode"] = mode
    return merged


def amend(decision: Decision, late: tuple[tuple[HookSpec, Outcome], ...]) -> Decision:
    """A background hook that failed after all can still end the run; nothing else of it counts any more."""
    for spec, outcome in late:
        failed = isinstance(outcome, Failed | TimedOut)
        outcomes = tuple(outcome if one.id == outcome.id else one for one in decision.outcomes)
        decision = replace(decision, outcomes=outcomes)
        if failed and spec.on_failure == "abort" and decision.aborted is None:
            aborted = Aborted(hook=spec.name, message=outcome.error)
            decision = replace(decision, effect="deny", granted=False, reason=outcome.error, aborted=aborted)
    return decision
