"""The slash commands of the chat."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from hookline.agent.chat.events import slim
from hookline.agent.chat.replay import replay
from hookline.agent.chat.startup import add_hook_agent_tools, load_chat_tools
from hookline.agent.chat.transcript import recent
from hookline.core.errors import HooklineError
from hookline.core.hook import HookSpec, Prompt
from hookline.core.sanitize import one_line
from hookline.state.disabled import moment

if TYPE_CHECKING:
    from hookline.agent.chat.session import Session
    from hookline.agent.chat.terminal import InteractiveChat

#: Lines of a message that are shown when a session is resumed.
_END_LINES = 40

_Command: TypeAlias = "Callable[[InteractiveChat, str], Awaitable[None]]"


async def _help(chat: InteractiveChat, _rest: str) -> None:
    width = max(map(len, _COMMANDS))
    for name, (_, about) in _COMMANDS.items():
        chat.screen.note(f"/{name:<{width}}  {about}")
    chat.screen.note("Ctrl-C cancels a turn; Ctrl-C or Ctrl-D at the prompt asks whether to leave.")


async def _hooks(chat: InteractiveChat, rest: str) -> None:
    """The full-screen manager; a plain list with ``/hooks list`` or where there is no screen for it."""
    from hookline.tui.app import open_manager, possible  # slow to import

    if rest != "list" and possible():
        await open_manager(chat.opened.reassemble)
        await _reload(chat, "")
        return
    specs = chat.session.context.engine.specs
    if not specs:
        chat.screen.note("no hooks are configured here; see: hookline check")
    for spec in specs:
        mark = "✦ " if isinstance(spec.action, Prompt) else ""
        state = _state(chat, spec)
        shown = f"{'○' if state else '●'} {spec.event:<20} {mark}{one_line(spec.name, 60)}  [{spec.dialect}]"
        chat.screen.note(f"{shown} {spec.origin.file}{f'  ({state})' if state else ''}")


def _state(chat: InteractiveChat, spec: HookSpec) -> str:
    """Why it does not run; "" for a hook that does."""
    runtime = chat.opened.assembly
    if (switch := runtime.switches.off(spec)) is not None:
        until = "" if switch.until is None else f" until {moment(switch.until, runtime.switches.clock())}"
        return f"switched off{until}"
    verdict = runtime.verdicts.get(spec.extra.get("plugin", spec.id))
    if verdict is not None and verdict.state != "trusted":
        return "not trusted" if verdict.state == "unknown" else "changed since it was trusted"
    return "" if spec.enabled else "off in its file"


async def _model(chat: InteractiveChat, rest: str) -> None:
    session = chat.session
    if not rest:
        chat.screen.note(f"the model is {session.context.model.name}; /model provider:name changes it")
        return
    decision = await session.events.emit("PreModelSwitch", model=rest)
    if decision.effect == "deny":
        chat.screen.note(decision.reason or "a hook refused the change", "warning")
        return
    model = await chat.opened.model(rest)
    chat.opened.context = replace(chat.opened.context, model=model)
    session.change(model=model)
    await session.events.emit("PostModelSwitch", model=model.model)
    chat.screen.note(f"the model is {model.name}")


async def _compact(chat: InteractiveChat, rest: str) -> None:
    summary = await chat.session.compact(rest)
    chat.screen.note("the conversation was compacted" if summary else "there is nothing to compact")


async def _clear(chat: InteractiveChat, _rest: str) -> None:
    await chat.session.end("clear")
    chat.session = await chat.opened.session(None)
    await chat.session.start("clear")
    chat.screen.note(f"a new session: {chat.session.id}")


async def _resume(chat: InteractiveChat, rest: str) -> None:
    context = chat.opened.context
    if not rest:
        for path in recent(context.data_dir, context.cwd):
            history = replay(path).history
            first = next((entry["text"] for entry in history if entry["role"] == "user"), "(no prompt)")
            name = os.path.basename(path).removesuffix(".jsonl")
            here = " (this one)" if name == chat.session.id else ""
            chat.screen.note(f"{name[:8]}  {' '.join(first.split())[:80]}{here}")
        chat.screen.note("/resume ID continues one of them")
        return
    if chat.session.id.startswith(rest):
        chat.screen.note("that is this session")
        return
    session = await chat.opened.session(rest)
    await chat.session.end("resume")
    chat.session = session
    await session.start("resume")
    show_end(session)


def show_end(session: Session) -> None:
    """The end of a resumed conversation: what was asked last, and what came of it."""
    screen, history = session.context.screen, session.conversation.history
    screen.note(f"{session.id}: {session.conversation.turns} turn{'s' * (session.conversation.turns != 1)} so far")
    begin = next((at for at in range(len(history) - 1, -1, -1) if history[at]["role"] == "user"), 0)
    for entry in history[begin:]:
        lines = entry["text"].splitlines()
        kept = lines if len(lines) <= _END_LINES else ["…", *lines[-_END_LINES:]]
        if entry["role"] == "user":
            screen.note("\n".join(f"> {line}" for line in kept))
        else:
            screen.text("\n".join(kept))
            screen.reply_done()


async def _reload(chat: InteractiveChat, _rest: str) -> None:
    """Reload hooks, settings and tools; the session continues."""
    opened = chat.opened
    assembly = opened.reassemble()
    before = opened.assembly.engine
    mode = before.sessions.peek(chat.session.id, "Stop").mode
    assembly.engine.sessions.settle(chat.session.id, mode=mode, continuations=None)
    tools = {**load_chat_tools(assembly, opened.context.options, chat.screen), **opened.served}
    assembly.engine.recorder = slim(assembly.engine.recorder)
    opened.assembly = assembly
    opened.context = replace(opened.context, engine=assembly.engine, tools=tools)
    add_hook_agent_tools(assembly, opened.context)
    chat.session.change(engine=assembly.engine, tools=tools)
    before.close()
    chat.screen.note(f"{len(assembly.engine.specs)} hooks, {len(tools)} tools")


async def _quit(chat: InteractiveChat, _rest: str) -> None:
    chat.leaving = True


#: Name -> function and help text.
_COMMANDS: Mapping[str, tuple[_Command, str]] = MappingProxyType(
    {
        "help": (_help, "this list"),
        "hooks": (_hooks, "manage the hooks that are active here; /hooks list only lists them"),
        "model": (_model, "show or change the model: /model provider:name"),
        "compact": (_compact, "replace the conversation with a summary; add text to say what it must keep"),
        "clear": (_clear, "start a new session"),
        "resume": (_resume, "list sessions, or continue one: /resume ID"),
        "reload": (_reload, "reload hooks, settings and tools"),
        "quit": (_quit, "leave"),
    }
)


def parse_command(line: str) -> tuple[str, str] | None:
    """The command and the rest; None for a prompt. A path at the beginning of a prompt is not a command."""
    word, _, rest = line.strip().partition(" ")
    if not word.startswith("/") or "/" in word[1:] or not word[1:].isalpha():
        return None
    return word[1:], rest.strip()


async def run_command(chat: InteractiveChat, name: str, rest: str) -> None:
    known = _COMMANDS.get(name)
    if known is None:
        chat.screen.note(f"there is no command /{name}; /help lists them", "warning")
        return
    try:
        await known[0](chat, rest)
    except HooklineError as error:
        chat.screen.note(str(error), "error")
