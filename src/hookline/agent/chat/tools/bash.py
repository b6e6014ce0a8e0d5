"""Bash: one command line in a shell of its own, with a deadline; nothing of its group is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, number, schema, shortened, text
from hookline.agent.message import Tool
from hookline.runners.environ import child_environ
from hookline.runners.process import run_process
from hookline.runners.spawn import Launch, find_program

_TIMEOUT = 120.0
_LONGEST_TIMEOUT = 600.0


async def use(given: Mapping[str, Any], place: Place) -> Output:
    """The command is the model's own text for its own shell: a permission was asked for exactly this text."""
    limit = min(max(given.get("timeout") or _TIMEOUT * 1000, 1) / 1000, _LONGEST_TIMEOUT)
    if "\0" in given["command"]:
        return failed("a command line cannot hold a NUL", "invalid_args")
    environ = child_environ(place.environ, frozenset(), {})
    shell = find_program("bash", environ.get("PATH", ""), (place.cwd,)) or "/bin/sh"
    launch = Launch(program=shell, argv=(shell, "-c", given["command"]), environ=environ, cwd=place.cwd)
    return await started(launch, limit, place)


async def started(launch: Launch, limit: float, place: Place) -> Output:
    """Run a program for a tool; cancelling the turn ends it."""
    work = asyncio.to_thread(run_process, launch, timeout=limit, settings=place.settings, stop=place.stop)
    running = asyncio.ensure_future(work)
    try:
        raw = await asyncio.shield(running)
    except asyncio.CancelledError:
        place.stop.set()
        await asyncio.wait([running])
        raise
    said = shortened("\n".join(part.rstrip("\n") for part in (raw.stdout, raw.stderr) if part.strip()))
    notes = "".join(f"\n({note})" for note in raw.notes)
    if raw.timed_out:
        return failed(f"{said}{notes}\nThe command was ended after {limit:g} s.".lstrip(), "timeout")
    if raw.error:
        return failed(f"{said}{notes}\n{raw.error}".lstrip(), "interrupt" if place.stop.is_set() else "error")
    if raw.exit_code != 0:
        how = f"Exit code {raw.exit_code}" if raw.exit_code is not None else f"Ended by signal {raw.signal}"
        return failed(f"{how}\n{said}{notes}".rstrip())
    return Output(text=(said + notes) or "(no output)")


BASH = ChatTool(
    tool=Tool(
        name="Bash",
        description=(
            "Run a command line with bash in the working directory. Every call is a new shell: variables and cd do "
            "not last. Standard input is empty."
        ),
        parameters=schema(
            "command",
            command=text("the command line"),
            description=text("what it does, in a few words"),
            timeout=number(f"milliseconds at most; {_TIMEOUT * 1000:.0f} unless told"),
        ),
    ),
    need="run",
    use=use,
)
