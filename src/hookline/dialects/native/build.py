"""From the checked values of one hook to its ``HookSpec``s, one per event."""

from __future__ import annotations

import os
from types import MappingProxyType

from hookline.core._dataclass import EMPTY, dataclass, field, replace
from hookline.core.event import EVENTS, EventKind, event_kind
from hookline.core.hook import (
    ASK,
    DEFAULTED,
    INBOX,
    TWO,
    Action,
    AgentRun,
    Command,
    CostPolicy,
    FieldTest,
    Function,
    Gates,
    HookSpec,
    Matcher,
    Output,
    Pattern,
    Plugin,
    Prompt,
    hook_id,
)
from hookline.core.typed import Any
from hookline.dialects.base import Lookup
from hookline.dialects.native.fields import ACTIONS
from hookline.dialects.native.kinds import Address

ACTION_KEYS = tuple(action.key for action in ACTIONS)
#: Only a separate program can outlive this process.
DETACHABLE = frozenset({"run", "shell", "script"})
PROMPT_TIMEOUT = 30.0
#: Where a program's failure refuses, unless its hook says otherwise.
_GUARDED = frozenset({"PreToolUse", "PermissionRequest"})
#: Settings of a hook's cost.
COST_KEYS = ("budget", "over_budget", "cache")
_FOLDER = ".hookline"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDraft:
    """A hook as the layers so far have written it."""

    name: str
    values: dict[str, Any]
    #: Where it was first written, and where it was last changed.
    first: Address
    last: Address
    #: The file that gave the action: relative paths start there.
    action_from: Address
    #: Seconds, for a hook that sets no timeout itself.
    timeout: float
    #: The draft of the layers that need no trust, when later ones changed it.
    below: HookDraft | None = None
    #: Places of the draft's fields, for problems found later.
    places: dict[str, Address] = field(default_factory=dict)

    @property
    def action_key(self) -> str:
        return next((key for key in ACTION_KEYS if key in self.values), "")


def build(draft: HookDraft, lookup: Lookup) -> tuple[HookSpec, ...]:
    """One spec per event; an event that a project took away from a person's hook stays, turned off."""
    below = {spec.event: spec for spec in build(draft.below, lookup)} if draft.below else {}
    specs = [_spec(draft, event, lookup, below.get(event)) for event in dict.fromkeys(draft.values["on"])]
    removed = [event for event in below if event not in draft.values["on"]]
    off = replace(draft, values={**draft.values, "enabled": False})
    return (*specs, *(_spec(off, event, lookup, below[event]) for event in removed))


def _spec(draft: HookDraft, event: str, lookup: Lookup, below: HookSpec | None) -> HookSpec:
    values = draft.values
    kind = event_kind(event)
    mode = values.get("mode", "sync")
    refuses = refuses_on_failure(event, mode, draft.action_key, values.get("inject", "none"))
    return HookSpec(
        id=hook_id(draft.first.layer.path, draft.first.pointer, event),
        name=draft.name,
        dialect="native",
        event=event,
        native_event=event,
        origin=draft.last.layer.origin(draft.last.pointer),
        action=_action_of(draft, lookup),
        order=values.get("order", 0),
        matcher=build_matcher(values.get("match"), kind),
        gates=_gates(values.get("when", {})),
        mode=mode,
        timeout=_timeout(draft, mode),
        flow=values.get("flow", kind.flow),
        after_deny=values.get("after_deny", "stop"),
        on_failure=values.get("on_failure") or ("deny" if refuses else "ignore"),
        on_unsupported=values.get("on_unsupported", "deny"),
        output=Output(
            inject=values.get("inject", "none"), label=values.get("label", ""), prefix=values.get("prefix", "")
        ),
        environ=MappingProxyType(dict(values["env"])) if values.get("env") else EMPTY,
        enabled=values.get("enabled", True),
        extra=_extra(values, lookup, refuses=refuses),
        thrift=_cost(values),
        below=below,
    )


def refuses_on_failure(event: str, mode: str, action: str, inject: str) -> bool:
    """Whether a failure of a hook that does not say so itself refuses the call: a program before a tool is a guard."""
    return event in _GUARDED and mode == "sync" and action in DETACHABLE and inject == "none"


def _extra(values: dict[str, Any], lookup: Lookup, *, refuses: bool) -> Any:
    extra: dict[str, Any] = {"project": lookup.project} if lookup.project else {}
    if refuses and values.get("on_failure", "ignore") == "ignore":
        # What was approved before the default was changed stays approved, but not a guard that is weakened since.
        extra["on_failure"] = values.get("on_failure", DEFAULTED)
    if values.get("description"):
        extra["description"] = values["description"]
    if values.get("dialect", "native") != "native":
        extra["wire"] = values["dialect"]
    if values.get(ASK) in {INBOX, TWO}:
        extra[ASK] = values[ASK]
    if values.get("covers"):
        extra["covers"] = tuple(values["covers"])
    return MappingProxyType(extra) if extra else EMPTY


def _cost(values: dict[str, Any]) -> CostPolicy | None:
    if not any(key in values for key in COST_KEYS):
        return None
    policy = CostPolicy(
        budget=values.get("budget"), over_budget=values.get("over_budget", "report"), cache=values.get("cache", 0.0)
    )
    return None if policy == CostPolicy() else policy


def _timeout(draft: HookDraft, mode: str) -> float | None:
    if "timeout" in draft.values:
        return float(draft.values["timeout"])
    if mode == "detached":
        return None
    return PROMPT_TIMEOUT if draft.action_key == "prompt" else draft.timeout


# ── what it does ─────────────────────────────────────────────────────────────────────────────────────


def _action_of(draft: HookDraft, lookup: Lookup) -> Action:
    values, key = draft.values, draft.action_key
    given = values[key]
    file = draft.action_from.layer.path
    match key:
        case "run":
            return Command(form="argv", argv=given, base=os.path.dirname(file))
        case "shell" | "script":
            return Command(form=key, text=given, base=os.path.dirname(file))
        case "python":
            return Function(target=given, base=file_root(file))
        case "prompt":
            return Prompt(text=given, model=values.get("model", ""))
        case "agent":
            return _agent(given, values.get("model", ""))
        case "plugin":
            return Plugin(name=draft.name, path=_absolute(given, file_root(file), lookup.home))
        case _:
            return given  # type: ignore[no-any-return]  # an Http, made when the field was read


def _agent(values: dict[str, Any], model: str) -> AgentRun:
    return AgentRun(
        prompt=values.get("prompt", ""),
        model=values.get("model", model),
        tools=values.get("tools"),
        steps=values.get("steps", 1),
        runner=values.get("runner", "internal"),
        command=values.get("command", ()),
    )


def file_root(file: str) -> str:
    """The project a ``.hookline/hookline.toml`` belongs to; for any other file, its directory."""
    folder = os.path.dirname(file)
    return os.path.dirname(folder) if os.path.basename(folder) == _FOLDER else folder


def _absolute(path: str, root: str, home: str) -> str:
    if path.startswith("~/") and home:
        return os.path.join(home, path[2:])
    return os.path.normpath(os.path.join(root, path))


# ── when it runs ─────────────────────────────────────────────────────────────────────────────────────


def build_matcher(given: dict[str, Any] | None, kind: EventKind) -> Matcher:
    """``""`` stands for the subject, whatever the event's subject is called."""
    if not given:
        return Matcher()
    subject = Pattern()
    tests: list[FieldTest] = []
    for path, value in given.items():
        negate = isinstance(value, dict) and "not" in value
        test = value["not"] if negate else value
        pattern = _pattern(test)
        if path == "" or (path == kind.subject and pattern and not negate):
            subject = pattern if pattern and (kind.subject or kind.name not in EVENTS) else Pattern()
        else:
            pattern = pattern if negate or pattern is None or pattern.style != "full" else _across_lines(pattern)
            tests.append(FieldTest(path=path, pattern=pattern, equals=None if pattern else test, negate=negate))
    return Matcher(subject=subject, fields=tuple(tests))


def _pattern(test: Any) -> Pattern | None:
    if isinstance(test, str):
        return Pattern(style="full", text=test)
    if isinstance(test, dict):
        return Pattern(style="command", text=test["command"])
    if isinstance(test, list):
        joined = test[0] if len(test) == 1 else "|".join(f"(?:{one})" for one in test)
        return Pattern(style="full", text=joined)
    return None


def _across_lines(pattern: Pattern) -> Pattern:
    """Data are searched, since a command can stand anywhere in them; but what a pattern excludes must be nowhere."""
    excludes = "(?!" in pattern.text or "(?<!" in pattern.text
    return Pattern(style="full across lines" if excludes else "search across lines", text=pattern.text)


def _gates(when: dict[str, Any]) -> Gates:
    given = {key: value for key, value in when.items() if key != "once"}
    if "once" in when:
        given.setdefault("once_per_session", when["once"])
    return Gates(**given)
