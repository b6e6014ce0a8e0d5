"""One tool call, from the moment the model asks for it until the model is told what came of it.

    PreToolUse ─▶ permission (rule, hook, person) ─▶ the tool ─▶ PostToolUse or PostToolUseFailure

The permission is judged after PreToolUse, so that it is given to the call as it will run. A call that was refused
is a failure of the kind ``blocked``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.chat import hook_output
from hookline.agent.chat.conversation import INTERRUPTED
from hookline.agent.chat.permissions import Permissions, rule_of
from hookline.agent.chat.screen import CallShown
from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, wrong_arguments

if TYPE_CHECKING:
    from hookline.agent.chat.events import EventEmitter
    from hookline.agent.chat.screen import Screen
    from hookline.agent.message import ToolCall
    from hookline.core.result import Decision

_NOBODY = "nobody can be asked here; allow it with --allow, or choose another --permission-mode"


@dataclass(slots=True, kw_only=True)
class Toolbox:
    """The tools of one agent, and what they may do."""

    tools: Mapping[str, ChatTool]
    permissions: Permissions
    place: Place
    herald: EventEmitter
    screen: Screen
    agent: str = ""
    calls: list[CallShown] = field(default_factory=list[CallShown])


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What stood before the call in the same reply: hooks are told."""

    tokens: Mapping[str, int] | None = None
    reasoning: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carried:
    """``ends_turn``: a hook wants the agent to stop here."""

    text: str
    is_error: bool
    ends_turn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    given: Mapping[str, Any]
    #: Why it must not run; None when it may.
    refusal: str | None
    by: str
    decisions: tuple[Decision, ...] = ()


async def carry_out(box: Toolbox, call: ToolCall, around: Around) -> _Carried:
    """Never raises but for a cancelled turn and a hook whose failure ends the run."""
    began = time.monotonic()
    tool = box.tools.get(call.name)
    given = call.arguments if isinstance(call.arguments, dict) else {}
    about: dict[str, Any] = {"tool_name": call.name, "tool_input": given, "tool_use_id": call.id}
    if around.tokens is not None:
        about["tokens"] = dict(around.tokens)
    wrong = f"unknown tool {call.name!r}; known are {', '.join(box.tools)}" if tool is None else ""
    wrong = wrong or wrong_arguments(tool.tool.parameters if tool else {}, call.arguments)
    box.screen.call_begins(call.name, given, box.agent)
    if tool is None or wrong:
        kind = "unknown_tool" if tool is None else "invalid_args"
        admitted = _Admitted(given=given, refusal=None, by="invalid")
        output = failed(wrong, kind)
    else:
        admitted = await _admit(box, tool, about)
        about["tool_input"] = admitted.given
        try:
            output = await _used(tool, admitted, box.place)
        except asyncio.CancelledError:
            box.place.stop.set()
            about["duration_ms"] = round((time.monotonic() - began) * 1000)
            await _cut_short(box, around, about)
            raise
    about["duration_ms"] = round((time.monotonic() - began) * 1000)
    return await _report(box, call, around, admitted, about=about, output=output)


async def refuse(box: Toolbox, call: ToolCall, around: Around, text: str, kind: str) -> _Carried:
    """A call that is not even tried; those who listen to failures hear of it."""
    given = call.arguments if isinstance(call.arguments, dict) else {}
    about: dict[str, Any] = {"tool_name": call.name, "tool_input": given, "tool_use_id": call.id, "duration_ms": 0}
    if around.tokens is not None:
        about["tokens"] = dict(around.tokens)
    admitted = _Admitted(given=given, refusal=None, by="denied")
    return await _report(box, call, around, admitted, about=about, output=failed(text, kind))


async def _used(tool: ChatTool, admitted: _Admitted, place: Place) -> Output:
    if admitted.refusal is not None:
        return failed(admitted.refusal, "blocked")
    wrong = wrong_arguments(tool.tool.parameters, admitted.given)
    if wrong:
        return failed(f"a hook changed the arguments, and now they do not fit: {wrong}", "invalid_args")
    try:
        return await tool.use(admitted.given, place)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        return failed(f"{type(error).__name__}: {error}", type(error).__name__)


# ── may it run ───────────────────────────────────────────────────────────────────────────────────────


async def _admit(box: Toolbox, tool: ChatTool, about: Mapping[str, Any]) -> _Admitted:
    decision = await box.herald.fire("PreToolUse", **about)
    given = _input(decision, about)
    heard = (decision,)
    if decision.effect == "deny":
        return _Admitted(given=given, refusal=hook_output.tool_blocked(decision), by="hook denied", decisions=heard)
    name = tool.tool.name
    verdict = box.permissions.judge(name, tool.need, given, box.place.cwd)
    if decision.effect == "ask":
        verdict = "ask"
    elif decision.granted:
        return _Admitted(given=given, refusal=None, by="hook granted", decisions=heard)
    if verdict == "allow":
        return _Admitted(given=given, refusal=None, by="allowed", decisions=heard)
    return await _permitted(box, tool, {**about, "tool_input": given}, heard, may_ask=verdict == "ask")


async def _permitted(
    box: Toolbox, tool: ChatTool, about: Mapping[str, Any], heard: tuple[Decision, ...], *, may_ask: bool
) -> _Admitted:
    """Hooks first, then the person. Only a hook that says so grants anything."""
    asked = await box.herald.fire(
        "PermissionRequest", **about, permission={"type": "ask"}, session_permissions=box.permissions.told()
    )
    given = _input(asked, about)
    if asked.effect == "deny":
        return await _refused(box, about, hook_output.refusals(asked), "hook denied", heard)
    if asked.granted:
        return _Admitted(given=given, refusal=None, by="hook granted", decisions=heard)
    why = heard[0].reason or asked.reason
    if not may_ask:
        return await _refused(box, about, "it is not on the list of what is allowed (--allow)", "denied", heard)
    box.herald.notify(f"Approval needed: {tool.tool.name}", "warning", "permission_prompt")
    answer = await box.screen.ask(tool.tool.name, given, why)
    if answer is None:
        return await _refused(box, about, f"{why}; {_NOBODY}" if why else _NOBODY, "denied", heard)
    if answer == "no":
        return await _refused(box, about, "the person said no", "person denied", heard)
    if answer == "always":
        box.permissions.rules.append(_remembered(tool, given))
    return _Admitted(given=given, refusal=None, by="person granted", decisions=heard)


def _remembered(tool: ChatTool, given: Mapping[str, Any]) -> Any:
    """For the rest of the session: this very command line, or the tool as a whole."""
    name, command = tool.tool.name, given.get("command")
    if isinstance(command, str) and name == "Bash":
        rule = rule_of(name)
        return type(rule)(tool=name, pattern=command.strip())
    return rule_of(name)


async def _refused(
    box: Toolbox, about: Mapping[str, Any], reason: str, by: str, heard: tuple[Decision, ...]
) -> _Admitted:
    await box.herald.fire("PermissionDenied", **about, reason=reason)
    text = hook_output.permission_denied(reason)
    return _Admitted(given=about["tool_input"], refusal=text, by=by, decisions=heard)


def _input(decision: Decision, about: Mapping[str, Any]) -> Mapping[str, Any]:
    given = decision.data.get("tool_input", about["tool_input"])
    return given if isinstance(given, Mapping) else about["tool_input"]


# ── what came of it ──────────────────────────────────────────────────────────────────────────────────


async def _cut_short(box: Toolbox, around: Around, about: Mapping[str, Any]) -> None:
    """Who heard that a call begins hears that it ended; nothing it says can reach the model any more."""
    error = {"type": "abort", "message": INTERRUPTED}
    await box.herald.told("PostToolUseFailure", **about, **_before(around), tool_error=error)


def _before(around: Around) -> dict[str, str]:
    told = {"preceding_reasoning": around.reasoning, "preceding_assistant_message": around.message}
    return {name: text for name, text in told.items() if text}


async def _report(
    box: Toolbox, call: ToolCall, around: Around, admitted: _Admitted, *, about: dict[str, Any], output: Output
) -> _Carried:
    about |= _before(around)
    if output.is_error:
        error = {"type": output.kind, "message": output.text}
        decision = await box.herald.fire("PostToolUseFailure", **about, tool_error=error)
        text = output.text
    else:
        decision = await box.herald.fire("PostToolUse", **about, tool_output=output.text)
        changed = decision.data.get("tool_output", output.text)
        text = changed if isinstance(changed, str) else _joined(changed)
    heard = (*admitted.decisions, decision)
    text += hook_output.after_tool(heard)
    shown = CallShown(
        id=call.id,
        name=call.name,
        input=dict(admitted.given),
        output=text,
        is_error=output.is_error,
        duration_ms=about["duration_ms"],
        decision=admitted.by,
    )
    box.calls.append(shown)
    box.screen.call_done(shown, box.agent)
    ends = any(one.attributes.get("continue") is False for one in heard)
    return _Carried(text=text, is_error=output.is_error, ends_turn=ends)


def _joined(output: Any) -> str:
    parts = output if isinstance(output, list) else [output]
    return "\n".join(str(part.get("content", "")) if isinstance(part, dict) else str(part) for part in parts)
