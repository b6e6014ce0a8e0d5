"""Compaction: a conversation that has grown too long is replaced by a summary from the model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from hookline.agent.chat import events
from hookline.agent.chat.conversation import Conversation
from hookline.agent.chat.presenter import ChatPresenter
from hookline.agent.loop import AgentLoop
from hookline.agent.message import AssistantMessage, Done, Message, ToolResult, UserMessage
from hookline.llm.names import ModelError

#: Default number of context tokens after which a conversation is compacted.
LIMIT = 150_000

_INSTRUCTIONS = (
    "Write a summary of this conversation that replaces it: what the person wants, what was done and found out, which "
    "files and commands matter, what is decided, and what is still to do. Leave nothing out that is needed to go on. "
    "Call no tool; answer with the summary alone."
)
_HEAD = "The conversation so far was compacted. This is its summary; go on from here.\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    limit: int = LIMIT

    async def if_needed(self, loop: AgentLoop, chat: ChatPresenter) -> None:
        if len(chat.messages) > 1 and _size(chat.conversation) > self.limit:
            try:
                await self.compact(loop, chat, "auto")
            except ModelError as error:
                chat.screen.note(f"the conversation could not be compacted: {error}", "warning")
                chat.events.notify(f"Compaction failed: {error}", "warning", "compaction")

    async def compact(self, loop: AgentLoop, chat: ChatPresenter, trigger: str, instructions: str = "") -> str:
        """The summary; "" when there was nothing to compact. Hooks may add what it must keep, but not prevent it. A
        prompt without an answer is not history yet: it stays word for word, if there is room for it."""
        conversation = chat.conversation
        if not conversation.messages:
            return ""
        before = _size(conversation)
        started = await chat.events.fire(
            "PreCompact",
            trigger=trigger,
            context_length=before,
            max_context_length=self.limit,
            custom_instructions=instructions or None,
        )
        wishes = [text for text in (instructions, *events.context_messages(started)) if text]
        waiting = _unanswered(conversation.messages)
        if _estimate(waiting) > self.limit // 2:
            waiting = []
        earlier = conversation.messages[: len(conversation.messages) - len(waiting)]
        summary = await _summary(loop, earlier, "\n\n".join([_INSTRUCTIONS, *wishes]))
        conversation.compacted(_HEAD + summary, trigger, before, waiting)
        after = await chat.events.fire("PostCompact", trigger=trigger, summary=summary)
        for text in events.context_messages(after):
            conversation.add_context(text)
        return summary


def _unanswered(messages: Sequence[Message]) -> list[UserMessage]:
    """The last prompt with the contexts around it, if there is history before it and no answer after it."""
    place = len(messages)
    while place and isinstance(messages[place - 1], UserMessage):
        place -= 1
    return [one for one in messages[place:] if isinstance(one, UserMessage)] if place else []


async def _summary(loop: AgentLoop, earlier: Sequence[Message], instructions: str) -> str:
    # Providers require the tools that the conversation has called.
    tools = [tool.spec for tool in loop.tools.values()]
    messages = [*earlier, UserMessage(parts=(instructions,))]
    async with aclosing(loop.model.converse(messages, tools, system=loop.system)) as deltas:
        async for delta in deltas:
            if isinstance(delta, Done) and delta.message.text.strip():
                return delta.message.text
    raise ModelError("the model wrote no summary")


def _size(conversation: Conversation) -> int:
    """Tokens as the provider counted them last; an estimate where it does not count."""
    return conversation.size or _estimate(conversation.messages)


def _estimate(messages: Sequence[Message]) -> int:
    count = 0
    for message in messages:
        match message:
            case UserMessage():
                count += sum(map(len, message.parts))
            case AssistantMessage():
                count += len(message.text) + sum(len(str(call.arguments)) for call in message.tool_calls)
            case ToolResult():
                count += len(message.content)
    return count // 4
