"""pydantic-ai: a capability of the agent."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelRetry, ToolFailed

from hookline.sdk.hooks import Hooks, PromptRefused, SdkToolCall, SdkVerdict, as_text, prompt_verdict, with_context


def pydantic_ai_capability(*, hooks: Hooks | None = None, **options: Any) -> AbstractCapability[Any]:
    """For ``Agent(…, capabilities=[…])``. Tools of MCP servers and toolsets come through it too; tools that run at the
    provider (``native_tools``) do not."""
    return _Capability(hooks or Hooks(agent="pydantic-ai", **options))


class _Capability(AbstractCapability[Any]):
    def __init__(self, hooks: Hooks, session: str = "") -> None:
        super().__init__()
        self._hooks = hooks
        self._session = session
        self._context = ""
        self._continuations = 0
        #: The verdicts on calls that were checked and have not run yet.
        self._verdicts: dict[str, tuple[SdkToolCall, SdkVerdict]] = {}

    async def for_run(self, ctx: Any) -> AbstractCapability[Any]:
        return _Capability(self._hooks, ctx.conversation_id or ctx.run_id or uuid4().hex)

    def get_instructions(self) -> Any:
        return lambda _ctx: self._context or None

    async def before_run(self, ctx: Any) -> None:
        if ctx.prompt is None:
            return
        event = self._hooks.prompt_event(self._session, as_text(ctx.prompt))
        verdict = prompt_verdict(event, await self._hooks.fire(event))
        if verdict.refusal:
            raise PromptRefused(verdict.refusal)
        self._context = verdict.context

    async def before_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        """Before validation, so that rewritten arguments are validated too."""
        try:
            given = json.loads(args or "{}") if isinstance(args, str) else dict(args)
        except ValueError:
            return args  # validation refuses it
        checked = SdkToolCall(session=self._session, name=call.tool_name, args=given, id=call.tool_call_id)
        verdict = await self._hooks.before_tool(checked)
        self._verdicts[call.tool_call_id] = (checked, verdict)
        return args if verdict.refusal or verdict.value == given else verdict.value

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        checked, before = self._verdicts.pop(call.tool_call_id, (None, None))
        if checked is None or before is None:
            raise ToolFailed("hookline failed: this call was not checked")
        if before.refusal:
            raise ToolFailed(before.refusal)
        try:
            output = await handler(args)
        except Exception as error:
            await self._hooks.tool_failed(checked, error)
            raise
        after = await self._hooks.after_tool(checked, output, before)
        if after.refusal:
            raise ToolFailed(after.refusal)
        return with_context(as_text(after.value), after.context) if after.context else after.value

    async def after_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        """A refused Stop is a retry, which counts against the agent's ``retries``."""
        if not ctx.partial_output:
            event = self._hooks.stop_event(self._session, as_text(output), self._continuations)
            decision = await self._hooks.fire(event)
            if decision.effect == "deny":
                self._continuations += 1
                raise ModelRetry(decision.refusal_text)
        return output
