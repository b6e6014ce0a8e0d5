"""LangChain and LangGraph: a middleware of the agent, or the node that runs tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.prebuilt import ToolNode

from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.sdk.hooks import Hooks, SdkToolCall, SdkVerdict, as_text, prompt_verdict, with_context


def langchain_middleware(*, hooks: Hooks | None = None, **options: Any) -> AgentMiddleware[Any, Any]:
    """For ``create_agent(…, middleware=[…])``."""
    return _Middleware(hooks or Hooks(agent="langchain", **options))


def langgraph_tool_node(tools: Sequence[Any], *, hooks: Hooks | None = None, config: Any = None, cwd: Any = None,
                        ask: Any = None, **node: Any) -> ToolNode:  # fmt: skip
    """A ``ToolNode`` whose calls pass the hooks; ``node`` are its own options. A graph that is put together by hand has no
    place for prompts and ends."""
    calls = _Calls(hooks or Hooks(agent="langgraph", config=config, cwd=cwd, ask=ask))
    return ToolNode(tools, wrap_tool_call=calls.wrap_tool_call, awrap_tool_call=calls.awrap_tool_call, **node)


class _Calls:
    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        call = _call(request)
        before = self._hooks.before_tool_sync(call)
        if before.refusal:
            return _refusal(request, before.refusal)
        try:
            result = handler(_changed(request, before))
        except Exception as error:
            self._hooks.tool_failed_sync(call, error)
            raise
        if not isinstance(result, ToolMessage):
            return result
        return _finish(request, result, self._hooks.after_tool_sync(call, _content(result), before))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        call = _call(request)
        before = await self._hooks.before_tool(call)
        if before.refusal:
            return _refusal(request, before.refusal)
        try:
            result = await handler(_changed(request, before))
        except Exception as error:
            await self._hooks.tool_failed(call, error)
            raise
        if not isinstance(result, ToolMessage):
            return result
        return _finish(request, result, await self._hooks.after_tool(call, _content(result), before))


class _Middleware(_Calls, AgentMiddleware[Any, Any]):
    """Prompts and ends are events too."""

    def __init__(self, hooks: Hooks) -> None:
        AgentMiddleware.__init__(self)
        _Calls.__init__(self, hooks)

    @property
    def name(self) -> str:
        return "hookline"

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        event = self._prompt(state, runtime)
        return None if event is None else _begin(state, event, self._hooks.fire_sync(event))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        event = self._prompt(state, runtime)
        return None if event is None else _begin(state, event, await self._hooks.fire(event))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return _end(self._hooks.fire_sync(self._stop(state, runtime)))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return _end(await self._hooks.fire(self._stop(state, runtime)))

    def _prompt(self, state: Any, runtime: Any) -> Event | None:
        last = state["messages"][-1] if state["messages"] else None
        return (
            self._hooks.prompt_event(_session(state, runtime), _content(last))
            if isinstance(last, HumanMessage)
            else None
        )

    def _stop(self, state: Any, runtime: Any) -> Event:
        messages = state["messages"]
        said = next((_content(one) for one in reversed(messages) if isinstance(one, AIMessage)), "")
        sent_back = messages[next((n for n in range(len(messages) - 1, -1, -1) if _is_typed(messages[n])), 0) :]
        count = sum(1 for one in sent_back if _is_ours(one))
        return self._hooks.stop_event(_session(state, runtime), said, count)


#: Marks a message that sends the agent on.
_MARK = "hookline_stop"


def _is_ours(message: Any) -> bool:
    return isinstance(message, HumanMessage) and bool(message.additional_kwargs.get(_MARK))


def _is_typed(message: Any) -> bool:
    return isinstance(message, HumanMessage) and not _is_ours(message)


def _begin(state: Any, event: Event, decision: Decision) -> dict[str, Any] | None:
    verdict = prompt_verdict(event, decision, rewrites=True)
    if verdict.refusal:
        return {"messages": [AIMessage(content=verdict.refusal)], "jump_to": "end"}
    last = state["messages"][-1]
    changed = [last.model_copy(update={"content": verdict.value})] if verdict.value != event.data["prompt"] else []
    more = [SystemMessage(content=verdict.context)] if verdict.context else []
    return {"messages": [*changed, *more]} if changed or more else None


def _end(decision: Decision) -> dict[str, Any] | None:
    if decision.effect != "deny":
        return None
    message = HumanMessage(content=decision.refusal_text, additional_kwargs={_MARK: True})
    return {"messages": [message], "jump_to": "model"}


def _session(state: Any, runtime: Any) -> str:
    """A thread is a conversation; without one, its first message stands for it."""
    info = getattr(runtime, "execution_info", None)
    messages = state.get("messages") if isinstance(state, dict) else getattr(state, "messages", state)
    first = messages[0].id if isinstance(messages, list) and messages else ""
    return str(getattr(info, "thread_id", None) or getattr(info, "run_id", None) or first or "")


def _call(request: Any) -> SdkToolCall:
    call = request.tool_call
    return SdkToolCall(
        session=_session(request.state, request.runtime),
        name=call["name"],
        args=call["args"] or {},
        id=str(call["id"] or ""),
    )


def _changed(request: Any, before: SdkVerdict) -> Any:
    return request.override(tool_call={**request.tool_call, "args": before.value})


def _refusal(request: Any, reason: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content=reason, name=call["name"], tool_call_id=call["id"], status="error")


def _finish(request: Any, message: ToolMessage, after: SdkVerdict) -> ToolMessage:
    if after.refusal:
        return _refusal(request, after.refusal)
    if after.value == _content(message) and not after.context:
        return message
    changed: dict[str, Any] = {"content": with_context(as_text(after.value), after.context)}
    if after.value != _content(message):
        changed["artifact"] = None  # what a hook took out of the text may be in it
    return message.model_copy(update=changed)


def _content(message: Any) -> str:
    return as_text(message.content)
