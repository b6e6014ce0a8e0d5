"""The agent loop in a chat: the transcript keeps everything that is sent, the screen shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hookline.agent.chat import events
from hookline.agent.chat.conversation import INTERRUPTED, Conversation
from hookline.agent.chat.screen import Screen, ShownCall
from hookline.agent.message import AssistantMessage, Message, ToolOutput, Usage
from hookline.agent.presenter import Presenter

if TYPE_CHECKING:
    from hookline.agent.chat.compaction import Compaction
    from hookline.agent.chat.events import ChatEvents
    from hookline.agent.loop import AgentLoop
    from hookline.agent.permissions import Answer
    from hookline.agent.tool_call import ToolRun
    from hookline.core.result import Decision


@dataclass(slots=True, kw_only=True)
class ChatPresenter(Presenter):
    conversation: Conversation
    events: ChatEvents
    screen: Screen
    compaction: Compaction
    #: The kind of subagent; "" for the main agent. The user sees what a subagent does, not everything it says.
    agent: str = ""
    calls: list[ShownCall] = field(default_factory=list[ShownCall])
    _model: str = ""
    _attached: list[str] = field(default_factory=list[str])

    unattended = "nobody can be asked here; allow it with --allow, or choose another --permission-mode"
    limit_exceeded = "The limit of requests for this turn is reached; the call was not carried out."

    @property
    def messages(self) -> Sequence[Message]:
        return self.conversation.messages

    async def before_request(self, loop: AgentLoop) -> None:
        self._model = loop.model.name
        await self.compaction.if_needed(loop, self)

    def text(self, piece: str) -> None:
        if not self.agent:
            self.screen.text(piece)

    def thinking(self, piece: str) -> None:
        if not self.agent:
            self.screen.thinking(piece)

    def interrupted(self, text: str) -> None:
        if text:
            self.conversation.add_reply(AssistantMessage(text=text), None, self._model, "interrupted")

    def reply(self, reply: AssistantMessage, usage: Usage | None, finish_reason: str, model: str) -> None:
        if not self.agent:
            self.screen.reply_done()
        self.conversation.add_reply(reply, usage, model, finish_reason or "end_turn")

    def attach(self, decision: Decision, reply: AssistantMessage) -> bool:
        attachments = events.attachments(decision)
        resets = [context.text for context in attachments if "reset" in context.attributes]
        if resets:
            self.conversation.reset("\n\n".join(resets), keep_reply=True)
        self._attached = [context.text for context in attachments if "reset" not in context.attributes]
        contexts = events.context_messages(decision)
        if reply.tool_calls:
            # Nothing may come between a call and its result, so with calls this comes after them.
            self._attached += contexts
        else:
            for text in contexts:
                self.conversation.add_context(text)
        return any("final" not in context.attributes for context in attachments)

    # ── tools ────────────────────────────────────────────────────────────────────────────────────────

    def call_begins(self, run: ToolRun) -> None:
        self.screen.call_begins(run.call.name, run.input, self.agent)

    def call_done(self, run: ToolRun) -> None:
        text = self.event_output(run.outputs) + events.after_tool(run.decisions)
        is_error = run.failure is not None
        shown = ShownCall(
            id=run.call.id,
            name=run.call.name,
            input=dict(run.input),
            output=text,
            is_error=is_error,
            duration_ms=run.duration_ms,
            decision=run.verdict,
        )
        self.calls.append(shown)
        self.screen.call_done(shown, self.agent)
        self.conversation.add_result(run.call, text, is_error=is_error)

    def event_output(self, outputs: Sequence[ToolOutput]) -> str:
        return "\n".join(
            f"({one.mimetype}, which cannot be shown here)" if one.content.startswith("data:") else one.content
            for one in outputs
        )

    def refusal(self, decision: Decision) -> str:
        return events.refusals(decision)

    def denied(self, reason: str, *, by_hook: bool = False) -> str:
        return events.tool_blocked(reason) if by_hook else events.permission_denied(reason)

    def interruption(self) -> str:
        return INTERRUPTED

    async def ask(self, run: ToolRun, reason: str) -> Answer | None:
        self.events.notify(f"Approval needed: {run.call.name}", "warning", "permission_prompt")
        return await self.screen.ask(run.call.name, run.input, reason)

    def close_calls(self, reply: AssistantMessage) -> None:
        self.conversation.close_calls(reply)

    def end_pass(self) -> None:
        for text in self._attached:
            self.conversation.add_context(text)
        self._attached.clear()
