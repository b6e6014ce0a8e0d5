"""From outcomes to a decision: ``step`` after every hook, ``finish`` at the end. Pure.

It is a stepper because on a chain the next hook's input, and whether there is a next hook at all, depend on
what came before. What a failure means, what may be changed and what a deny stops is decided here and nowhere
else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hookline.core._dataclass import EMPTY, dataclass, empty, fast_constructor, field, replace
from hookline.core.event import COMMON_FIELDS, EventKind
from hookline.core.hook import HookSpec, means_if_tampered
from hookline.core.result import (
    NO_OPINION,
    Aborted,
    Conflict,
    Decision,
    Effect,
    Failed,
    Injected,
    Message,
    Outcome,
    Replied,
    Reply,
    Skipped,
    Started,
    TimedOut,
)
from hookline.core.typed import Any, TypeGuard, assert_never


class _Gone:
    """The value of a leaf that was removed."""

    def __repr__(self) -> str:
        return "GONE"


GONE = _Gone()


def diff(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf in which ``after`` differs from ``before``. Objects are branches, everything else is a leaf."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if not _same(before, after):
            yield path, after
        return
    for key, value in after.items():
        if key in before:
            yield from diff(before[key], value, (*path, key))
        else:
            yield (*path, key), value
    for key in before:
        if key not in after:
            yield (*path, key), GONE


def graft(tree: Mapping[str, Any], path: tuple[str, ...], leaf: Any) -> dict[str, Any]:
    """``tree`` with one leaf set (or removed); shared branches are copied, never changed."""
    key, *rest = path
    copy = dict(tree)
    if rest:
        branch = copy.get(key)
        copy[key] = graft(branch if isinstance(branch, dict) else {}, tuple(rest), leaf)
    elif leaf is GONE:
        copy.pop(key, None)
    else:
        copy[key] = leaf
    return copy


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 and true are different values there."""
    return type(one) is type(other) and bool(one == other)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opinion:
    """What one hook thinks of the action itself."""

    hook: str
    effect: Effect
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldState:
    """What the hooks so far replied and changed; a hook without an opinion leaves it as it is."""

    kind: EventKind
    #: As it was fired, and with the changes of the hooks so far.
    original: Mapping[str, Any]
    data: Mapping[str, Any]
    opinions: tuple[_Opinion, ...] = ()
    #: Leaf of the data -> the hook that changed it last.
    changed: Mapping[str, str] = field(default_factory=empty)
    conflicts: tuple[Conflict, ...] = ()
    ignored: tuple[Message, ...] = ()
    notices: tuple[Message, ...] = ()
    aborted: Aborted | None = None
    #: The session mode as the hooks so far set it; None when none did.
    mode: str | None = None
    #: A hook asked or rewrote, and must not be ignored where an agent does not support that.
    firm: bool = False
    #: No further hook of this event is called.
    stopped: bool = False


_make_state, _make_decision = fast_constructor(FoldState), fast_constructor(Decision)


def begin(kind: EventKind, data: Mapping[str, Any]) -> FoldState:
    return _make_state(kind=kind, original=data, data=data)


def step(
    state: FoldState, spec: HookSpec, outcome: Outcome, *, seen: Mapping[str, Any] | None = None, partly: str = ""
) -> FoldState:
    """The state after one more hook. ``seen`` is the data it was given, if that was not the latest (parallel).

    ``partly`` is a field of which the hook's pattern covers only a part: its allow then counts as no opinion.
    """
    if outcome.reply is NO_OPINION and type(outcome) is Replied:
        return state
    match outcome:
        case Replied():
            return _apply_reply(state, spec, outcome, state.data if seen is None else seen, partly)
        case Failed() | TimedOut():
            return _apply_failure(state, spec, outcome)
        case Skipped() | Started():
            return state
        case _:
            assert_never(outcome)


# ── what a reply does ────────────────────────────────────────────────────────────────────────────────


def _apply_reply(state: FoldState, spec: HookSpec, outcome: Replied, seen: Mapping[str, Any], partly: str) -> FoldState:
    reply = outcome.reply
    if reply is None:
        return state
    if reply.data:
        state = _apply_changes(state, spec, reply.data, seen)
    if "mode" in reply.attributes:
        state = replace(state, mode=str(reply.attributes["mode"] or ""))
    if reply.effect == "allow" and partly:
        note = Message(hook=spec.name, text=f"allow counts as no opinion: its pattern covers only a part of {partly}")
        return replace(state, ignored=(*state.ignored, note))
    if reply.effect is not None:
        state = _add_opinion(state, spec, _Opinion(hook=spec.name, effect=reply.effect, reason=reply.reason))
    return state


def _add_opinion(state: FoldState, spec: HookSpec, opinion: _Opinion) -> FoldState:
    """A deny of what has already happened is ignored, and the record says so."""
    if opinion.effect != "allow" and not state.kind.deniable:
        note = Message(hook=opinion.hook, text=f"{opinion.effect} ignored ({state.kind.name})")
        stops = opinion.effect == "deny" and spec.after_deny == "always-stop"
        return replace(state, ignored=(*state.ignored, note), stopped=state.stopped or stops)
    stops = opinion.effect == "deny" and spec.after_deny != "continue"
    firm = opinion.effect == "ask" and spec.on_unsupported == "deny"
    return _make_state(  # replace() takes ten times as long, and every deny passes here
        kind=state.kind, original=state.original, data=state.data, opinions=(*state.opinions, opinion), changed=state.changed,
        conflicts=state.conflicts, ignored=state.ignored, notices=state.notices, aborted=state.aborted, mode=state.mode,
        firm=state.firm or firm, stopped=state.stopped or stops,
    )  # fmt: skip


def _apply_changes(state: FoldState, spec: HookSpec, fields: Mapping[str, Any], seen: Mapping[str, Any]) -> FoldState:
    """Only the leaves that this hook changed are replaced, so that the changes of a parallel hook survive."""
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


def _apply_failure(state: FoldState, spec: HookSpec, outcome: Failed | TimedOut) -> FoldState:
    """A failure is not a deny: ``on_failure`` decides what happens then."""
    on_failure = means_if_tampered(spec) if outcome.tampered else spec.on_failure
    match on_failure:
        case "ignore":
            return state
        case "abort":
            aborted = state.aborted or Aborted(hook=spec.name, message=outcome.error)
            return replace(state, aborted=aborted, stopped=True)
        case "deny":
            what = "timeout" if isinstance(outcome, TimedOut) else outcome.error
            why = "failed, and on_failure is deny: " if spec.on_failure == "deny" else ""
            notices = Message(hook=spec.name, text=f"{why}{outcome.error}")
            state = replace(state, notices=(*state.notices, notices))
            reason = f"hook failed: {what}{_way_out(state.kind, spec.name, switch=not outcome.tampered)}"
            return _add_opinion(state, spec, _Opinion(hook=spec.name, effect="deny", reason=reason))
        case _:
            assert_never(on_failure)


def _way_out(kind: EventKind, hook: str, *, switch: bool) -> str:
    """A broken guard must not lock its owner out. At a shell's prompt, lash's document words the whole refusal.

    ``switch``: not of a hook that is not as approved, which fails before switches are asked.
    """
    if kind.family == "shell":
        return ""
    if not switch:
        return f" (the hook {hook!r})"
    from shlex import quote  # noqa: PLC0415  only a refusal needs it

    return f" (the hook {hook!r}; its owner can switch it off for an hour: hookline hooks off {quote(hook)} --for 1h)"


# ── one hook, asked about several files ──────────────────────────────────────────────────────────────


_UNDIVIDED = "a hook changed the input for one of several files, which cannot be carried out, so this is refused"


def merge(outcomes: Sequence[Outcome], *, complete: bool) -> Outcome:
    """What a hook answered about each file of one call: one deny is enough, and only an allow for all of them is one.

    A change for one of them cannot be put into the whole, so it is a deny that says so. ``complete``: it was asked about
    every file.
    """
    replies = [one.reply for one in outcomes if isinstance(one, Replied) and one.reply is not None]
    changes = any(reply.data for reply in replies)
    effect = "deny" if changes else _joint_effect(replies, complete=complete and len(replies) == len(outcomes))
    failed = next((one for one in outcomes if not isinstance(one, Replied)), None)
    if failed is not None and effect != "deny":
        return failed
    reasons = [reply.reason for reply in replies if reply.effect == effect and reply.reason]
    contexts = {one.text: one for reply in replies for one in reply.context}
    merged = Reply(
        effect=effect,
        reason="\n".join(dict.fromkeys([*reasons, *([_UNDIVIDED] if changes else [])])),
        context=tuple(contexts.values()),
        messages=tuple(dict.fromkeys(text for reply in replies for text in reply.messages)),
        attributes={key: value for reply in replies for key, value in reply.attributes.items()},
    )
    first = next(one for one in outcomes if isinstance(one, Replied))
    return replace(first, ms=max(one.ms for one in outcomes), reply=merged)


def _joint_effect(replies: Sequence[Reply], *, complete: bool) -> Effect | None:
    effects = {reply.effect for reply in replies}
    if "deny" in effects or "ask" in effects:
        return "deny" if "deny" in effects else "ask"
    return "allow" if complete and effects == {"allow"} else None


# ── the decision ─────────────────────────────────────────────────────────────────────────────────────

_RANK: dict[Effect, int] = {"allow": 0, "ask": 1, "deny": 2}


def finish(state: FoldState, outcomes: Sequence[Outcome], *, continuations: int = 0, limit: int = 0) -> Decision:
    """One deny is enough, reasons keep declared order, and there is no deny without a denier."""
    replies = [
        (outcome.hook, outcome.reply)
        for outcome in outcomes
        if outcome.reply is not NO_OPINION and _says_more(outcome.reply)
    ]
    if not replies and _silent(state):
        return _make_decision(event=state.kind.name, data=state.data, outcomes=tuple(outcomes))
    effect = _strongest(state.opinions)
    reason = _reasons(state.opinions, effect) if state.opinions else ""
    ignored, notices = state.ignored, state.notices
    if state.aborted is not None:
        # A caller that reads only the effect must not go on with a run that a hook has ended.
        effect, reason = "deny", reason if effect == "deny" else state.aborted.message
    elif effect == "deny" and state.kind.continues and limit and continuations >= limit:
        guard = f"loop guard: {state.kind.name} was already sent back {continuations} times in this turn"
        effect, ignored = "allow", (*ignored, Message(hook=_denier(state.opinions), text=guard))
        notices = (*notices, Message(hook=_denier(state.opinions), text=guard))
    refused = effect == "deny"
    return Decision(
        event=state.kind.name,
        effect=effect,
        granted=effect == "allow" and bool(state.opinions) and any(one.effect == "allow" for one in state.opinions),
        reason=reason,
        aborted=state.aborted,
        # What is refused is not rewritten: nobody will run it.
        data=state.original if refused else state.data,
        modified=not refused and state.data is not state.original and state.data != state.original,
        context=tuple([Injected(hook=hook, context=one) for hook, reply in replies for one in reply.context]),
        messages=(*[Message(hook=hook, text=text) for hook, reply in replies for text in reply.messages], *notices),
        attributes=_attributes(replies, state.mode) if replies or state.mode is not None else EMPTY,
        conflicts=state.conflicts,
        outcomes=tuple(outcomes),
        droppable=not state.firm,
        ignored=ignored,
    )


def _silent(state: FoldState) -> bool:
    """No hook had an opinion or changed anything, as in most firings."""
    return not (
        state.opinions or state.ignored or state.aborted or state.data is not state.original or state.mode is not None
    )


def _says_more(reply: Reply | None) -> TypeGuard[Reply]:
    """Whether the reply holds more than an opinion, which is counted already."""
    return reply is not None and bool(reply.context or reply.messages or reply.attributes)


def _strongest(opinions: tuple[_Opinion, ...]) -> Effect:
    effect: Effect = "allow"
    for one in opinions:
        if _RANK[one.effect] > _RANK[effect]:
            effect = one.effect
    return effect


def _reasons(opinions: tuple[_Opinion, ...], effect: Effect) -> str:
    return "\n".join(dict.fromkeys(one.reason for one in opinions if one.effect == effect and one.reason))


def _denier(opinions: tuple[_Opinion, ...]) -> str:
    return next((one.hook for one in opinions if one.effect == "deny"), "")


def _attributes(replies: list[tuple[str, Reply]], mode: str | None) -> Mapping[str, Any]:
    merged: dict[str, Any] = {}
    for _hook, reply in replies:
        merged.update(reply.attributes)
    if mode is not None:
        merged["mode"] = mode
    return merged


def amend(decision: Decision, late: tuple[tuple[HookSpec, Outcome], ...]) -> Decision:
    """A background hook that failed can still end the run; nothing else of its reply counts."""
    for spec, outcome in late:
        failed = isinstance(outcome, Failed | TimedOut)
        outcomes = tuple(outcome if one.id == outcome.id else one for one in decision.outcomes)
        decision = replace(decision, outcomes=outcomes)
        if failed and spec.on_failure == "abort" and decision.aborted is None:
            aborted = Aborted(hook=spec.name, message=outcome.error)
            decision = replace(decision, effect="deny", granted=False, reason=outcome.error, aborted=aborted)
    return decision
