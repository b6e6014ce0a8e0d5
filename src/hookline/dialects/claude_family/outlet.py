"""What is in a decision for the agent that asked: the reason, the changes, the text for its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision

#: A comment is for the transcript, and what is kept with the session is sent by the session.
_FOR_THE_MODEL = frozenset({"context", "attachment"})


def changed(event: Event, decision: Decision) -> tuple[str, ...]:
    """The top-level fields that hooks changed; nothing is rewritten when the action is refused."""
    if not decision.modified:
        return ()
    fields = dict.fromkeys((*event.data, *decision.data))
    return tuple(name for name in fields if event.data.get(name) != decision.data.get(name))


def deny_text(decision: Decision) -> str:
    """Never empty: some agents take a deny without a reason for no deny."""
    aborted = decision.aborted.message if decision.aborted is not None else ""
    return decision.reason or aborted or "Blocked by hook"


def for_the_model(decision: Decision) -> str:
    texts = (one.context.text for one in decision.context if one.context.placement in _FOR_THE_MODEL)
    return "\n".join(text for text in texts if text)


def messages_text(decision: Decision) -> str:
    return "\n".join(message.text for message in decision.messages if message.text)
