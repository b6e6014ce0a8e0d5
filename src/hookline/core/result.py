"""Results: ``RunResult`` (of a runner), ``Reply`` (of a hook), ``Outcome`` (of one hook's run), ``Decision`` (of all)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.event import Event
from hookline.core.typed import Any, Literal, TypeAlias

Effect = Literal["allow", "ask", "deny"]
Placement = Literal["context", "attachment", "comment", "reply", "session"]
#: Why a hook that listens to an event was not run. Code branches on this, never on the text beside it.
_SkipReason = Literal[
    "mismatch", "undecidable", "gate", "claim", "stopped",
    "untrusted", "changed", "removed", "file-has-errors", "trust-unreadable", "other-file", "pack-changed",
    "agent-runs-it", "disabled", "inside-agent", "over-budget",
]  # fmt: skip
_NEEDS_TRUST = frozenset[_SkipReason | None]({"untrusted", "changed", "removed"})
_TAMPERED = frozenset[_SkipReason | None](
    {"changed", "removed", "file-has-errors", "trust-unreadable", "other-file", "pack-changed"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a runner saw, before a dialect interprets it."""

    exit_code: int | None = None
    #: The signal that ended the process, if one did.
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    #: The object a function or an in-process agent returned.
    value: Any = None
    #: Could not be started, or broke its protocol; "" when it ran.
    error: str = ""
    timed_out: bool = False
    ms: float = 0.0
    #: stdout went on after what was kept of it.
    cut: bool = False
    #: Files that hold what was over the output cap, in full.
    spilled: tuple[str, ...] = ()
    #: Processes that left the group and could not be ended, and other things a person should know.
    notes: tuple[str, ...] = ()
    #: Tokens and cost of a model, where one was called.
    usage: Mapping[str, Any] = field(default_factory=empty)

    @property
    def failed(self) -> bool:
        """None without a signal is no process at all, but a reply over HTTP or from a function."""
        return self.exit_code not in {0, None} or self.signal is not None

    def failure_text(self, detail: str) -> str:
        """How the process ended, and the detail if there is any."""
        what = f"exit code {self.exit_code}" if self.exit_code is not None else f"ended by signal {self.signal}"
        return f"{what}: {detail}" if detail else what


#: Of a function that returned nothing, as most do most of the time. The caller measures how long it took.
NOTHING = RunResult()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text for the model or the transcript."""

    text: str
    placement: Placement = "context"
    label: str = ""
    attributes: Mapping[str, str] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of a hook. ``effect`` None is no opinion: only an explicit allow grants anything."""

    effect: Effect | None = None
    reason: str = ""
    #: Top-level fields of the event's data, replaced.
    data: Mapping[str, Any] = field(default_factory=empty)
    context: tuple[Context, ...] = ()
    messages: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=empty)


#: The usual answer.
NO_OPINION = Reply()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookError:
    """A hook that did not do its job. It may still have a reply (an allowed failure's inline output)."""

    error: str
    reply: Reply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    #: The hook's id and name; ``error`` says what went wrong, or why it did not run.
    id: str
    hook: str
    ms: float = 0.0
    error: str = ""
    reply: Reply | None = None
    raw: RunResult | None = field(default=None, repr=False)
    #: None for a hook that was run; one that was changed meanwhile counts as not run.
    not_run: _SkipReason | None = None

    @property
    def needs_trust(self) -> bool:
        """``hookline trust`` would let this hook run."""
        return self.not_run in _NEEDS_TRUST

    @property
    def tampered(self) -> bool:
        """It is not, or may not be, what a person approved."""
        return self.not_run in _TAMPERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied(_Outcome):
    """Ran to its end, with or without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(_Outcome):
    """Could not start, crashed, was changed since it was trusted, or gave an invalid answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut(_Outcome):
    """Was ended at its deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped(_Outcome):
    """Was listening, but did not run: a gate, an earlier deny, missing trust. ``not_run`` says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(_Outcome):
    """Runs without being waited for: background, detached or apply-later."""


Outcome: TypeAlias = Replied | Failed | TimedOut | Skipped | Started


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A hook that must not run now. A guard that somebody tampered with counts as failed."""

    reason: _SkipReason
    message: str
    counts_as_failure: bool = False


STATUS: Mapping[type[Outcome], str] = MappingProxyType(
    {Replied: "replied", Failed: "failed", TimedOut: "timed-out", Skipped: "skipped", Started: "started"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A context with the name of the hook it came from."""

    hook: str
    context: Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A line for the person."""

    hook: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Aborted:
    """The hook whose failure ends the run, and the message."""

    hook: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two hooks changed the same leaf of the data; the later one won."""

    pointer: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to the caller that fired the event."""

    event: str
    effect: Effect = "allow"
    #: True only if a hook allowed and none asked or denied: "no opinion" must never approve a call.
    granted: bool = False
    reason: str = ""
    aborted: Aborted | None = None
    data: Mapping[str, Any] = field(default_factory=empty)
    modified: bool = False
    context: tuple[Injected, ...] = ()
    messages: tuple[Message, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=empty)
    conflicts: tuple[Conflict, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    #: The hooks that asked or rewrote permit an agent that cannot do that to go on without.
    droppable: bool = False
    #: What a hook wanted and did not get: a change of a read-only field, a deny of what has happened.
    ignored: tuple[Message, ...] = ()
    #: Exit code, stdout and stderr of the answer in the agent's format; None where it is empty or nobody has written it.
    answer: tuple[int, str, str] | None = None

    @property
    def allowed(self) -> bool:
        return self.effect == "allow"

    @property
    def silent(self) -> bool:
        """No hook had an opinion: nothing to refuse, to grant, to change or to show."""
        return self.effect == "allow" and not (
            self.granted or self.modified or self.context or self.messages or self.attributes or self.aborted
        )

    @property
    def refusal_text(self) -> str:
        """Never empty: some agents take a deny without a reason for no deny."""
        return self.reason or (self.aborted.message if self.aborted is not None else "") or "Blocked by hook"

    @property
    def model_text(self) -> str:
        """The text for the agent's model: a comment is for the transcript, and the session sends its own part."""
        return "\n".join(
            one.context.text
            for one in self.context
            if one.context.placement in {"context", "attachment", "reply"} and one.context.text
        )

    @property
    def message_text(self) -> str:
        """The text for the person."""
        return "\n".join(message.text for message in self.messages if message.text)

    def changed_fields(self, event: Event) -> tuple[str, ...]:
        """The top-level fields that hooks changed; nothing is rewritten when the action is refused."""
        if not self.modified:
            return ()
        before, now = event.data, self.data
        return tuple(name for name in dict.fromkeys((*before, *now)) if before.get(name) != now.get(name))


def encode(text: str) -> bytes:
    """Bytes that were no text go out as they came in; half a character, which no encoding has, as a question mark."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="replace")
