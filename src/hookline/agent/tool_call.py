"""One tool call, from the model's request to the result that the model gets.

    PreToolUse ─▶ arguments ─▶ permission (rule, hook, person) ─▶ the tool ─▶ PostToolUse or PostToolUseFailure

The permission is judged after PreToolUse, so that it covers the call as it will run. A refused call is a failure of
the kind ``blocked``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.hook_events import RunError
from hookline.agent.message import ToolCall, ToolOutput
from hookline.agent.tools.base import AgentTool, ToolError, check_arguments

if TYPE_CHECKING:
    from hookline.agent.loop import AgentLoop
    from hookline.core.result import Decision


@dataclass(slots=True, kw_only=True)
class ToolRun:
    """``prepare``, then ``finish``. The event after the call fires exactly once, whatever happens."""

    loop: AgentLoop = field(repr=False)
    call: ToolCall
    #: What hooks get with the call: the tokens of its request, and the text and reasoning before it.
    fields: Mapping[str, Any]
    began: float = field(default_factory=time.monotonic)
    duration_ms: int = 0
    arguments: Any = None
    failure: ToolError | None = None
    outputs: tuple[ToolOutput, ...] = ()
    #: Who decided: invalid, denied, allowed, hook denied, hook granted, person denied or person granted.
    verdict: str = "invalid"
    #: All decisions of hooks about this call.
    decisions: list[Decision] = field(default_factory=list["Decision"])
    _reported: bool = False

    def __post_init__(self) -> None:
        self.arguments = self.call.arguments

    @property
    def tool(self) -> AgentTool | None:
        return self.loop.tools.get(self.call.name)

    @property
    def input(self) -> Mapping[str, Any]:
        return self.arguments if isinstance(self.arguments, Mapping) else {}

    @property
    def ends_turn(self) -> bool:
        return any(decision.attributes.get("continue") is False for decision in self.decisions)

    async def prepare(self, *, refuse: bool) -> None:
        """Whether the tool may run, and with which arguments."""
        tool = self.tool
        try:
            if refuse:
                self.verdict = "denied"
                raise ToolError(self.loop.presenter.limit_exceeded, "limit_exceeded")
            self.loop.presenter.call_begins(self)
            if tool is None:
                known = ", ".join(self.loop.tools) or "none"
                raise ToolError(f"unknown tool {self.call.name!r}; known tools: {known}", "unknown_tool")
            if not isinstance(self.arguments, Mapping):
                check_arguments({}, self.arguments)
            await self._guard(tool)
        except ToolError as error:
            self.failure = error
        except asyncio.CancelledError:
            await self._interrupted()
            raise

    async def finish(self) -> None:
        try:
            if self.failure is None and self.tool is not None:
                output = await self.tool.use(self.arguments, self.loop.context)
                self.outputs = (ToolOutput(content=output),) if isinstance(output, str) else output
        except ToolError as error:
            self.failure = error
        except asyncio.CancelledError:
            self.loop.context.stop.set()
            await self._interrupted()
            raise
        except RunError:
            raise
        except Exception as error:
            self.failure = ToolError(f"{type(error).__name__}: {error}", type(error).__name__)
        decision = await self._report()
        self.loop.events.check(decision)

    # ── may it run ───────────────────────────────────────────────────────────────────────────────────

    async def _guard(self, tool: AgentTool) -> None:
        decision = await self._fire("PreToolUse")
        presenter = self.loop.presenter
        if decision.effect == "deny":
            self.verdict = "hook denied"
            raise ToolError(presenter.denied(presenter.refusal(decision), by_hook=True), "blocked")
        check_arguments(tool.spec.parameters, self.arguments)
        judged = self.loop.permissions.judge(tool.name, tool.need, self.arguments, self.loop.context.cwd)
        if decision.effect == "ask":
            judged = "ask"
        elif decision.granted:
            judged, self.verdict = "allow", "hook granted"
            return
        if judged == "allow":
            self.verdict = "allowed"
            return
        await self._get_permission(decision.reason, may_ask=judged == "ask")
        check_arguments(tool.spec.parameters, self.arguments)

    async def _get_permission(self, reason: str, *, may_ask: bool) -> None:
        """Hooks first, then the person. Only a hook that says so grants anything."""
        presenter, permissions = self.loop.presenter, self.loop.permissions
        decision = await self._fire(
            "PermissionRequest", permission={"type": "ask"}, session_permissions=permissions.event_fields()
        )
        if decision.effect == "deny":
            await self._refuse(presenter.refusal(decision), "hook denied")
        if decision.granted:
            self.verdict = "hook granted"
            return
        reason = reason or decision.reason
        if not may_ask:
            await self._refuse("no --allow rule covers it", "denied")
        answer = await presenter.ask(self, reason)
        if answer is None:
            await self._refuse(f"{reason}; {presenter.unattended}" if reason else presenter.unattended, "denied")
        if answer == "no":
            await self._refuse("the user said no", "person denied")
        if answer == "always":
            permissions.remember(self.call.name, self.arguments)
        self.verdict = "person granted"

    async def _refuse(self, reason: str, verdict: str) -> None:
        await self.loop.events.fire("PermissionDenied", **self._data(), reason=reason)
        self.verdict = verdict
        raise ToolError(self.loop.presenter.denied(reason), "blocked")

    # ── events ───────────────────────────────────────────────────────────────────────────────────────

    def _data(self) -> dict[str, Any]:
        return {
            "tool_name": self.call.name, "tool_input": self.arguments, "tool_use_id": self.call.id, **self.fields,
        }  # fmt: skip

    async def _fire(self, event: str, **fields: Any) -> Decision:
        decision = await self.loop.events.fire(event, **self._data(), **fields)
        self.decisions.append(decision)
        if decision.modified and isinstance(changed := decision.data.get("tool_input"), Mapping):
            self.arguments = changed
        return decision

    async def _interrupted(self) -> None:
        """Hooks that saw the call begin see it end; nothing they say can reach the model any more."""
        if not self._reported:
            self.failure = ToolError(self.loop.presenter.interruption(), "abort")
            await self._report()

    async def _report(self) -> Decision:
        self._reported = True
        self.duration_ms = round((time.monotonic() - self.began) * 1000)
        data = {**self._data(), "duration_ms": self.duration_ms}
        if self.failure is not None:
            error = {"type": self.failure.kind, "message": str(self.failure)}
            decision = await self.loop.events.emit("PostToolUseFailure", **data, tool_error=error)
            self.outputs = (ToolOutput(content=str(self.failure)),)
        else:
            shown = self.loop.presenter.event_output(self.outputs)
            decision = await self.loop.events.emit("PostToolUse", **data, tool_output=shown)
            if decision.modified:
                self.outputs = _read_outputs(decision.data["tool_output"])
        self.decisions.append(decision)
        return decision


def _read_outputs(output: Any) -> tuple[ToolOutput, ...]:
    """What a hook made of a tool's output: text, or a list of ``{mimetype, content}``."""
    items = output if isinstance(output, list | tuple) else [output]
    return tuple(
        ToolOutput(mimetype=str(item.get("mimetype", "text/plain")), content=str(item.get("content", "")))
        if isinstance(item, Mapping)
        else ToolOutput(content=str(item))
        for item in items
    )
