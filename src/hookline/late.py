"""Answers that come after the decision: of hooks that were not waited for, and whose answer is applied when it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.dataclass import dataclass, replace
from hookline.result import Replied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.event import Event
    from hookline.perform import Task
    from hookline.record import Recorder
    from hookline.result import Outcome
    from hookline.session import Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A late answer of an apply-later hook, still current: put ``data`` into the live object."""

    event: Event
    hook: str
    data: Mapping[str, Any]


def noted(task: Task, outcome: Outcome, sessions: Sessions, recorder: Recorder) -> tuple[Outcome, Applied | None]:
    """Every late answer is recorded; a stale one (the event was fired again meanwhile) is dropped.

    Beside the outcome as it is to be remembered: what is to be applied, if it is current and an answer at all.
    """
    event = task.event
    stale = event.generation != sessions.peek(event.session, event.kind.name).generation
    if stale:
        outcome = replace(outcome, error="stale result dropped")
    recorder.amend(event.id, outcome)
    if stale or not isinstance(outcome, Replied) or outcome.reply is None:
        return outcome, None
    reply = outcome.reply
    if "mode" in reply.attributes:
        sessions.settle(event.session, mode=str(reply.attributes["mode"] or ""), continuations=None)
    return outcome, Applied(event=event, hook=task.spec.name, data=reply.data)
