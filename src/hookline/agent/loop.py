"""The agent loop: ask the model, let hooks see its reply, run its tools, and repeat until nobody has more to say.

A pass is one request. The loop goes on while the reply calls tools, or while a hook attached something that is not
marked ``final``. What is kept and shown is the presenter's business: a conversation file or a chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.hook_events import EventEmitter
from hookline.agent.message import AssistantMessage, Text, Thinking, Usage
from hookline.agent.model import ModelClient, ModelSettings
from hookline.agent.permissions import Permissions
from hookline.agent.presenter import Presenter
from hookline.agent.tool_call import ToolRun
from hookline.agent.tools.base import AgentTool, ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """``stop_reason``: end_turn, max_turns or hook_stopped."""

    text: str
    reasoning: str
    stop_reason: str


@dataclass(slots=True, kw_only=True)
class AgentLoop:
    """One agent with everything it needs, and what it used so far."""

    events: EventEmitter
    model: ModelClient
    presenter: Presenter
    tools: Mapping[str, AgentTool]
    context: ToolContext
    permissions: Permissions = field(default_factory=lambda: Permissions(mode="all"))
    system: str
    settings: ModelSettings = field(default_factory=ModelSettings)
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    requests: int = 0

    async def run(self, *, limit: int, tool_limit: int) -> LoopResult:
        """At most ``limit`` requests; tool calls are refused from request ``tool_limit`` on."""
        kept_alive, text = 0, ""
        for number in range(limit):
            await self.presenter.before_request(self)
            reply, tokens = await self._request()
            reasoning = "\n".join(thought.text for thought in reply.thinking if thought.text)
            text = reply.text or text
            done = not reply.tool_calls
            before = {"preceding_reasoning": reasoning, "preceding_assistant_message": reply.text}
            try:
                decision = await self.events.fire(
                    "AssistantMessage",
                    message=reply.text,
                    tool_use_done=done,
                    loop_count=number,
                    final_pass_count=kept_alive,
                    preceding_reasoning=reasoning or None,
                    **tokens,
                    **self.presenter.reply_fields(),
                )
                alive = self.presenter.attach(decision, reply) or (
                    done and await self.presenter.stopping(self, reply)
                )  # fmt: skip
                kept_alive += alive and done
                fields = {**tokens, **{name: value for name, value in before.items() if value}}
                ended = await self._use_tools(reply, fields, refuse=number >= tool_limit)
            finally:
                self.presenter.close_calls(reply)
            self.presenter.end_pass()
            if ended or (done and not alive):
                reason = "hook_stopped" if ended else "end_turn"
                return LoopResult(text=reply.text, reasoning=reasoning, stop_reason=reason)
        self.presenter.limit_reached()
        return LoopResult(text=text, reasoning="", stop_reason="max_turns")

    async def _request(self) -> tuple[AssistantMessage, dict[str, Any]]:
        """The reply, shown as it comes, and its tokens if the provider counts them."""
        pieces: list[str] = []
        usage: Usage | None = None
        reply, reason = AssistantMessage(), ""
        self.requests += 1
        specs = [tool.spec for tool in self.tools.values()]
        stream = self.model.converse(self.presenter.messages, specs, system=self.system, settings=self.settings)
        try:
            async with aclosing(stream) as deltas:
                async for delta in deltas:
                    if isinstance(delta, Text):
                        pieces.append(delta.text)
                        self.presenter.text(delta.text)
                    elif isinstance(delta, Thinking):
                        self.presenter.thinking(delta.text)
                    elif isinstance(delta, Usage):
                        usage = delta
                    else:
                        reply, reason = delta.message, delta.finish_reason
        except asyncio.CancelledError:
            self.presenter.interrupted("".join(pieces))
            raise
        self.presenter.reply(reply, usage, reason, self.model.name)
        return reply, {"tokens": self._count(usage)} if usage is not None else {}

    def _count(self, usage: Usage) -> dict[str, int]:
        counts = {"input": usage.input, "cached": usage.cached, "output": usage.output, "total": usage.total}
        for name, count in counts.items():
            self.tokens[name] = self.tokens.get(name, 0) + count
        return counts

    async def _use_tools(self, reply: AssistantMessage, fields: Mapping[str, Any], *, refuse: bool) -> bool:
        """Run the calls of a reply; whether a hook ended the turn."""
        runs = [ToolRun(loop=self, call=call, fields=fields) for call in reply.tool_calls]
        if self.presenter.parallel:
            await self._run_parallel(runs, refuse=refuse)
            for run in runs:
                self.presenter.call_done(run)
            return any(run.ends_turn for run in runs)
        for run in runs:
            await run.prepare(refuse=refuse)
            await run.finish()
            self.presenter.call_done(run)
            if run.ends_turn:
                return True
        return False

    async def _run_parallel(self, runs: list[ToolRun], *, refuse: bool) -> None:
        """Guards run one after another, tools side by side."""
        tasks: list[asyncio.Task[None]] = []
        try:
            for run in runs:
                await run.prepare(refuse=refuse)
                tasks.append(asyncio.create_task(run.finish()))
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                if not task.cancelling():
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
