"""What a loop tells whoever keeps and shows its conversation: a conversation file, or a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.agent.loop import AgentLoop
    from hookline.agent.message import AssistantMessage, Message, ToolOutput, Usage
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
