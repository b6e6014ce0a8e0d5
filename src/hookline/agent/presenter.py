"""What an agent loop reports to whoever stores and shows its conversation: a conversation file, or a chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import Attachment, CallRecord, ThoughtRecord
from hookline.agent.conversation.replay import NOTHING, result_text
from hookline.agent.message import AssistantMessage, Message, ToolOutput, ToolResult, Usage, UserMessage

if TYPE_CHECKING:
    from hookline.agent.hook_events import ConversationEvents
    from hookline.agent.loop import AgentLoop
    from hookline.agent.output import BlockWriter
    from hookline.agent.permissions import Answer
    from hookline.agent.tool_call import ToolRun
    from hookline.core.result import Decision


class Presenter:
    """Every method but those that raise may stay as it is here: then nothing is shown or kept."""

    #: The calls of one reply run side by side. Hooks still guard them one after another.
    parallel = False
    #: Why a permission is refused where nobody can be asked.
    unattended = "nobody can be asked here"
    limit_exceeded = "Tool usage limit exceeded, no further tool calls will be allowed"

    @property
    def messages(self) -> Sequence[Message]:
        """What the next request sends."""
        raise NotImplementedError

    async def before_request(self, loop: AgentLoop) -> None: ...

    def text(self, piece: str) -> None:
        """The next piece of the answer."""

    def thinking(self, piece: str) -> None: ...

    def interrupted(self, text: str) -> None:
        """A request was cancelled after this much of the answer."""

    def reply(self, reply: AssistantMessage, usage: Usage | None, finish_reason: str, model: str) -> None:
        raise NotImplementedError

    def reply_fields(self) -> dict[str, Any]:
        """Further fields of the AssistantMessage event."""
        return {}

    def attach(self, decision: Decision, reply: AssistantMessage) -> bool:
        """Add what hooks attached to the reply; whether the model has to answer it."""
        raise NotImplementedError

    async def stopping(self, loop: AgentLoop, reply: AssistantMessage) -> bool:
        """The last reply of a turn; whether a hook wants the loop to go on."""
        del loop, reply
        return False

    def call_begins(self, run: ToolRun) -> None: ...

    def call_done(self, run: ToolRun) -> None:
        raise NotImplementedError

    def event_output(self, outputs: Sequence[ToolOutput]) -> Any:
        """``tool_output`` as hooks see it."""
        raise NotImplementedError

    def refusal(self, decision: Decision) -> str:
        """Why hooks refused."""
        return decision.reason

    def denied(self, reason: str, *, by_hook: bool = False) -> str:
        """What the model reads in place of a result; ``by_hook``: PreToolUse refused the call."""
        raise NotImplementedError

    def interruption(self) -> str:
        """The error of a call that was cancelled."""
        return "Interrupted"

    async def ask(self, run: ToolRun, reason: str) -> Answer | None:
        """Ask a person for a permission; None when there is nobody to ask."""
        del run, reason
        return None

    def close_calls(self, reply: AssistantMessage) -> None:
        """The calls of this reply are over, whatever ended them."""

    def end_pass(self) -> None:
        """Everything about one reply is done."""

    def limit_reached(self) -> None: ...


_RUNAWAY = "<error>Runaway tool use!</error>"
_DENIED = "Tool use permission denied"


@dataclass(slots=True, kw_only=True)
class FilePresenter(Presenter):
    events: ConversationEvents
    output: BlockWriter
    messages: list[Message]  # pyright: ignore[reportIncompatibleMethodOverride]  a field serves as the property
    #: The conversation before this answer, and the line that opens its block.
    head: str = ""
    #: The error of a call that was cancelled.
    cancelled: Callable[[], str] = lambda: "Interrupted"
    log: Callable[[str, Any], None] = lambda _kind, _value: None
    #: Gets the prose of every reply.
    on_reply: Callable[[str], None] = lambda _text: None
    #: What the user wrote; None for a turn without a Stop event (an interlocutor called as a tool).
    prompt: str | None = None
    _attached: list[Attachment] = field(default_factory=list[Attachment])
    _context: list[Attachment] = field(default_factory=list[Attachment])

    parallel = True

    async def before_request(self, loop: AgentLoop) -> None:
        self.log("request", {"model": loop.model.name, "system": loop.system, "messages": self.messages})

    def text(self, piece: str) -> None:
        self.output.prose(piece)

    def reply(self, reply: AssistantMessage, usage: Usage | None, finish_reason: str, model: str) -> None:
        del usage, finish_reason, model
        self.output.end_prose()
        for thought in reply.thinking:
            if thought.text or thought.opaque:
                self.output.record(ThoughtRecord(text=thought.text, provider=thought.provider, opaque=thought.opaque))
        self.log("reply", reply)
        self.on_reply(reply.text)
        if reply.text or reply.tool_calls:
            self.messages.append(reply)

    def reply_fields(self) -> dict[str, Any]:
        return {"conversation": f"{self.head}{self.output.content.rstrip(chr(10))}\n\n:::"}

    def attach(self, decision: Decision, reply: AssistantMessage) -> bool:
        self._attached = self._record(decision)
        resets = tuple(one.content or NOTHING for one in self._attached if one.reset)
        if resets:
            kept = [reply] if reply.text or reply.tool_calls else []
            self.messages[:] = [UserMessage(parts=resets), *kept]
        return any(not one.final for one in self._attached)

    def _record(self, decision: Decision) -> list[Attachment]:
        records = self.events.records(decision)
        for record in records:
            self.output.record(record)
        return [record for record in records if isinstance(record, Attachment)]

    async def stopping(self, loop: AgentLoop, reply: AssistantMessage) -> bool:
        """Hooks of other systems may add context for the next turn, or refuse the end of this one."""
        if self.prompt is None:
            return False
        decision = await loop.events.fire(
            "Stop",
            stop_reason="end_turn",
            user_message=self.prompt.strip(),
            assistant_message=reply.text,
            preceding_reasoning="\n".join(thought.text for thought in reply.thinking),
        )
        self._record(decision)
        if decision.effect != "deny":
            return False
        refusal = Attachment(content=decision.reason or "Go on.", attributes={"name": "Stop"})
        self.output.record(refusal)
        self._attached = [refusal]
        return True

    # ── tools ────────────────────────────────────────────────────────────────────────────────────────

    def call_done(self, run: ToolRun) -> None:
        tool = run.tool
        record = CallRecord(
            name=run.call.name,
            id=run.call.id,
            arguments=run.input,
            results=run.outputs,
            is_error=run.failure is not None,
            kind=tool.kind if tool else "",
            icon=tool.icon if tool else "",
            schema=tool.spec.parameters if tool else {},
        )
        self.output.record(record)
        result = ToolResult(
            id=run.call.id, name=run.call.name, content=result_text(run.outputs), is_error=record.is_error
        )
        self.messages.append(result)
        # The reason of a refusal is the result already.
        shown = [one for one in run.decisions if one.effect != "deny" or one.event.startswith("Post")]
        self._context += [
            one for decision in shown for one in self.events.records(decision) if isinstance(one, Attachment)
        ]

    def event_output(self, outputs: Sequence[ToolOutput]) -> Any:
        return [{"mimetype": one.mimetype, "content": one.content} for one in outputs]

    def denied(self, reason: str, *, by_hook: bool = False) -> str:
        del by_hook
        if not reason:
            return _DENIED
        return reason if reason.startswith(_DENIED) else f"{_DENIED}: {reason}"

    def interruption(self) -> str:
        return self.cancelled()

    def end_pass(self) -> None:
        for record in self._context:
            self.output.record(record)
        for parts in (
            tuple(one.content for one in self._context),
            tuple(one.content or NOTHING for one in self._attached if not one.reset),
        ):
            if parts:
                self.messages.append(UserMessage(parts=parts))
        self._context.clear()

    def limit_reached(self) -> None:
        self.output.remark(_RUNAWAY)
