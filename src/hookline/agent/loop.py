"""One turn: ask the model, let the hooks see the reply, run its tools, and ask again while somebody has more to say.

A pass is one request. The turn goes on while the reply calls tools, or a hook attached something that is not
marked final. ``max_tool_use`` counts passes, and hook-driven ones use it up too; two passes later the turn ends
whatever is said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import Attachment, ThoughtRecord
from hookline.agent.conversation.replay import NOTHING, result_text
from hookline.agent.message import AssistantMessage, Done, Message, Text, ToolResult, Usage, UserMessage
from hookline.agent.tool_call import Calling, ToolOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookline.agent.hook_events import Firing
    from hookline.agent.model import ModelClient, ModelSettings
    from hookline.agent.output import Sink
    from hookline.agent.tools.base import HostTool

_RUNAWAY = "<error>Runaway tool use!</error>"
#: Passes after the limit in which the model may still say something.
_GRACE = 2


@dataclass(slots=True, kw_only=True)
class Turn:
    """Everything one turn needs, and the tokens it used."""

    firing: Firing
    voice: ModelClient
    sink: Sink
    tools: Mapping[str, HostTool]
    system: str
    settings: ModelSettings
    max_tool_use: int = 10
    #: The conversation before this answer and the line that opens its block.
    head: str = ""
    #: What a call that was cut off is told to have failed with.
    interruption: Callable[[], str] = lambda: "Interrupted"
    log: Callable[[str, Any], None] = lambda _kind, _value: None
    #: Hears the prose of every pass.
    on_reply: Callable[[str], None] = lambda _text: None
    #: What the person said; None for a turn whose end is nobody's event (an interlocutor called as a tool).
    prompt: str | None = None
    tokens: dict[str, int] = field(default_factory=dict[str, int])

    async def play(self, messages: list[Message]) -> None:
        passes = kept_alive = 0
        while True:
            reply, tokens = await self._request(messages)
            done = not reply.tool_calls
            decision = await self.firing.fire(
                "AssistantMessage",
                message=reply.text,
                tool_use_done=done,
                loop_count=passes,
                final_pass_count=kept_alive,
                conversation=f"{self.head}{self.sink.content.rstrip(chr(10))}\n\n:::",
                **tokens,
            )
            records = self.firing.said(decision)
            attached = [record for record in records if isinstance(record, Attachment)]
            alive = any(not one.final for one in attached)
            for record in records:
                self.sink.record(record)
            if done and not alive:
                attached = await self._sent_back(reply)
                alive = bool(attached)
                if not alive:
                    return
            kept_alive += int(alive and done)
            passes += 1
            if passes > self.max_tool_use + _GRACE:
                self.sink.remark(_RUNAWAY)
                return
            resets = tuple(one.content or NOTHING for one in attached if one.reset)
            if resets:
                messages[:] = [UserMessage(parts=resets)]
            if reply.text or reply.tool_calls:
                messages.append(reply)
            messages += await self._use_tools(reply, tokens, refused=passes > self.max_tool_use)
            told = tuple(one.content or NOTHING for one in attached if not one.reset)
            if told:
                messages.append(UserMessage(parts=told))

    async def _sent_back(self, reply: AssistantMessage) -> list[Attachment]:
        """Other systems have a word at the end of a turn: what they add is kept for the next one, and a refusal lets
        this one go on with its reason."""
        if self.prompt is None:
            return []
        decision = await self.firing.fire(
            "Stop",
            stop_reason="end_turn",
            user_message=self.prompt.strip(),
            assistant_message=reply.text,
            preceding_reasoning="\n".join(thought.text for thought in reply.thinking),
        )
        for record in self.firing.said(decision):
            self.sink.record(record)
        if decision.effect != "deny":
            return []
        refusal = Attachment(content=decision.reason or "Go on.", attributes={"name": "Stop"})
        self.sink.record(refusal)
        return [refusal]

    # ── the model ────────────────────────────────────────────────────────────────────────────────────

    async def _request(self, messages: Sequence[Message]) -> tuple[AssistantMessage, dict[str, Any]]:
        """The reply, streamed out as it comes, and its tokens if the provider told them."""
        self.log("request", {"model": self.voice.name, "system": self.system, "messages": messages})
        told = [tool.told for tool in self.tools.values()]
        reply, tokens = AssistantMessage(), dict[str, Any]()
        asked = self.voice.converse(messages, told, system=self.system, settings=self.settings)
        async with aclosing(asked) as deltas:
            async for delta in deltas:
                if isinstance(delta, Text):
                    self.sink.prose(delta.text)
                elif isinstance(delta, Usage):
                    tokens = {"tokens": self._counted(delta)}
                elif isinstance(delta, Done):
                    reply = delta.message
        self.sink.end_prose()
        for thought in reply.thinking:
            if thought.text or thought.opaque:
                self.sink.record(ThoughtRecord(text=thought.text, provider=thought.provider, opaque=thought.opaque))
        self.log("reply", reply)
        self.on_reply(reply.text)
        return reply, tokens

    def _counted(self, usage: Usage) -> dict[str, int]:
        told = {"input": usage.input, "cached": usage.cached, "output": usage.output, "total": usage.total}
        for key, number in told.items():
            self.tokens[key] = self.tokens.get(key, 0) + number
        return told

    # ── tools ────────────────────────────────────────────────────────────────────────────────────────

    async def _use_tools(self, reply: AssistantMessage, tokens: Mapping[str, Any], *, refused: bool) -> list[Message]:
        """All calls of a reply side by side; their guards one after another, their records in call order."""
        tasks: list[asyncio.Task[ToolOutcome]] = []
        around = {
            "preceding_assistant_message": reply.text,
            "preceding_reasoning": "\n".join(thought.text for thought in reply.thinking),
        }
        try:
            for call in reply.tool_calls:
                one = Calling(
                    call=call,
                    tool=self.tools.get(call.name),
                    firing=self.firing,
                    around={**tokens, **around},
                    interruption=self.interruption,
                )
                await one.prepare(refused=refused)
                tasks.append(asyncio.create_task(one.carry_out()))
            outcomes = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                if not task.cancelling():
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        for outcome in outcomes:
            self.sink.record(outcome.record)
        context = [one for outcome in outcomes for one in outcome.context]
        for record in context:
            self.sink.record(record)
        results: list[Message] = [
            ToolResult(
                id=outcome.call.id,
                name=outcome.call.name,
                content=result_text(outcome.record.results),
                is_error=outcome.record.is_error,
            )
            for outcome in outcomes
        ]
        return [*results, UserMessage(parts=tuple(one.content for one in context))] if context else results
