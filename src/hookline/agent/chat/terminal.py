"""The interactive chat: read a line, do it, until the person leaves, the terminal closes or a signal says so."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hookline.agent.chat.commands import carry_out, command_in
from hookline.agent.chat.line_editor import Last, LeaveError, LineEditor
from hookline.agent.chat.render import TerminalScreen
from hookline.agent.chat.signals import Bell, bell, finish
from hookline.agent.chat.startup import ChatStartup, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from hookline.agent.chat.options import ChatOptions
    from hookline.agent.chat.session import Session
    from hookline.engine.build import Runtime

_LEAVE = "Leave the session? [y/N] "


@dataclass(slots=True, kw_only=True)
class Room:
    """Ctrl-C cancels what is going on in it (a turn, a command), never the room itself."""

    opening: ChatStartup
    session: Session
    screen: TerminalScreen
    editor: LineEditor
    rung: Bell
    leaving: bool = False
    last: Last = field(default_factory=Last)

    async def run(self) -> str:
        """Until somebody leaves; the reason."""
        while not self.leaving:
            try:
                line = await self._within(self.editor.line(self.session, self.last))
            except asyncio.CancelledError:
                return self.rung.reason
            except LeaveError:
                if await self._sure():
                    return self.rung.reason or "prompt_input_exit"
                continue
            if line and line.strip():
                await self._done(line)
        return self.rung.reason or "exit"

    async def _sure(self) -> bool:
        try:
            return bool(await self._within(self.editor.sure(_LEAVE)))
        except asyncio.CancelledError:
            return True

    async def _within(self, work: Coroutine[Any, Any, Any]) -> Any:
        """As a task of its own, so that a signal can end it and the room goes on."""
        self.rung.task = asyncio.ensure_future(work)
        if self.rung.heard is not None:
            self.rung.task.cancel()
        return await self.rung.task

    async def _done(self, line: str) -> None:
        command = command_in(line)
        work = carry_out(self, *command) if command is not None else self._turn(line)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            await self._within(work)
        except asyncio.CancelledError:
            self.screen.note("interrupted")
            self.leaving = self.leaving or self.rung.heard is not None
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        if self.rung.task is not None:
            self.rung.task.cancel()

    async def _turn(self, line: str) -> None:
        began = time.monotonic()
        ended = await self.session.submit(line)
        self.last = Last(failed=ended.error is not None, duration_ms=round((time.monotonic() - began) * 1000))


async def talk(reassemble: Callable[[], Runtime], options: ChatOptions, environ: Mapping[str, str]) -> int:
    screen = TerminalScreen(coloured=not environ.get("NO_COLOR") and environ.get("TERM") != "dumb")
    async with opened(reassemble, options, screen, environ) as opening:
        editor = LineEditor(os.path.join(opening.assembly.paths.state, "chat_history"))
        screen.question = editor.question
        session = await opening.session(options.resume)
        with bell(signal.SIGTERM, signal.SIGHUP) as rung:
            room = Room(opening=opening, session=session, screen=screen, editor=editor, rung=rung)
            reason = "exit"
            try:
                await _welcome(room, options)
                reason = await room.run()
            finally:
                await finish(room.session, rung, reason)
        if rung.heard is None:
            screen.note(f"To go on: hookline chat --resume {room.session.id}")
        else:
            _let_go_of_a_dead_terminal()
        return rung.exit_code


async def _welcome(room: Room, options: ChatOptions) -> None:
    room.screen.note(f"{room.session.context.model.name} in {room.session.context.cwd}; /help for commands")
    await room.session.start("startup" if options.resume is None else "resume")


def _let_go_of_a_dead_terminal() -> None:
    """Python would complain at its exit that it cannot flush to a terminal that is gone."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
