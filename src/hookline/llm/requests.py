"""The two ways hooks use models: a question with a structured answer, and a small agent with tools."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from hookline.core._dataclass import dataclass, empty, field
from hookline.llm.client import OpenClient, missing_client, open_client
from hookline.llm.http import explain
from hookline.llm.names import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from typing import Protocol

    class Stop(Protocol):
        def is_set(self) -> bool: ...
        def fileno(self) -> int: ...


_T = TypeVar("_T")


class _StoppedError(ModelError):
    """The work was stopped from outside."""


def run_bounded(work: Coroutine[Any, Any, _T], *, timeout: float | None, stop: Stop) -> _T:
    """The result of ``work``; ``TimeoutError`` at the deadline, ``_StoppedError`` when ``stop`` is set first."""
    if stop.is_set():
        work.close()
        raise _StoppedError("stopped before it began")
    if _inside_a_loop():
        return _in_a_thread(work, timeout=timeout, stop=stop)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_watched(work, timeout, stop))
    finally:
        _close(loop)


def _inside_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_a_thread(work: Coroutine[Any, Any, _T], *, timeout: float | None, stop: Stop) -> _T:
    """For a caller inside a running loop: one thread cannot run two loops."""
    with ThreadPoolExecutor(1, thread_name_prefix="hookline-model") as pool:
        return pool.submit(run_bounded, work, timeout=timeout, stop=stop).result()


async def _watched(work: Coroutine[Any, Any, _T], timeout: float | None, stop: Stop) -> _T:  # noqa: ASYNC109  # None is no limit, which asyncio.timeout takes too
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stopped = False

    def end() -> None:
        nonlocal stopped
        stopped = True
        loop.remove_reader(stop.fileno())
        task.cancel()

    loop.add_reader(stop.fileno(), end)
    try:
        async with asyncio.timeout(timeout):
            return await task
    except asyncio.CancelledError:
        if stopped:
            raise _StoppedError("stopped from outside") from None
        raise
    finally:
        loop.remove_reader(stop.fileno())


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Like the end of ``asyncio.run``, except that it does not wait for threads: a name server that does not
    answer must not hold up a hook beyond its deadline."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


#: No retries: the deadline is the hook's, and a failure is an outcome that the record shows.
_ONCE: Mapping[str, Any] = {"max_retries": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """``value`` is a structured answer, ``text`` a plain one; one of them is empty."""

    value: Mapping[str, Any] | None = None
    text: str = ""
    usage: Mapping[str, Any] = field(default_factory=empty)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """``schema`` describes the expected object; an answer in prose is accepted too."""

    system: str
    text: str
    schema: Mapping[str, Any]
    model: str = ""
    #: The ``[models]`` table and the caller's environment.
    table: Mapping[str, str] = field(default_factory=empty)
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """Work for a small agent: ``steps`` model requests at most, with these tools and no others."""

    system: str
    text: str
    model: str = ""
    steps: int = 1
    functions: Sequence[Callable[..., Any]] = ()
    #: Toolsets of pydantic-ai (MCP servers), opened and closed with the run.
    toolsets: Sequence[Any] = ()
    table: Mapping[str, str] = field(default_factory=empty)
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)


async def ask(question: ModelQuestion) -> ModelReply:
    """One request. Raises ``ModelError`` with a text for people when there is no answer."""
    async with open_client(question.model, question.table, question.environ) as door:
        pydantic_ai = _library()
        shape = pydantic_ai.StructuredDict(dict(question.schema), name="answer")
        agent = pydantic_ai.Agent(
            door.model, instructions=question.system, output_type=[pydantic_ai.ToolOutput(shape, name="final_result"), str],
            retries=0, model_settings=_ONCE,
        )  # fmt: skip
        try:
            result = await agent.run(question.text)
        except Exception as error:
            raise ModelError(explain(error, door.name, door.key)) from error
        usage = _usage(result.usage, door)
        return (
            ModelReply(text=result.output, usage=usage)
            if isinstance(result.output, str)
            else ModelReply(value=result.output, usage=usage)
        )


async def run_agent_task(task: AgentTask) -> ModelReply:
    """The loop ends when a step uses no tool or no steps are left; tools of the last step still run."""
    async with open_client(task.model, task.table, task.environ) as door:
        pydantic_ai = _library()
        agent = pydantic_ai.Agent(
            # A model that calls an unknown tool gets an error, and may use its remaining steps to correct it.
            door.model, instructions=task.system, output_type=str, model_settings=_ONCE,
            retries={"tools": max(1, task.steps), "output": 0},
            tools=[pydantic_ai.Tool(_harmless(function), takes_ctx=False, max_retries=1) for function in task.functions],
            toolsets=list(task.toolsets),
        )  # fmt: skip
        usage = pydantic_ai.RunUsage()
        limits = pydantic_ai.UsageLimits(request_limit=max(1, task.steps))
        with pydantic_ai.capture_run_messages() as messages:
            notes: tuple[str, ...] = ()
            try:
                await agent.run(task.text, usage=usage, usage_limits=limits)
            except pydantic_ai.UsageLimitExceeded:
                notes = (f"the limit of {task.steps} steps was reached",)
            except Exception as error:
                if not _is_empty_answer(error, messages):
                    raise ModelError(explain(error, door.name, door.key)) from error
        texts = (_text(message) for message in reversed(messages) if message.kind == "response")
        return ModelReply(text=next(filter(None, texts), ""), usage=_usage(usage, door), notes=notes)


def _harmless(function: Callable[..., Any]) -> Callable[..., Any]:
    """A failing tool returns an error to the model, and a blocking one is abandoned at the deadline."""
    import anyio.to_thread  # part of the models extra

    @wraps(function)
    async def call(*positional: Any, **named: Any) -> Any:
        try:
            return await anyio.to_thread.run_sync(partial(function, *positional, **named), abandon_on_cancel=True)
        except Exception as error:
            return f"the tool failed: {error}"

    return call


def _library() -> Any:
    try:
        import pydantic_ai  # slow to import
    except ImportError as error:
        raise missing_client(error) from error
    pydantic_ai.BANNER_ENABLED = False  # advertising on the person's terminal
    return pydantic_ai


def _is_empty_answer(error: Exception, messages: Sequence[Any]) -> bool:
    """An empty answer is valid, although pydantic-ai does not think so."""
    last = next((message for message in reversed(messages) if message.kind == "response"), None)
    if type(error).__name__ != "UnexpectedModelBehavior" or last is None:
        return False
    return not _text(last).strip() and all(part.part_kind != "tool-call" for part in last.parts)


def _text(response: Any) -> str:
    return "".join(part.content for part in response.parts if part.part_kind == "text")


def _usage(usage: Any, door: OpenClient) -> Mapping[str, Any]:
    """Tokens always, cost where the price is known."""
    used: dict[str, Any] = {
        "model": door.name, "requests": usage.requests, "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens, "cached_tokens": usage.cache_read_tokens, "tool_calls": usage.tool_calls,
    }  # fmt: skip
    cost = getattr(usage, "cost", None)
    return used if cost is None else {**used, "cost_usd": float(cost)}
