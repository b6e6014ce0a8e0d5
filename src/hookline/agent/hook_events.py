"""The events of an agent, and what hooks add to a conversation file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import HOOK_ICON, Attachment, Comment
from hookline.core._dataclass import empty
from hookline.core.describe import action_text, failure_text
from hookline.core.errors import HooklineError
from hookline.core.hook import Command, HookSpec
from hookline.core.result import Context, Decision, Failed, Outcome, TimedOut
from hookline.engine.build import Runtime, Sources, StoreOptions, load_runtime
from hookline.engine.engine import Engine

if TYPE_CHECKING:
    from hookline.agent.lectic_config import Header, Where
    from hookline.runners.host import Host


def build_runtime(header: Header, where: Where, host: Host, *, trust_all: bool, sessions: bool) -> Runtime:
    """Our own layers together with the conversation's hooks; a file in both is read once. At a terminal a person ends
    what takes too long, so that only a limit that was written down counts."""

    def unlimited(spec: HookSpec) -> HookSpec:
        usual = spec.dialect == "lectic" and "timeout" not in spec.extra
        return replace(spec, timeout=None) if usual else spec

    return load_runtime(
        Sources(
            cwd=where.cwd,
            environ=where.environ,
            home=where.home,
            paths=where.paths,
            trust_all=trust_all,
            more=header.specs,
            as_approved=header.base,
            adjust=unlimited if host.terminal is not None else None,
            host=host,
        ),
        StoreOptions(sessions=sessions),
    )


class RunError(HooklineError):
    """The run cannot go on: a hook ended it, or refused what it needs."""


class EventEmitter(ABC):
    """Fires the events of one agent, each with the fields that all of them share."""

    __slots__ = ()

    @abstractmethod
    async def emit(self, name: str, /, **fields: Any) -> Decision:
        """Fire and wait. Fields that are None are left out."""

    async def fire(self, name: str, /, **fields: Any) -> Decision:
        """``emit``, and raise ``RunError`` if a hook failed whose failure ends the run."""
        return self.check(await self.emit(name, **fields))

    def check(self, decision: Decision) -> Decision:
        if decision.aborted is not None:
            raise RunError(failure_text(decision.aborted.hook, decision.aborted.message))
        return decision


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEvents(EventEmitter):
    """The events of a conversation file. ``tell`` writes to the user."""

    engine: Engine
    common: Mapping[str, Any] = field(default_factory=empty)
    tell: Callable[[str], None] = field(default=lambda _text: None, repr=False)

    async def emit(self, name: str, /, **fields: Any) -> Decision:
        given = {key: value for key, value in fields.items() if value is not None}
        decision = await self.engine.fire(name, {**self.common, **given})
        self.report(decision)
        return decision

    def report(self, decision: Decision) -> None:
        """Show the user the messages of hooks, and which hooks do not run because they are not trusted."""
        for outcome in decision.outcomes:
            if outcome.needs_trust:
                self.tell(f"{outcome.hook}: {outcome.error}")
        for message in decision.messages:
            self.tell(f"{message.hook}: {message.text}")

    def records(self, decision: Decision) -> list[Attachment | Comment]:
        """What hooks add to the conversation, in the order in which they ran."""
        specs = {spec.id: spec for spec in self.engine.specs}
        return [
            record
            for outcome in decision.outcomes
            if outcome.reply is not None
            for context in outcome.reply.context
            if (record := _record(context, specs.get(outcome.id), outcome.hook)) is not None
        ]

    def for_agent(self, name: str) -> ConversationEvents:
        """For an interlocutor that is called as a tool: its own hooks and those of other systems, which guard tools
        wherever they are called, but not the conversation's top-level hooks."""
        specs = tuple(
            spec
            for spec in self.engine.specs
            if spec.dialect != "lectic"
            or spec.scope.kind != "everywhere"
            or any(test.path == "interlocutor" for test in spec.matcher.fields)
        )
        return replace(self, engine=replace(self.engine, specs=specs), common={**self.common, "interlocutor": name})


def background_failures(engine: Engine, session: str | None = None) -> list[str]:
    """Wait for background hooks; the failures that fail the run."""
    return fatal_failures(engine.join(session))


def fatal_failures(late: Iterable[tuple[HookSpec, Outcome]]) -> list[str]:
    return [
        failure_text(spec.name, outcome.error)
        for spec, outcome in late
        if isinstance(outcome, Failed | TimedOut) and spec.on_failure == "abort"
    ]


def _record(context: Context, spec: HookSpec | None, hook: str) -> Attachment | Comment | None:
    match context.placement:
        case "comment":
            return Comment(text=context.text)
        case "attachment" | "context" | "reply":
            given = dict(context.attributes)
            if spec is None or spec.dialect != "lectic":
                given.setdefault("name", context.label or hook)
            icon = given.pop("icon", "") or HOOK_ICON
            given.pop("kind", None)
            return Attachment(content=context.text, command=_command(spec), icon=icon, attributes=given)
        case "session":
            return None


def _command(spec: HookSpec | None) -> str:
    if spec is None:
        return ""
    if spec.dialect == "lectic" and isinstance(spec.action, Command):
        return spec.action.text
    return action_text(spec)
