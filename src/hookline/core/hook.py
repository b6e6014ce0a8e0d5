"""What was written: ``HookSpec``, one per (hook, event), with everything that depends on the event resolved.

A dialect fills it in; ``match`` reads the top half, ``run`` the action, ``fold`` the policy. Policy that
differs between dialects is data here and is judged only by ``fold``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.event import GUARDED, Flow, event_kind
from hookline.core.problem import Problem, ProblemCode, Severity
from hookline.core.typed import Any, Literal, TypeAlias

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first, which costs as much as a hook
except ImportError:
    from hashlib import blake2b


#: ``async``: in the background of a process that goes on; detached from one that ends, which does not wait for it.
Mode = Literal["sync", "background", "async", "detached", "apply-later"]
OnFailure = Literal["ignore", "deny", "abort"]
_OnUnsupported = Literal["deny", "ignore"]
_AfterDeny = Literal["stop", "always-stop", "continue"]
_OverBudget = Literal["report", "background", "skip"]


# ── where it stands ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a hook is written: a person can open the file at the line."""

    file: str
    line: int = 0
    pointer: str = "$"
    #: machine, user, project, local, or "command line" for files that were named explicitly.
    layer: str = "command line"

    @property
    def place(self) -> str:
        """As editors take it; the file alone where its lines were not looked for."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def problem(
        self, finding: str, fix: str, severity: Severity = "error", *, code: ProblemCode | None = None, name: str = ""
    ) -> Problem:
        return Problem(
            file=self.file, line=self.line, pointer=self.pointer, finding=finding, fix=fix, severity=severity,
            code=code, name=name,
        )  # fmt: skip


# ── when it runs ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A test of one text: ``full`` and ``search`` are regular expressions, ``exact`` is a list of names, ``command`` a
    rule on the programs that a shell command starts (``git push *``). Across lines, a dot also matches the end of a line,
    and ``^`` and ``$`` match at every line."""

    style: Literal["any", "full", "search", "exact", "glob", "command", "full across lines", "search across lines"] = (
        "any"
    )
    text: str = ""
    options: tuple[str, ...] = ()
    #: What the test says when there is no text to test.
    when_missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTest:
    """A test of one field of the data: ``path`` is dotted (``tool_input.command``).

    ``pattern`` tests the field as text; otherwise the field must equal ``equals``. ``negate`` turns it round
    (a missing field then passes).
    """

    path: str
    pattern: Pattern | None = None
    equals: Any = None
    negate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """What the event must look like: its subject (the tool's name, mostly) and any fields of its data."""

    subject: Pattern = Pattern()
    fields: tuple[FieldTest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """When, among the events that match, the hook runs. All that are set must pass.

    The last four are claims: they must be made once, atomically, in the session store.
    """

    every_n_turns: int = 0
    min_turn: int = 0
    #: Any of these is a case-insensitive part of the message (or of the latest typed prompt).
    message_contains: tuple[str, ...] = ()
    role: str = ""
    agent: tuple[str, ...] = ()
    cwd: tuple[str, ...] = ()
    #: Only on turns that a person typed, never on follow-ups the agent submitted itself.
    typed_only: bool = False
    #: Only on the first typed turn, unless the data has this field: then a matcher judges it (Lectic's user_first).
    first_turn_unless: str = ""
    #: Needs at least one user turn in the session, as every gate of memex does.
    needs_turn: bool = False
    once_per_session: bool = False
    debounce: float = 0.0
    max_per_minute: int = 0
    #: Taken when the event arrives, whether or not the other gates pass (memex's session_start).
    claim_first: bool = False

    @property
    def claims(self) -> bool:
        return self.once_per_session or self.debounce > 0 or self.max_per_minute > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose events the hook runs on: all, one interlocutor's, or one tool's.

    ``default`` marks the interlocutor that is active when an event does not name one.
    """

    kind: Literal["everywhere", "interlocutor", "tool"] = "everywhere"
    name: str = ""
    default: bool = False


# ── what it does ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program per event. ``argv`` is used as it stands; ``text`` is shell source, a script that begins
    with a shebang, or a line that the dialect splits itself (``words``)."""

    form: Literal["argv", "shell", "script", "words"]
    argv: tuple[str, ...] = ()
    text: str = ""
    #: The directory relative programs are looked up in after the working directory's project; "" for none.
    base: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A long-lived process that speaks JSON lines over a Unix socket (lash)."""

    name: str
    path: str
    #: Keys the hook wants (input.key); None for all.
    keys: frozenset[str] | None = None
    #: The program that runs ``path``, for those that come with hookline; "": it is a program itself.
    interpreter: str = ""


#: The model of the agent that fired the event.
OWN_MODEL = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A question to a model, answered with ``ok`` and ``reason``."""

    text: str
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """A small agent: a model with its own prompt, tools and a step limit, in process or as a command."""

    prompt: str = ""
    model: str = ""
    #: None: the agent's normal tools; empty: none.
    tools: tuple[str, ...] | None = None
    steps: int = 1
    runner: Literal["internal", "external"] = "internal"
    #: The command of an external runner; empty for our own.
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """A POST of the event. Header values may name environment variables (``$TOKEN``), never hold secrets."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    #: Plain http to a host that is not loopback was allowed explicitly.
    allow_insecure: bool = False
    #: The only variables that headers may name, and every other is empty there; None: any, and each must be set.
    variables: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A Python callable: ``pkg.mod:name``, looked up in ``base`` and then on the normal path; or the object."""

    target: str
    base: str = ""
    #: Settings in JSON: ``target`` is called with them once, and returns the function.
    given: str = ""
    call: Any = field(default=None, compare=False)


Action: TypeAlias = Command | Plugin | Prompt | AgentRun | Http | Function


# ── what it may cost ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPolicy:
    """What a hook says of its own cost; ``hookline.engine.cost`` acts on it."""

    #: Seconds that 95 of 100 runs should take at most; None: not set.
    budget: float | None = None
    #: What becomes of a hook that is over its budget. One that could refuse is only ever reported.
    over_budget: _OverBudget = "report"
    #: Seconds for which the same event has the same answer; 0.0: the hook runs every time.
    cache: float = 0.0


# ── what its output becomes ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What becomes of the text a hook prints.

    ``none``: only structured answers count. ``context``: text is shown to the model. ``attachment`` and
    ``comment``: recorded inline in the conversation (Lectic); a comment is never shown to the model.
    ``reply``: stands in front of the answer, inside it (memex's post_turn). ``session``: kept with the session and
    sent on resume (memex's session_end).
    """

    inject: Literal["none", "context", "attachment", "comment", "reply", "session"] = "none"
    label: str = ""
    prefix: str = ""
    icon: str = ""
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSpec:
    """One hook on one event, as written, with every default of its dialect filled in."""

    id: str
    name: str
    dialect: str
    #: Canonical name (a row of EVENTS), and the name the dialect used.
    event: str
    native_event: str = ""
    origin: Origin
    action: Action
    scope: Scope = Scope()
    #: Hooks of a lower phase all run first (Lectic's aliases are phase 1, memex's session_start phase -1).
    phase: int = 0
    #: Lower runs earlier within a phase; equal numbers keep declared order.
    order: int = 0
    matcher: Matcher = Matcher()
    gates: Gates = Gates()
    mode: Mode = "sync"
    #: Seconds; None for no limit (which only a detached hook may have).
    timeout: float | None = 60.0
    flow: Flow = "chain"
    after_deny: _AfterDeny = "stop"
    on_failure: OnFailure = "ignore"
    on_unsupported: _OnUnsupported = "deny"
    output: Output = Output()
    environ: Mapping[str, str] = field(default_factory=empty)
    enabled: bool = True
    #: Of the hooks of an event that match and have the same text here, only the first runs; "": it always runs.
    same: str = ""
    #: Facts only the hook's own dialect needs again (quiet, allow_failure, …), as written.
    extra: Mapping[str, Any] = field(default_factory=empty)
    #: None for the many that say nothing of their cost.
    thrift: CostPolicy | None = None
    #: What the machine's and the user's own layers say, where a project changed this hook or turned it off.
    #: It is in force until the change is trusted: a project must not be able to switch off a person's guard.
    below: HookSpec | None = field(default=None, compare=False, repr=False)


def means_if_tampered(spec: HookSpec) -> OnFailure:
    """What it means that an approved hook is no longer what was approved. Other systems ignore a hook that fails, which
    says nothing of one that somebody edited: where it is waited for and can refuse, that refuses. Who writes
    ``on_failure = "ignore"`` in a file of ours has said what is to happen."""
    guards = spec.dialect != "native" and spec.mode == "sync" and spec.event in GUARDED
    return "deny" if guards and spec.on_failure == "ignore" else spec.on_failure


def is_native_function(spec: HookSpec) -> bool:
    """Whether it is a Python function that is called in our own way: one that returns nothing has no opinion."""
    return type(spec.action) is Function and spec.dialect == "native" and "wire" not in spec.extra


#: ``extra["on_failure"]`` of a hook that does not say what its failure means, where that refuses.
DEFAULTED = "default"

#: ``extra["ask"]`` of a hook whose questions a person answers in the view or from afar, or two people on call do; and the
#: seconds it waits for that at most.
ASK, INBOX, TWO, INBOX_WAIT = "ask", "inbox", "two", 300.0

#: The event of what a project's file holds besides its hooks: it is approved in the form of a hook that never runs.
FILE_EVENT = "file"


def is_guard(spec: HookSpec) -> bool:
    """The ready guard is kept at every door, also in shells."""
    waits = spec.enabled and spec.mode == "sync" and event_kind(spec.event).deniable
    return waits and (spec.event in GUARDED or spec.origin.pointer == "$.guard")


def is_inner(spec: HookSpec) -> bool:
    """Whether hookline made this hook itself: nobody wrote it, so no list of hooks shows it."""
    return bool(spec.extra.get("inner"))


def count_hooks(specs: Iterable[HookSpec]) -> int:
    """As people count them: one of several events is one, and what hookline made itself is none."""
    return len({(spec.origin.file, spec.name) for spec in specs if not is_inner(spec)})


def file_folder(file: str) -> str:
    """What relative paths in a file start from: its folder, or the one around a folder like ``.claude``."""
    folder = os.path.dirname(file)
    return os.path.dirname(folder) if os.path.basename(folder).startswith(".") else folder


def anchor_model(name: str, file: str) -> str:
    """A model's name; the file of a scripted one is looked for from the file that names it, wherever a hook runs."""
    script = name.removeprefix("script:")
    if script == name or os.path.isabs(script) or not os.path.isabs(file):
        return name
    return f"script:{os.path.join(file_folder(file), script)}"


def hook_id(file: str, pointer: str, event: str, ordinal: int = 0) -> str:
    """A stable identity: the place a hook is written at, so that unnamed and repeated hooks stay apart."""
    place = f"{file}\0{pointer}\0{event}\0{ordinal}"
    return blake2b(place.encode(errors="surrogateescape"), digest_size=8).hexdigest()
