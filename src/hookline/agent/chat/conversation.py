"""A live conversation: the messages of the next request, and the transcript that keeps everything."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from hookline.agent.chat.replay import TranscriptState, history_entry, put_before_reply
from hookline.agent.chat.transcript import Transcript
from hookline.agent.message import AssistantMessage, Message, ToolCall, ToolResult, Usage, UserMessage
from hookline.core._dataclass import dataclass, field

#: Finish reasons of providers, as transcripts name them.
_STOP_REASONS = {"stop": "end_turn", "tool_call": "tool_use", "length": "max_tokens"}

INTERRUPTED = "The tool call was interrupted before it gave a result."


@dataclass(slots=True, kw_only=True)
class Conversation:
    """Every message goes through here, so that nothing is sent that is not in the transcript first."""

    transcript: Transcript
    messages: list[Message] = field(default_factory=list[Message])
    #: ``{role, text, time, meta}`` as events carry it: prompts and replies, without contexts.
    history: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    #: Typed user turns so far.
    turns: int = 0
    tool_calls: int = 0
    #: Tokens of the latest request and its reply.
    size: int = 0
    _reply: str = ""

    @classmethod
    def resumed(cls, transcript: Transcript, found: TranscriptState) -> Conversation:
        """A call without a result gets one that says it was interrupted: providers require one."""
        self = cls(transcript=transcript, messages=found.messages, history=found.history, size=found.size)
        self.tool_calls = found.tool_calls
        self.turns = sum(1 for entry in found.history if entry["role"] == "user" and "meta" not in entry)
        for name, tool in found.open_calls.items():
            self.add_result(ToolCall(id=name, name=tool, arguments={}), INTERRUPTED, is_error=True)
        return self

    @property
    def length(self) -> int:
        """Messages as people count them: all replies of one turn are one message."""
        roles = [entry["role"] for entry in self.history]
        return sum(1 for place, role in enumerate(roles) if role == "user" or place == 0 or roles[place - 1] == "user")

    def last(self, role: str) -> str:
        return next((entry["text"] for entry in reversed(self.history) if entry["role"] == role), "")

    def add_prompt(self, text: str, *, auto: bool = False, meta: bool = False) -> None:
        """What the user typed, or what was submitted for them."""
        now = time.time()
        marks: dict[str, Any] = {"autoSubmit": True} if auto else {}
        if meta:
            marks["isMeta"] = True
        self.transcript.append("user", now, message={"role": "user", "content": text}, **marks)
        self.messages.append(UserMessage(parts=(text,)))
        self.history.append(history_entry("user", text, now, auto=auto))
        self._grow(text)

    def add_context(self, text: str) -> None:
        """Text for the model that nobody typed."""
        content = {"role": "user", "content": text}
        self.transcript.append("user", time.time(), message=content, isMeta=True)
        self.messages.append(UserMessage(parts=(text,)))
        self._grow(text)

    def add_reply(self, reply: AssistantMessage, usage: Usage | None, model: str, stop_reason: str) -> None:
        now = time.time()
        message: dict[str, Any] = {
            "id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": model,
            "content": _blocks(reply), "stop_reason": _STOP_REASONS.get(stop_reason, stop_reason),
        }  # fmt: skip
        if usage is not None:
            self.size = usage.total
            message["usage"] = {
                "input_tokens": usage.input - usage.cached,
                "cache_read_input_tokens": usage.cached,
                "output_tokens": usage.output,
            }
        self._reply = self.transcript.append("assistant", now, message=message)
        self.messages.append(reply)
        if reply.text:
            self.history.append(history_entry("assistant", reply.text, now))

    def add_to_reply(self, text: str) -> None:
        """Text in front of the latest answer, inside it: the model takes it for something that it knew."""
        self.transcript.append("system", time.time(), subtype="reply_context", content=text, isMeta=True)
        put_before_reply(self.messages, text)
        self._grow(text)

    def add_result(self, call: ToolCall, text: str, *, is_error: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": is_error}
        self.transcript.append("user", time.time(), message={"role": "user", "content": [block]})
        self.messages.append(ToolResult(id=call.id, name=call.name, content=text, is_error=is_error))
        self.tool_calls += 1
        self._grow(text)

    def _grow(self, text: str) -> None:
        """Until the provider counts again with the next request, add an estimate to its last count."""
        if self.size:
            self.size += len(text) // 4

    def close_calls(self, reply: AssistantMessage) -> None:
        """After an interruption: no call may be left without a result."""
        # Only what came after the reply: some providers reuse ids in every reply.
        place = next((at for at in range(len(self.messages) - 1, -1, -1) if self.messages[at] is reply), 0)
        answered = {message.id for message in self.messages[place:] if isinstance(message, ToolResult)}
        for call in reply.tool_calls:
            if call.id not in answered:
                self.add_result(call, INTERRUPTED, is_error=True)

    def close_last_calls(self) -> None:
        """After a result that could not be written to the transcript."""
        last = next((one for one in reversed(self.messages) if isinstance(one, AssistantMessage)), None)
        if last is not None and last.tool_calls:
            self.close_calls(last)

    def reset(self, text: str, *, keep_reply: bool) -> None:
        """Start the context anew with ``text``; the latest reply may stay, since its calls need their results."""
        keeps = self._reply if keep_reply else ""
        self.transcript.append("system", time.time(), subtype="reset", content=text, keeps=keeps, isMeta=True)
        kept = self.messages[-1:] if keep_reply and self.messages else []
        self.messages[:] = [*([UserMessage(parts=(text,))] if text else []), *kept]
        self.size = 0

    def compacted(self, summary: str, trigger: str, before: int, kept: Sequence[UserMessage] = ()) -> None:
        """Replace everything so far by its summary and by what is ``kept`` word for word; the
        transcript keeps all of it."""
        details = {"trigger": trigger, "preTokens": before}
        self.transcript.append(
            "system", time.time(), subtype="compact_boundary", content="Conversation compacted",
            compactMetadata=details, isMeta=False,
        )  # fmt: skip
        message = {"role": "user", "content": summary}
        self.transcript.append("user", time.time(), message=message, isCompactSummary=True, isMeta=True)
        self.messages[:] = [UserMessage(parts=(summary,))]
        self.size = 0
        for one in kept:
            self.add_context("\n\n".join(one.parts))


def _blocks(reply: AssistantMessage) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": thought.text, "provider": thought.provider, **thought.opaque}
        for thought in reply.thinking
    ]
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in reply.tool_calls
    ]
    return blocks
