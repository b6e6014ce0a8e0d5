"""The loop of one agent: ask the model, run its tools, tell it the results, until it has nothing more to do.

Inline output of a hook keeps the loop alive, so that the model can answer to it, unless the hook says ``final``;
with ``reset`` the context begins anew with it.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.chat import hook_output
from hookline.agent.chat.calls import Around, Toolbox, carry_out, refuse
from hookline.agent.message import AssistantMessage, Done, Text, Thinking, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.agent.chat.compaction import Compaction
    from hookline.agent.chat.conversation import Conversation
    from hookline.agent.chat.events import EventEmitter
    from hookline.agent.chat.screen import Screen
    from hookline.agent.model import ModelClient
    from hookline.core.result import Context

_LIMIT_REACHED = "The limit of requests for this turn is reached; the call was not carried out."


@dataclass(slots=True, kw_only=True)
class Actor:
    """One agent: the main one, or a subagent."""

    conversation: Conversation
    herald: EventEmitter
    box: Toolbox
    screen: Screen
    voice: ModelClient
    system: str
    compaction: Compaction | None = None
    tokens: dict[str, int] = field(default_factory=lambda: {"input": 0, "cached": 0, "output": 0, "total": 0})
    #: The person sees what a subagent does, not everything it says.
    aloud: bool = True
    #: Model requests so far.
    requests: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """``stop_reason``: end_turn, max_turns, or hook_stopped."""

    text: str
    reasoning: str
    stop_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    reply: AssistantMessage
    tokens: Mapping[str, int] | None

    @property
    def reasoning(self) -> str:
        return "\n".join(thought.text for thought in self.reply.thinking if thought.text)


async def work(actor: Actor, *, limit: int) -> Worked:
    """At most ``limit`` requests. No call is left without a result, whatever ends the loop."""
    final_passes = 0
    for number in range(limit):
        if actor.compaction is not None:
            await actor.compaction.if_needed(actor)
        one = await _request(actor)
        calls = one.reply.tool_calls
        try:
            attachments = await _spoken(actor, one, number, final_passes)
            alive = any("final" not in context.attributes for context in attachments)
            final_passes += alive and not calls
            ended = await _tools(actor, one, last=number == limit - 1)
        finally:
            actor.conversation.close_calls(one.reply)
        for context in attachments:
            if "reset" not in context.attributes:
                actor.conversation.add_context(context.text)
        if ended:
            return Worked(text=one.reply.text, reasoning=one.reasoning, stop_reason="hook_stopped")
        if not calls and not alive:
            return Worked(text=one.reply.text, reasoning=one.reasoning, stop_reason="end_turn")
    return Worked(text=actor.conversation.last("assistant"), reasoning="", stop_reason="max_turns")


async def _request(actor: Actor) -> _Pass:
    """One reply of the model, shown as it comes. What was said before an interruption is kept."""
    said: list[str] = []
    usage: Usage | None = None
    reply = AssistantMessage()
    reason = ""
    tools = [one.tool for one in actor.box.tools.values()]
    actor.requests += 1
    try:
        stream = actor.voice.converse(actor.conversation.messages, tools, system=actor.system)
        async with aclosing(stream) as deltas:
            async for delta in deltas:
                if isinstance(delta, Text):
                    said.append(delta.text)
                    if actor.aloud:
                        actor.screen.text(delta.text)
                elif isinstance(delta, Thinking):
                    if actor.aloud:
                        actor.screen.thinking(delta.text)
                elif isinstance(delta, Usage):
                    usage = delta
                elif isinstance(delta, Done):
                    reply, reason = delta.message, delta.finish_reason
    except asyncio.CancelledError:
        if text := "".join(said):
            actor.conversation.add_reply(AssistantMessage(text=text), None, actor.voice.name, "interrupted")
        raise
    if actor.aloud:
        actor.screen.reply_done()
    actor.conversation.add_reply(reply, usage, actor.voice.name, reason or "end_turn")
    return _Pass(reply=reply, tokens=_counted(actor, usage))


def _counted(actor: Actor, usage: Usage | None) -> Mapping[str, int] | None:
    if usage is None:
        return None
    told = {"input": usage.input, "cached": usage.cached, "output": usage.output, "total": usage.total}
    for name, count in told.items():
        actor.tokens[name] += count
    return told


async def _spoken(actor: Actor, one: _Pass, number: int, final_passes: int) -> list[Context]:
    """AssistantMessage, and what hooks attach to it; a reset takes effect here."""
    fields: dict[str, Any] = {"tokens": dict(one.tokens)} if one.tokens is not None else {}
    decision = await actor.herald.fire(
        "AssistantMessage",
        message=one.reply.text,
        tool_use_done=not one.reply.tool_calls,
        loop_count=number,
        final_pass_count=final_passes,
        preceding_reasoning=one.reasoning or None,
        **fields,
    )
    attachments = hook_output.attached(decision)
    resets = [context.text for context in attachments if "reset" in context.attributes]
    if resets:
        actor.conversation.reset("\n\n".join(resets), keep_reply=True)
    if not one.reply.tool_calls:
        # Between a call and its result nothing may stand, so with calls this comes after them.
        for text in hook_output.beside(decision):
            actor.conversation.add_context(text)
        return attachments
    return [*attachments, *_later(decision)]


def _later(decision: Any) -> list[Context]:
    from hookline.core.result import Context as Later  # only here is one made

    return [Later(text=text, placement="attachment") for text in hook_output.beside(decision)]


async def _tools(actor: Actor, one: _Pass, *, last: bool) -> bool:
    """Run the calls of a reply in their order; whether a hook ended the turn."""
    around = Around(tokens=one.tokens, reasoning=one.reasoning, message=one.reply.text)
    ended = False
    for call in one.reply.tool_calls:
        if last:
            carried = await refuse(actor.box, call, around, _LIMIT_REACHED, "limit_exceeded")
        else:
            carried = await carry_out(actor.box, call, around)
        actor.conversation.add_result(call, carried.text, is_error=carried.is_error)
        ended = ended or carried.ends_turn
        if ended:
            break
    return ended
