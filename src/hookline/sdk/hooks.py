"""Fires the events of a program's own agent, and reads decisions as what the program must do.

A hook that fails is judged by its ``on_failure``. If hookline itself fails, what was about to happen is refused.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.core.tool_names import native_input, tool_fields
from hookline.engine.build import Sources, StoreOptions, load_runtime
from hookline.gateway.handler import refuse_missing_guard
from hookline.gateway.notices import approval_lines, problem_lines

_log = logging.getLogger("hookline.sdk")

#: Asked when a hook wants a person to decide: the tool, its input, the reason. True lets the call run.
_Ask: TypeAlias = Callable[[str, Mapping[str, Any], str], bool | Awaitable[bool]]


class PromptRefused(Exception):
    """A hook refused the prompt, so the model was not called. The message is the hook's reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkToolCall:
    session: str
    name: str
    args: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkVerdict:
    """What becomes of a tool call or a prompt. ``refusal`` is never empty when it is refused."""

    refusal: str = ""
    #: The arguments, or the prompt, as hooks left them.
    value: Any = None
    #: Text for the model.
    context: str = ""


class Hooks:
    """The hooks of a directory, loaded once.

    ``cwd``: whose hooks count (default: the current directory). ``config``: exactly these files instead, which counts
    as approving them. ``ask``: called where a hook asks for a person; without it such a call is refused.
    """

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        config: Sequence[str | os.PathLike[str]] | None = None,
        ask: _Ask | None = None,
        agent: str = "",
    ) -> None:
        self.agent = agent or "hookline"
        self._ask = ask
        self._runtime = load_runtime(Sources(cwd=cwd, config=config, agent=self.agent), StoreOptions(live=True))
        for line in (*problem_lines(self._runtime), *approval_lines(self._runtime)):
            _log.warning("%s", line)

    def close(self) -> None:
        """End plugins and background hooks."""
        self._runtime.engine.close()

    # ── events ───────────────────────────────────────────────────────────────────────────────────────

    def event(self, name: str, data: Mapping[str, Any], session: str, agent: str = "", **more: Any) -> Event:
        return self._runtime.engine.event(name, {"session_id": session, **data}, session=session, agent=agent, **more)

    async def fire(self, event: Event) -> Decision:
        try:
            return self._complete(event, await self._runtime.engine.fire_event_async(event))
        except Exception as error:
            return _failure(event, error)

    def fire_sync(self, event: Event) -> Decision:
        try:
            return self._complete(event, self._runtime.engine.fire_event(event))
        except Exception as error:
            return _failure(event, error)

    def _complete(self, event: Event, decision: Decision) -> Decision:
        for message in decision.messages:
            _log.info("%s: %s", message.hook, message.text)
        return refuse_missing_guard(event, decision, self._runtime)

    # ── before a tool ────────────────────────────────────────────────────────────────────────────────

    async def before_tool(self, call: SdkToolCall) -> SdkVerdict:
        event = self._tool_event("PreToolUse", call)
        verdict, question = _tool_verdict(event, decision := await self.fire(event))
        if question:
            verdict = _answered(verdict, decision, await self._answer(call, verdict, question))
        await self._report_refusal(call, verdict)
        return verdict

    def before_tool_sync(self, call: SdkToolCall) -> SdkVerdict:
        event = self._tool_event("PreToolUse", call)
        verdict, question = _tool_verdict(event, decision := self.fire_sync(event))
        if question:
            answer = self._ask(call.name, verdict.value, question) if self._ask else None
            if inspect.isawaitable(answer):
                msg = "ask is a coroutine function; run the agent asynchronously (ainvoke)"
                raise TypeError(msg)
            verdict = _answered(verdict, decision, answer)
        if verdict.refusal:
            self.fire_sync(self._failed_event(call, "blocked", verdict.refusal))
        return verdict

    async def _answer(self, call: SdkToolCall, verdict: SdkVerdict, question: str) -> bool | None:
        try:
            answer = self._ask(call.name, verdict.value, question) if self._ask else None
            return await answer if inspect.isawaitable(answer) else answer
        except Exception:
            _log.exception("ask failed, so the call is refused")
            return False

    async def _report_refusal(self, call: SdkToolCall, verdict: SdkVerdict) -> None:
        if verdict.refusal:
            await self.fire(self._failed_event(call, "blocked", verdict.refusal))

    # ── after it ─────────────────────────────────────────────────────────────────────────────────────

    async def after_tool(self, call: SdkToolCall, output: Any, before: SdkVerdict) -> SdkVerdict:
        """``value`` is the output as hooks left it; context of both events is for the model."""
        event = self._tool_event("PostToolUse", call, tool_output=_plain(output))
        return _output_verdict(event, await self.fire(event), output, before)

    def after_tool_sync(self, call: SdkToolCall, output: Any, before: SdkVerdict) -> SdkVerdict:
        event = self._tool_event("PostToolUse", call, tool_output=_plain(output))
        return _output_verdict(event, self.fire_sync(event), output, before)

    async def tool_failed(self, call: SdkToolCall, error: BaseException) -> None:
        await self.fire(self._failed_event(call, type(error).__name__, str(error)))

    def tool_failed_sync(self, call: SdkToolCall, error: BaseException) -> None:
        self.fire_sync(self._failed_event(call, type(error).__name__, str(error)))

    # ── prompts and ends ─────────────────────────────────────────────────────────────────────────────

    def prompt_event(self, session: str, prompt: str) -> Event:
        return self.event("UserPromptSubmit", {"prompt": prompt}, session)

    def stop_event(self, session: str, message: str, continuations: int = 0) -> Event:
        return self.event("Stop", {"assistant_message": message, "continuations": continuations}, session)

    def _tool_event(self, name: str, call: SdkToolCall, **more: Any) -> Event:
        args, cwd = dict(call.args), self._runtime.engine.cwd
        names = {"tool_name": call.name, "tool_input": args, "tool_use_id": call.id}
        return self.event(name, {**names, **tool_fields(call.name, args, cwd), **more}, call.session)

    def _failed_event(self, call: SdkToolCall, kind: str, message: str) -> Event:
        return self._tool_event("PostToolUseFailure", call, tool_error={"type": kind, "message": message})


def prompt_verdict(event: Event, decision: Decision, *, rewrites: bool = False) -> SdkVerdict:
    """A prompt that a hook asks about is refused: nobody can be asked about it. So is a changed one, unless the SDK can
    change it."""
    if decision.effect == "deny" or (decision.effect == "ask" and not decision.droppable):
        return SdkVerdict(refusal=decision.refusal_text)
    prompt = decision.data.get("prompt", event.data["prompt"])
    if prompt != event.data["prompt"] and not rewrites:
        if not decision.droppable:
            return SdkVerdict(refusal="a hook changed the prompt, which this SDK does not support")
        prompt = event.data["prompt"]
    return SdkVerdict(value=prompt, context=decision.model_text)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def with_context(text: str, context: str) -> str:
    """A tool's output, and what hooks tell the model about it."""
    return f"{text}\n\n{context}" if context else text


def _tool_verdict(event: Event, decision: Decision) -> tuple[SdkVerdict, str]:
    """And the question that is open, "" if none is."""
    if decision.effect == "deny":
        return SdkVerdict(refusal=decision.refusal_text), ""
    args = event.data.get("native_tool_input", event.data["tool_input"])
    if decision.modified:
        has_own = "native_tool_input" in event.data
        args = native_input(decision.data, event.cwd) if has_own else decision.data.get("tool_input")
        if not isinstance(args, Mapping):
            return SdkVerdict(refusal="a hook changed tool_input in a way that cannot be passed on to this tool"), ""
    question = (decision.reason or "a hook asks for a person") if decision.effect == "ask" else ""
    return SdkVerdict(value=dict(args), context=decision.model_text), question


def _answered(verdict: SdkVerdict, decision: Decision, answer: bool | None) -> SdkVerdict:
    if answer is True or (answer is None and decision.droppable):
        return verdict
    why = "nobody could be asked" if answer is None else "a person refused it"
    return SdkVerdict(refusal=f"{why}: {decision.reason}" if decision.reason else why)


def _output_verdict(event: Event, decision: Decision, output: Any, before: SdkVerdict) -> SdkVerdict:
    context = "\n".join(text for text in (before.context, decision.model_text) if text)
    if decision.effect == "deny":  # hookline failed: what a guard would have taken out is not known
        return SdkVerdict(refusal=decision.refusal_text)
    return SdkVerdict(value=decision.data["tool_output"] if decision.modified else output, context=context)


def _failure(event: Event, error: Exception) -> Decision:
    """Events that cannot be refused go on, except that an output which no guard has seen stays hidden."""
    _log.error("hookline failed at %s: %s: %s", event.kind.name, type(error).__name__, error)
    closed = (event.kind.deniable and not event.kind.continues) or event.kind.name == "PostToolUse"
    reason = f"hookline failed: {type(error).__name__}: {error}" if closed else ""
    return Decision(event=event.kind.name, effect="deny" if closed else "allow", reason=reason, data=event.data)


def _plain(output: Any) -> Any:
    """What a hook can read: text, or JSON."""
    return output if isinstance(output, str) else json.loads(as_text(output))
