"""One turn: ask the model, let the hooks see the reply, run its tools, and ask again while somebody has more to say.

A pass is one request. The turn goes on while the reply calls tools, or a hook attached something that is not
marked final. ``max_tool_use`` counts passes, and hook-driven ones use it up too; two passes later the turn ends
whatever is said.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hookline.host.conversation.records import Attachment, CallRecord, Result, ThoughtRecord
from hookline.host.conversation.replay import NOTHING, result_text
from hookline.host.firing import RunError
from hookline.host.message import (
    AssistantMessage,
    Done,
    Message,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from hookline.host.tool_base import ToolError, check_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookline.host.firing import Firing
    from hookline.host.model import ModelSettings, Voice
    from hookline.host.sink import Sink
    from hookline.host.tool_base import HostTool
    from hookline.result import Decision

DENIED = "Tool use permission denied"
LIMIT_EXCEEDED = "Tool usage limit exceeded, no further tool calls will be allowed"
RUNAWAY = "<error>Runaway tool use!</error>"
#: Passes after the limit in which the model may still say something.
GRACE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one call: ``record`` for the file, ``context`` for the model besides the result."""

    call: ToolCall
    record: CallRecord
    context: tuple[Attachment, ...] = ()


@dataclass(slots=True, kw_only=True)
class Turn:
    """Everything one turn needs, and the tokens it used."""

    firing: Firing
    voice: Voice
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
            if passes > self.max_tool_use + GRACE:
                self.sink.remark(RUNAWAY)
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
        tasks: list[asyncio.Task[Outcome]] = []
        around = {
            "preceding_assistant_message": reply.text,
            "preceding_reasoning": "\n".join(thought.text for thought in reply.thinking),
        }
        try:
            for call in reply.tool_calls:
                one = _Call(turn=self, call=call, tokens=tokens, around=around)
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


@dataclass(slots=True, kw_only=True)
class _Call:
    """One tool call from its guards to its record. Its post event fires exactly once, whatever happens."""

    turn: Turn
    call: ToolCall
    tokens: Mapping[str, Any]
    around: Mapping[str, str]
    began: float = field(default_factory=time.monotonic)
    arguments: Any = None
    failure: ToolError | None = None
    context: list[Attachment] = field(default_factory=list[Attachment])
    reported: bool = False

    @property
    def tool(self) -> HostTool | None:
        return self.turn.tools.get(self.call.name)

    def _data(self) -> dict[str, Any]:
        return {
            "tool_name": self.call.name, "tool_input": self.arguments, "tool_use_id": self.call.id, **self.tokens,
        }  # fmt: skip

    async def prepare(self, *, refused: bool) -> None:
        """Whether the tool may run at all, and with what."""
        self.arguments = self.call.arguments
        tool = self.tool
        try:
            if refused:
                raise ToolError(LIMIT_EXCEEDED, "limit_exceeded")
            if tool is None:
                raise ToolError(f"Unrecognized tool name: {self.call.name}", "unknown_tool")
            if not isinstance(self.arguments, Mapping):
                check_arguments({}, self.arguments)
            await self._ask_hooks()
            check_arguments(tool.told.parameters, self.arguments)
        except ToolError as error:
            self.failure = error
        except asyncio.CancelledError:
            await self._interrupted()
            raise

    async def _ask_hooks(self) -> None:
        decision = await self.turn.firing.fire("PreToolUse", **self._data())
        if decision.effect == "ask":
            decision = await self._permission(decision)
        if decision.effect != "allow":
            raise ToolError(denial(decision.reason), "blocked")
        if decision.modified:
            self.arguments = decision.data["tool_input"]
        self._heard(decision)

    async def _permission(self, asked: Decision) -> Decision:
        """Nobody sits here to be asked: a hook may grant it, and otherwise it is refused."""
        data = {**self._data(), "tool_input": asked.data["tool_input"]}
        decision = await self.turn.firing.fire("PermissionRequest", **data)
        if decision.granted:
            rewritten = asked.modified or decision.modified
            return replace(decision, modified=rewritten, data={**asked.data, **decision.data})
        reason = decision.reason or f"a hook asks for permission, and nobody can be asked: {asked.reason}"
        return replace(decision, effect="deny", reason=reason)

    def _heard(self, decision: Decision) -> None:
        self.context += [one for one in self.turn.firing.said(decision) if isinstance(one, Attachment)]

    async def carry_out(self) -> Outcome:
        results: tuple[Result, ...] = ()
        try:
            if self.failure is None and self.tool is not None:
                results = await self.tool.use(self.arguments)
        except ToolError as error:
            self.failure = error
        except asyncio.CancelledError:
            await self._interrupted()
            raise
        except RunError:
            raise
        except Exception as error:
            self.failure = ToolError(f"{type(error).__name__}: {error}")
        results = await self._report(results)
        return Outcome(call=self.call, record=self._record(results), context=tuple(self.context))

    async def _report(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        self.reported = True
        data = {**self._data(), **self.around, "duration_ms": round((time.monotonic() - self.began) * 1000)}
        if self.failure is not None:
            error = {"type": self.failure.kind, "message": str(self.failure)}
            self._heard(await self.turn.firing.fire("PostToolUseFailure", **data, tool_error=error))
            return (Result(mimetype="text/plain", content=str(self.failure)),)
        output = [{"mimetype": one.mimetype, "content": one.content} for one in results]
        decision = await self.turn.firing.fire("PostToolUse", **data, tool_output=output)
        self._heard(decision)
        return _as_results(decision.data["tool_output"]) if decision.modified else results

    async def _interrupted(self) -> None:
        if not self.reported:
            self.failure = ToolError(self.turn.interruption())
            await self._report(())

    def _record(self, results: tuple[Result, ...]) -> CallRecord:
        tool = self.tool
        return CallRecord(
            name=self.call.name,
            id=self.call.id,
            arguments=self.arguments if isinstance(self.arguments, Mapping) else {},
            results=results,
            is_error=self.failure is not None,
            kind=tool.kind if tool else "",
            icon=tool.icon if tool else "",
            schema=tool.told.parameters if tool else {},
        )


def denial(reason: str) -> str:
    if not reason:
        return DENIED
    return reason if reason.startswith(DENIED) else f"{DENIED}: {reason}"


def _as_results(output: Any) -> tuple[Result, ...]:
    """What a hook made of a tool's output: text, or a list of ``{mimetype, content}``."""
    items = output if isinstance(output, list | tuple) else [output]
    return tuple(
        Result(mimetype=str(item.get("mimetype", "text/plain")), content=str(item.get("content", "")))
        if isinstance(item, Mapping)
        else Result(mimetype="text/plain", content=str(item))
        for item in items
    )
