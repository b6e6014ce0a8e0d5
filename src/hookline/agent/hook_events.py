"""Events of a conversation, and what its hooks say in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import HOOK_ICON, Attachment, Comment
from hookline.core._dataclass import empty
from hookline.core.describe import action_text, failure_text
from hookline.core.errors import HooklineError
from hookline.core.hook import Command

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.core.hook import HookSpec
    from hookline.core.result import Context, Decision
    from hookline.engine.engine import Engine


class RunError(HooklineError):
    """The run cannot go on: a hook ended it, or refused what it needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """An engine with what all events of one conversation share. ``tell`` speaks to the person."""

    engine: Engine
    common: Mapping[str, Any] = field(default_factory=empty)
    tell: Callable[[str], None] = field(default=lambda _text: None, repr=False)

    async def fire(self, event: str, **data: Any) -> Decision:
        """The decision; a hook whose failure ends the run raises ``RunError`` with its words."""
        decision = await self.engine.fire(event, {**self.common, **data})
        self.told(decision)
        if decision.aborted is not None:
            raise RunError(failure_text(decision.aborted.hook, decision.aborted.message))
        return decision

    def told(self, decision: Decision) -> None:
        """A hook that does not run because nobody trusted it is said aloud, with the command that shows it."""
        for outcome in decision.outcomes:
            if outcome.needs_trust:
                self.tell(f"{outcome.hook}: {outcome.error}")
        for message in decision.messages:
            self.tell(f"{message.hook}: {message.text}")

    def said(self, decision: Decision) -> list[Attachment | Comment]:
        """What hooks put into the conversation, in the order in which they ran."""
        specs = {spec.id: spec for spec in self.engine.specs}
        return [
            record
            for outcome in decision.outcomes
            if outcome.reply is not None
            for context in outcome.reply.context
            if (record := _record(context, specs.get(outcome.id), outcome.hook)) is not None
        ]

    def for_agent(self, name: str) -> Firing:
        """As an interlocutor that is called as a tool sees it: its own hooks and those of other systems, which
        guard tools wherever they are called; a conversation's top-level hooks are not its own."""
        specs = tuple(spec for spec in self.engine.specs if not _is_top_level(spec))
        return replace(self, engine=replace(self.engine, specs=specs), common={**self.common, "interlocutor": name})


def _is_top_level(spec: HookSpec) -> bool:
    tied = any(test.path == "interlocutor" for test in spec.matcher.fields)
    return spec.dialect == "lectic" and spec.scope.kind == "everywhere" and not tied


def _record(context: Context, spec: HookSpec | None, hook: str) -> Attachment | Comment | None:
    match context.placement:
        case "comment":
            return Comment(text=context.text)
        case "attachment" | "context":
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
