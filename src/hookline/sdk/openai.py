"""OpenAI Agents SDK: an agent whose tools, MCP servers and handoffs pass the hooks."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4
from weakref import finalize

from agents import Agent, FunctionTool, GuardrailFunctionOutput, Handoff, InputGuardrail, OutputGuardrail
from agents.mcp import MCPServer
from mcp.types import CallToolResult

from hookline.core.errors import UsageError
from hookline.sdk.hooks import Hooks, SdkToolCall, SdkVerdict, as_text, prompt_verdict, with_context


def openai_agent(
    agent: Agent[Any], *, unguarded: Iterable[str] = (), hooks: Hooks | None = None, **options: Any
) -> Agent[Any]:
    """A copy of the agent, and of those that it hands off to. An agent that is used as a tool must be wrapped before
    ``as_tool``. Tools that are no functions run where hooks cannot see them: they are refused here, unless ``unguarded``
    has their names."""
    return _Guard(hooks or Hooks(agent="openai-agents", **options), frozenset(unguarded)).agent(agent)


@dataclasses.dataclass(slots=True)
class _Run:
    session: str = dataclasses.field(default_factory=lambda: uuid4().hex)
    #: What hooks tell the model about the prompt.
    context: str = ""


class _Guard:
    def __init__(self, hooks: Hooks, unguarded: frozenset[str]) -> None:
        self._hooks = hooks
        self._unguarded = unguarded
        #: Agents hand off to one another in circles.
        self._agents: dict[int, Agent[Any]] = {}
        self._runs: dict[int, _Run] = {}

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        if id(agent) in self._agents:
            return self._agents[id(agent)]
        guarded = self._agents[id(agent)] = agent.clone(
            tools=[self._tool(tool) for tool in agent.tools],
            mcp_servers=[_GuardedServer(server, self._hooks) for server in agent.mcp_servers],
            instructions=self._instructions(agent.instructions),
            input_guardrails=[self._prompt_guardrail(), *agent.input_guardrails],
            output_guardrails=[*agent.output_guardrails, self._stop_guardrail()],
            handoffs=[],
        )
        guarded.handoffs = [self._handoff(one) for one in agent.handoffs]
        return guarded

    def _handoff(self, target: Any) -> Any:
        if not isinstance(target, Handoff):
            return self.agent(target)
        invoke = target.on_invoke_handoff

        async def guarded(context: Any, arguments: str) -> Any:
            return self.agent(await invoke(context, arguments))

        return dataclasses.replace(target, on_invoke_handoff=guarded)

    def _tool(self, tool: Any) -> Any:
        if not isinstance(tool, FunctionTool):
            if tool.name in self._unguarded:
                return tool
            msg = (
                f"the tool {tool.name!r} ({type(tool).__name__}) does not run through functions, so hooks cannot check"
                f" it; to use it without hooks: openai_agent(…, unguarded=[{tool.name!r}])"
            )
            raise UsageError(msg)
        invoke = tool.on_invoke_tool

        async def guarded(context: Any, arguments: str) -> Any:
            return await self._run(tool.name, invoke, context, arguments)

        return dataclasses.replace(tool, on_invoke_tool=guarded)

    async def _run(self, name: str, invoke: Any, context: Any, arguments: str) -> Any:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            return await invoke(context, arguments)  # which refuses it
        call_id = str(getattr(context, "tool_call_id", ""))
        call = SdkToolCall(session=self._of(context).session, name=name, args=given, id=call_id)
        before = await self._hooks.before_tool(call)
        if before.refusal:
            return before.refusal
        try:
            output = await invoke(context, json.dumps(before.value) if before.value != given else arguments)
        except Exception as error:
            await self._hooks.tool_failed(call, error)
            raise
        return _finish(await self._hooks.after_tool(call, output, before))

    def _of(self, context: Any) -> _Run:
        """Each tool call has a context of its own; what all of a run share is the count of tokens."""
        key = id(context.usage)
        if key not in self._runs:
            self._runs[key] = _Run()
            finalize(context.usage, self._runs.pop, key, None)
        return self._runs[key]

    def _instructions(self, own: Any) -> Any:
        async def instructions(context: Any, agent: Any) -> str:
            text = own(context, agent) if callable(own) else own
            text = await text if inspect.isawaitable(text) else text
            return "\n\n".join(part for part in (text, self._of(context).context) if part)

        return instructions

    def _prompt_guardrail(self) -> InputGuardrail[Any]:
        async def hookline(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
            event = self._hooks.prompt_event(self._of(context).session, _prompt_text(given))
            verdict = prompt_verdict(event, await self._hooks.fire(event))
            self._of(context).context = verdict.context
            return GuardrailFunctionOutput(output_info=verdict.refusal, tripwire_triggered=bool(verdict.refusal))

        return InputGuardrail(guardrail_function=hookline, run_in_parallel=False)

    def _stop_guardrail(self) -> OutputGuardrail[Any]:
        async def hookline(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
            await self._hooks.fire(self._hooks.stop_event(self._of(context).session, as_text(output)))
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

        return OutputGuardrail(guardrail_function=hookline)


class _GuardedServer(MCPServer):
    """The same server, whose calls pass the hooks."""

    def __init__(self, server: MCPServer, hooks: Hooks) -> None:
        vars(self).update(vars(server))  # its options: what the SDK asks of a server besides calling it
        self._server: Any = server
        self._hooks = hooks

    @property
    def name(self) -> str:
        return str(self._server.name)

    async def connect(self) -> None:
        await self._server.connect()

    async def cleanup(self) -> None:
        await self._server.cleanup()

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        return await self._server.list_tools(*args, **kwargs)

    async def list_prompts(self, *args: Any, **kwargs: Any) -> Any:
        return await self._server.list_prompts(*args, **kwargs)

    async def get_prompt(self, *args: Any, **kwargs: Any) -> Any:
        return await self._server.get_prompt(*args, **kwargs)

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:
        call = SdkToolCall(session="", name=f"mcp__{self.name}__{tool_name}", args=arguments or {})
        before = await self._hooks.before_tool(call)
        if before.refusal:
            return _mcp_result(before.refusal, is_error=True)
        result = await self._server.call_tool(tool_name, before.value, meta)
        after = await self._hooks.after_tool(call, _mcp_text(result), before)
        if after.refusal:
            return _mcp_result(after.refusal, is_error=True)
        if after.value == _mcp_text(result) and not after.context:
            return result
        return _mcp_result(_finish(after))


def _finish(after: SdkVerdict) -> Any:
    if after.refusal or not after.context:
        return after.refusal or after.value
    return with_context(as_text(after.value), after.context)


def _mcp_text(result: Any) -> str:
    return "\n".join(getattr(part, "text", "") for part in result.content)


def _mcp_result(text: str, *, is_error: bool = False) -> CallToolResult:
    """By the protocol's names: the class has others in each version of its package."""
    return CallToolResult.model_validate({"content": [{"type": "text", "text": text}], "isError": is_error})


def _prompt_text(given: Any) -> str:
    if isinstance(given, str):
        return given
    last = next((item for item in reversed(given) if isinstance(item, dict) and item.get("role") == "user"), {})
    return as_text(last.get("content", ""))
