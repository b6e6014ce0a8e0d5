"""The commands of the chat: words that begin with a slash."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from hookline.agent.chat.replay import replay
from hookline.agent.chat.slim_recorder import lean
from hookline.agent.chat.startup import equip, tools_of
from hookline.agent.chat.transcript import recent
from hookline.core.errors import HooklineError
from hookline.core.hook import Prompt
from hookline.tui.open import possible, visit

if TYPE_CHECKING:
    from hookline.agent.chat.terminal import Room

Command: TypeAlias = "Callable[[Room, str], Awaitable[None]]"


async def _help(room: Room, _rest: str) -> None:
    width = max(map(len, _COMMANDS))
    for name, (_, about) in _COMMANDS.items():
        room.screen.note(f"/{name:<{width}}  {about}")
    room.screen.note("Ctrl-C cancels a turn; Ctrl-C or Ctrl-D at the prompt leaves, after asking.")


async def _hooks(room: Room, rest: str) -> None:
    """The manager on the whole screen; a plain list where there is no screen for it, or where one is asked for."""
    if rest != "list" and possible():
        await visit(room.opening.reassemble)
        await _reload(room, "")
        return
    specs = room.session.context.engine.specs
    if not specs:
        room.screen.note("no hooks are configured here; see: hookline check")
    for spec in specs:
        mark = "✦ " if isinstance(spec.action, Prompt) else ""
        state = "" if spec.enabled else "  (off)"
        room.screen.note(f"{spec.event:<20} {mark}{spec.name}  [{spec.dialect}] {spec.origin.file}{state}")


async def _model(room: Room, rest: str) -> None:
    session = room.session
    if not rest:
        room.screen.note(f"the model is {session.context.model.name}; /model provider:name changes it")
        return
    decision = await session.events.emit("PreModelSwitch", model=rest)
    if decision.effect == "deny":
        room.screen.note(decision.reason or "a hook refused the change", "warning")
        return
    model = await room.opening.model(rest)
    room.opening.context = replace(room.opening.context, model=model)
    session.change(model=model)
    await session.events.emit("PostModelSwitch", model=model.model)
    room.screen.note(f"the model is {model.name}")


async def _compact(room: Room, rest: str) -> None:
    summary = await room.session.compact(rest)
    room.screen.note("the conversation was compacted" if summary else "there is nothing to compact")


async def _clear(room: Room, _rest: str) -> None:
    await room.session.end("clear")
    room.session = await room.opening.session(None)
    await room.session.start("clear")
    room.screen.note(f"a new session: {room.session.id}")


async def _resume(room: Room, rest: str) -> None:
    context = room.opening.context
    if not rest:
        for path in recent(context.data_dir, context.cwd):
            history = replay(path).history
            first = next((entry["text"] for entry in history if entry["role"] == "user"), "(nothing said)")
            name = os.path.basename(path).removesuffix(".jsonl")
            here = " (this one)" if name == room.session.id else ""
            room.screen.note(f"{name[:8]}  {' '.join(first.split())[:80]}{here}")
        room.screen.note("/resume ID goes on with one of them")
        return
    if room.session.id.startswith(rest):
        room.screen.note("that is this session")
        return
    session = await room.opening.session(rest)
    await room.session.end("resume")
    room.session = session
    await session.start("resume")
    room.screen.note(f"{session.id}: {session.conversation.turns} turns so far")


async def _reload(room: Room, _rest: str) -> None:
    """Hooks, settings and tools are read anew; the session goes on."""
    opening = room.opening
    assembly = opening.reassemble()
    before = opening.assembly.engine
    mode = before.sessions.peek(room.session.id, "Stop").mode
    assembly.engine.sessions.settle(room.session.id, mode=mode, continuations=None)
    tools = {**tools_of(assembly, opening.context.options, room.screen), **opening.served}
    assembly.engine.recorder = lean(assembly.engine.recorder)
    opening.assembly = assembly
    opening.context = replace(opening.context, engine=assembly.engine, tools=tools)
    equip(assembly, opening.context)
    room.session.change(engine=assembly.engine, tools=tools)
    before.close()
    room.screen.note(f"{len(assembly.engine.specs)} hooks, {len(tools)} tools")


async def _quit(room: Room, _rest: str) -> None:
    room.leaving = True


#: Name -> what it does, and what the help says of it.
_COMMANDS: Mapping[str, tuple[Command, str]] = MappingProxyType(
    {
        "help": (_help, "this list"),
        "hooks": (_hooks, "look after the hooks that are live here; /hooks list only lists them"),
        "model": (_model, "show or change the model: /model provider:name"),
        "compact": (_compact, "replace the conversation by a summary; what follows says what it must keep"),
        "clear": (_clear, "begin a new session"),
        "resume": (_resume, "list sessions, or go on with one: /resume ID"),
        "reload": (_reload, "read hooks, settings and tools anew"),
        "quit": (_quit, "leave"),
    }
)


def command_in(line: str) -> tuple[str, str] | None:
    """The command and the rest; None for a prompt. A path at the beginning of a prompt is no command."""
    word, _, rest = line.strip().partition(" ")
    if not word.startswith("/") or "/" in word[1:] or not word[1:].isalpha():
        return None
    return word[1:], rest.strip()


async def carry_out(room: Room, name: str, rest: str) -> None:
    known = _COMMANDS.get(name)
    if known is None:
        room.screen.note(f"there is no command /{name}; /help lists them", "warning")
        return
    try:
        await known[0](room, rest)
    except HooklineError as error:
        room.screen.note(str(error), "error")
