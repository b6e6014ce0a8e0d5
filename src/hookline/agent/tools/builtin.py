"""The table of the chat's built-in tools, with Bash and Task; ``custom`` adds a person's own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hookline.agent.tools.base import AgentTool, ToolContext, ToolError, define_tool, integer, shorten, string
from hookline.agent.tools.files import EDIT, GLOB, GREP, READ, WRITE
from hookline.runners.environ import child_environ
from hookline.runners.process import run_process
from hookline.runners.programs import find_program
from hookline.runners.spawn import Launch


async def _use_task(arguments: Mapping[str, Any], context: ToolContext) -> str:
    if context.delegate is None:
        raise ToolError("a subagent cannot start another one; do the work yourself")
    return await context.delegate(arguments)


_TIMEOUT = 120.0
_LONGEST_TIMEOUT = 600.0


async def _use_bash(arguments: Mapping[str, Any], context: ToolContext) -> str:
    """No quoting is needed: the permission covers exactly this text."""
    limit = min(max(arguments.get("timeout") or _TIMEOUT * 1000, 1) / 1000, _LONGEST_TIMEOUT)
    if "\0" in arguments["command"]:
        raise ToolError("a command line cannot contain a NUL", "invalid_args")
    environ = child_environ(context.environ, frozenset(), {})
    shell = find_program("bash", environ.get("PATH", ""), (context.cwd,)) or "/bin/sh"
    launch = Launch(program=shell, argv=(shell, "-c", arguments["command"]), environ=environ, cwd=context.cwd)
    return await run_launch(launch, limit, context)


async def run_launch(launch: Launch, limit: float, context: ToolContext) -> str:
    """Run a program for a tool; cancelling the turn ends it."""
    work = asyncio.to_thread(run_process, launch, timeout=limit, settings=context.settings, stop=context.stop)
    running = asyncio.ensure_future(work)
    try:
        raw = await asyncio.shield(running)
    except asyncio.CancelledError:
        context.stop.set()
        await asyncio.wait([running])
        raise
    shown = shorten("\n".join(part.rstrip("\n") for part in (raw.stdout, raw.stderr) if part.strip()))
    notes = "".join(f"\n({note})" for note in raw.notes)
    if raw.timed_out:
        raise ToolError(f"{shown}{notes}\nThe command was stopped after {limit:g} s.".lstrip(), "timeout")
    if raw.error:
        raise ToolError(f"{shown}{notes}\n{raw.error}".lstrip(), "interrupt" if context.stop.is_set() else "error")
    if raw.exit_code != 0:
        how = f"Exit code {raw.exit_code}" if raw.exit_code is not None else f"Ended by signal {raw.signal}"
        raise ToolError(f"{how}\n{shown}{notes}".rstrip())
    return (shown + notes) or "(no output)"


_BASH = define_tool(
    "Bash",
    "Run a command line with bash in the working directory. Every call is a new shell: variables and cd do "
    "not persist. Standard input is empty.",
    _use_bash,
    "command",
    command=string("the command line"),
    description=string("what it does, in a few words"),
    timeout=integer(f"at most this many milliseconds; default {_TIMEOUT * 1000:.0f}"),
)
_TASK = define_tool(
    "Task",
    "Give a task to a subagent. It sees nothing of this conversation, so say everything it must know; "
    "its last message is the result.",
    _use_task,
    "description prompt",
    need="nothing",
    description=string("the task in three to five words"),
    prompt=string("what to do, and what to report"),
    subagent_type=string("the kind of subagent; default: general-purpose"),
)

BUILT_IN: Mapping[str, AgentTool] = MappingProxyType(
    {tool.name: tool for tool in (_BASH, READ, WRITE, EDIT, GLOB, GREP, _TASK)}
)
