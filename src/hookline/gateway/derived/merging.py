"""How what hooks of made-up events said reaches the agent: with the decision on the agent's own event.

Context and messages go along. A refusal cannot: the run or the answer that it is about is over or under way, and to
refuse the agent's own event instead would mean something else (a refused Stop sends the agent on). The person is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.result import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.core.result import Decision


def merge_decisions(decision: Decision, others: Sequence[Decision]) -> Decision:
    """What is told. Said earlier stands first."""
    if not any(other.context or other.messages or other.ignored or other.effect == "deny" for other in others):
        return decision
    refused = tuple(_refusal(other) for other in others if other.effect == "deny")
    return replace(
        decision,
        context=(*(one for other in others for one in other.context), *decision.context),
        messages=(*(one for other in others for one in other.messages), *refused, *decision.messages),
        ignored=(*(one for other in others for one in other.ignored), *decision.ignored, *refused),
    )


def _refusal(other: Decision) -> Message:
    aborted = other.aborted
    who = aborted.hook if aborted is not None else "hookline"
    why = other.reason or (aborted.message if aborted is not None else "")
    return Message(hook=who, text=f"{other.event} was refused, which this agent cannot carry out: {why}")


def with_outcomes(decision: Decision, others: Sequence[Decision]) -> Decision:
    """For whoever waits for hooks in the background: those of the made-up events are among them."""
    more = tuple(outcome for other in others for outcome in other.outcomes)
    return replace(decision, outcomes=(*more, *decision.outcomes)) if more else decision
