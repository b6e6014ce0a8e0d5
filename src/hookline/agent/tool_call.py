"""One tool call of a model: its guards, the tool itself, and what is told and recorded of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hookline.agent.conversation.records import Attachment, CallRecord, Result
from hookline.agent.hook_events import RunError
from hookline.agent.tools.base import ToolError, check_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.agent.hook_events import Firing
    from hookline.agent.message import ToolCall
    from hookline.agent.tools.base import HostTool
    from hookline.core.result import Decision

_DENIED = "Tool use permission denied"
_LIMIT_EXCEEDED = "Tool usage limit exceeded, no further tool calls will be allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What became of one call: ``record`` for the file, ``context`` for the model besides the result."""

    call: ToolCall
    record: CallRecord
    context: tuple[Attachment, ...] = ()


@dataclass(slots=True, kw_only=True)
class Calling:
    """One tool call from its guards to its record. Its post event fires exactly once, whatever happens."""

    call: ToolCall
    #: None for a tool that nobody has.
    tool: HostTool | None
    firing: Firing = field(repr=False)
    #: What is told with the call: the tokens of its pass, and what was said before it.
    around: Mapping[str, Any]
    #: What a call that was cut off is told to have failed with.
    interruption: Callable[[], str] = field(repr=False)
    began: float = field(default_factory=time.monotonic)
    arguments: Any = None
    failure: ToolError | None = None
    context: list[Attachment] = field(default_factory=list[Attachment])
    reported: bool = False

    def _data(self) -> dict[str, Any]:
        return {
            "tool_name": self.call.name, "tool_input": self.arguments, "tool_use_id": self.call.id, **self.around,
        }  # fmt: skip

    async def prepare(self, *, refused: bool) -> None:
        """Whether the tool may run at all, and with what."""
        self.arguments = self.call.arguments
        tool = self.tool
        try:
            if refused:
                raise ToolError(_LIMIT_EXCEEDED, "limit_exceeded")
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
        decision = await self.firing.fire("PreToolUse", **self._data())
        if decision.effect == "ask":
            decision = await self._permission(decision)
        if decision.effect != "allow":
            raise ToolError(_denial(decision.reason), "blocked")
        if decision.modified:
            self.arguments = decision.data["tool_input"]
        self._heard(decision)

    async def _permission(self, asked: Decision) -> Decision:
        """Nobody sits here to be asked: a hook may grant it, and otherwise it is refused."""
        data = {**self._data(), "tool_input": asked.data["tool_input"]}
        decision = await self.firing.fire("PermissionRequest", **data)
        if decision.granted:
            rewritten = asked.modified or decision.modified
            return replace(decision, modified=rewritten, data={**asked.data, **decision.data})
        reason = decision.reason or f"a hook asks for permission, and nobody can be asked: {asked.reason}"
        return replace(decision, effect="deny", reason=reason)

    def _heard(self, decision: Decision) -> None:
        self.context += [one for one in self.firing.said(decision) if isinstance(one, Attachment)]

    async def carry_out(self) -> ToolOutcome:
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
        return ToolOutcome(call=self.call, record=self._record(results), context=tuple(self.context))

    async def _report(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        self.reported = True
        data = {**self._data(), "duration_ms": round((time.monotonic() - self.began) * 1000)}
        if self.failure is not None:
            error = {"type": self.failure.kind, "message": str(self.failure)}
            self._heard(await self.firing.fire("PostToolUseFailure", **data, tool_error=error))
            return (Result(mimetype="text/plain", content=str(self.failure)),)
        output = [{"mimetype": one.mimetype, "content": one.content} for one in results]
        decision = await self.firing.fire("PostToolUse", **data, tool_output=output)
        self._heard(decision)
        return _as_results(decision.data["tool_output"]) if decision.modified else results

    async def _interrupted(self) -> None:
        if not self.reported:
            self.failure = ToolError(self.interruption())
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


def _denial(reason: str) -> str:
    if not reason:
        return _DENIED
    return reason if reason.startswith(_DENIED) else f"{_DENIED}: {reason}"


def _as_results(output: Any) -> tuple[Result, ...]:
    """What a hook made of a tool's output: text, or a list of ``{mimetype, content}``."""
    items = output if isinstance(output, list | tuple) else [output]
    return tuple(
        Result(mimetype=str(item.get("mimetype", "text/plain")), content=str(item.get("content", "")))
        if isinstance(item, Mapping)
        else Result(mimetype="text/plain", content=str(item))
        for item in items
    )
