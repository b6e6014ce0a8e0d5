"""A transcript as messages for a model: resets honoured, arguments decoded, every call followed by its results."""

from __future__ import annotations

from collections.abc import Sequence

from hookline.agent.conversation.records import (
    Attachment,
    CallRecord,
    Comment,
    Prose,
    Segment,
    ThoughtRecord,
    read_content,
)
from hookline.agent.message import AssistantMessage, Message, Thought, ToolCall, ToolOutput, ToolResult, UserMessage
from hookline.core._dataclass import dataclass, field

#: What is sent for a message of which nothing is left: some providers refuse an empty one.
NOTHING = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """The person's message, ready to be sent: ``more`` are further parts (attachments of this message)."""

    text: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InterlocutorTurn:
    """An interlocutor's answer, as it is in the file."""

    name: str
    content: str


@dataclass(slots=True, kw_only=True)
class _Interaction:
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    prose: list[str] = field(default_factory=list[str])
    thoughts: list[ThoughtRecord] = field(default_factory=list[ThoughtRecord])
    calls: list[CallRecord] = field(default_factory=list[CallRecord])

    @property
    def answered(self) -> bool:
        return bool(self.prose or self.thoughts or self.calls)


def replay_messages(items: Sequence[UserTurn | InterlocutorTurn], active: str, provider: str = "") -> list[Message]:
    """``active`` is who answers now; the others' answers are marked as theirs. Thoughts go back to their provider only."""
    messages: list[Message] = []
    for item in items:
        if isinstance(item, UserTurn):
            messages.append(UserMessage(parts=(item.text if item.text.strip() else NOTHING, *item.more)))
        elif item.name != active:
            messages.append(_quote(item))
        else:
            for one in _interactions(read_content(item.content)):
                if any(attachment.reset for attachment in one.attachments):
                    messages.clear()
                messages += _messages(one, provider, len(messages))
    return messages


def _quote(item: InterlocutorTurn) -> UserMessage:
    prose = "\n\n".join(one.text for one in read_content(item.content) if isinstance(one, Prose))
    name = item.name.replace("&", "&amp;").replace('"', "&quot;")
    return UserMessage(parts=(f'<speaker name="{name}">{prose or NOTHING}</speaker>',))


def _interactions(segments: Sequence[Segment]) -> list[_Interaction]:
    """Attachments begin a new one once something was answered; prose after calls or thoughts does too."""
    found = [_Interaction()]
    for segment in segments:
        now = found[-1]
        match segment:
            case Attachment():
                if now.answered:
                    found.append(now := _Interaction())
                now.attachments.append(segment)
            case CallRecord():
                now.calls.append(segment)
            case ThoughtRecord():
                now.thoughts.append(segment)
            case Prose():
                if now.calls or now.thoughts:
                    found.append(now := _Interaction())
                now.prose.append(segment.text)
            case Comment():
                pass
    return [one for one in found if one.answered or one.attachments]


def _messages(one: _Interaction, provider: str, place: int) -> list[Message]:
    messages: list[Message] = []
    if one.attachments:
        messages.append(UserMessage(parts=tuple(attachment.content or NOTHING for attachment in one.attachments)))
    if not one.answered:
        return messages
    # A call without an id gets one that no other has.
    calls = [(call, call.id or f"call_{place}_{number}") for number, call in enumerate(one.calls)]
    messages.append(
        AssistantMessage(
            text="\n\n".join(one.prose),
            thinking=tuple(
                Thought(text=thought.text, provider=provider, opaque=thought.opaque)
                for thought in one.thoughts
                if thought.provider == provider
            ),
            tool_calls=tuple(ToolCall(id=id_, name=call.name, arguments=dict(call.arguments)) for call, id_ in calls),
        )
    )
    messages += [
        ToolResult(id=id_, name=call.name, content=result_text(call.results), is_error=call.is_error)
        for call, id_ in calls
    ]
    return messages


def result_text(results: Sequence[ToolOutput]) -> str:
    """All results of a call as the one text that a model is given."""
    return "\n".join(result.content for result in results)
