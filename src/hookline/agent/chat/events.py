"""Firing: every event of a session goes out here, with the fields that all of them carry."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.core.describe import failure_text
from hookline.core.result import Failed, TimedOut
from hookline.core.serialize import decision_shape

if TYPE_CHECKING:
    from hookline.agent.chat.conversation import Conversation
    from hookline.agent.chat.screen import Level, Screen
    from hookline.core.result import Decision
    from hookline.engine.engine import Engine

#: Fields that are in every event and would make a report of all of them useless.
_BULKY = ("history", "conversation")


class HookAbortError(Exception):
    """A hook failed whose failure ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """``record`` is the id under which the firing is kept."""

    decision: Decision
    record: str

    def shape(self) -> dict[str, Any]:
        shape = decision_shape(self.decision)
        shape["data"] = {key: value for key, value in shape["data"].items() if key not in _BULKY}
        return {**shape, "id": self.record}


@dataclass(slots=True, kw_only=True)
class EventEmitter:
    """``about`` are the fields of this session or subagent that every event carries."""

    engine: Engine
    conversation: Conversation
    screen: Screen
    session: str
    about: dict[str, Any]
    #: All that was fired, where somebody wants to see it; None keeps nothing.
    fired: list[Fired] | None = None
    _soon: set[asyncio.Task[Any]] = field(default_factory=set["asyncio.Task[Any]"])
    _told: set[str] = field(default_factory=set[str])

    async def fire(self, name: str, /, **fields: Any) -> Decision:
        """Fire and wait. A failure that ends the run raises ``HookAbortError``."""
        decision = await self.told(name, **fields)
        if decision.aborted is not None:
            raise HookAbortError(failure_text(decision.aborted.hook, decision.aborted.message))
        return decision

    async def told(self, name: str, /, **fields: Any) -> Decision:
        """Fire and wait, where nothing is left that could be ended."""
        return await self._fired(
            name, {**self._frame(), **{key: value for key, value in fields.items() if value is not None}}
        )

    async def _fired(self, name: str, data: dict[str, Any]) -> Decision:
        event = self.engine.event(name, data, session=self.session)
        decision = await self.engine.fire_event_async(event)
        if self.fired is not None:
            self.fired.append(Fired(decision=decision, record=event.id))
        if decision.outcomes:
            self._show(decision)
        return decision

    async def shell(self, name: str, /, **fields: Any) -> Decision:
        """An event of the line editor: it carries its own fields and nothing of the conversation."""
        return await self._fired(name, fields)

    def notify(self, message: str, level: Level = "info", kind: str = "") -> None:
        """Nobody waits for a notification, but ``settled`` does before the session is over."""
        told = self._fired(
            "Notification", {**self._frame(), "message": message, "level": level, "notification_type": kind}
        )
        task = asyncio.ensure_future(told)
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)

    async def settled(self) -> None:
        while self._soon:
            await asyncio.gather(*self._soon, return_exceptions=True)
            await asyncio.sleep(0)  # the turn in which what is done leaves the set; some Pythons gather without one

    def _frame(self) -> dict[str, Any]:
        conversation = self.conversation
        return {
            "session_id": self.session,
            "conversation_id": self.session,
            "turn": conversation.turns,
            "cwd": conversation.transcript.cwd,
            "transcript_path": conversation.transcript.path,
            **self.about,
            "history": list(conversation.history),
        }

    def _show(self, decision: Decision) -> None:
        for message in decision.messages:
            self.screen.note(f"{message.hook}: {message.text}")
        for injected in decision.context:
            if injected.context.placement == "comment":
                self.screen.note(f"{injected.hook}: {injected.context.text.strip()}")
        for outcome in decision.outcomes:
            failed = isinstance(outcome, Failed | TimedOut)
            if (failed or outcome.needs_trust) and outcome.hook + outcome.error not in self._told:
                self._told.add(outcome.hook + outcome.error)
                self.screen.note(f"hook {outcome.hook}: {outcome.error}", "warning")
