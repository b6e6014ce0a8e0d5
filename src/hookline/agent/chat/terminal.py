"""The interactive chat: read a line, run it, until the user leaves, the terminal closes or a signal arrives."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hookline.agent.chat.commands import parse_command, run_command, show_end
from hookline.agent.chat.context import ChatOptions
from hookline.agent.chat.line_editor import LastTurn, LeaveError, LineEditor
from hookline.agent.chat.screen import TerminalScreen
from hookline.agent.chat.session import Session
from hookline.agent.chat.signals import SignalWatcher, finish, watch_signals
from hookline.agent.chat.startup import OpenChat, open_chat
from hookline.engine.build import Runtime

#: What ends a session, and the reason that hooks see.


@dataclass(slots=True, kw_only=True)
class InteractiveChat:
    """Ctrl-C cancels the current turn or command, never the chat itself."""

    opened: OpenChat
    session: Session
    screen: TerminalScreen
    editor: LineEditor
    signals: SignalWatcher
    leaving: bool = False
    last: LastTurn = field(default_factory=LastTurn)

    async def run(self) -> str:
        """Run until the user leaves; the reason."""
        while not self.leaving:
            try:
                line = await self._within(self.editor.line(self.session, self.last))
            except asyncio.CancelledError:
                return self.signals.reason
            except LeaveError:
                if await self._sure():
                    return self.signals.reason or "prompt_input_exit"
                continue
            if line and line.strip():
                await self._run_line(line)
        return self.signals.reason or "exit"

    async def _sure(self) -> bool:
        try:
            return bool(await self._within(self.editor.sure("Leave the session? [y/N] ")))
        except asyncio.CancelledError:
            return True

    async def _within(self, work: Coroutine[Any, Any, Any]) -> Any:
        """As its own task, so that a signal can end it and the chat goes on."""
        self.signals.task = asyncio.ensure_future(work)
        if self.signals.received is not None:
            self.signals.task.cancel()
        return await self.signals.task

    async def _run_line(self, line: str) -> None:
        command = parse_command(line)
        work = run_command(self, *command) if command is not None else self._turn(line)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            await self._within(work)
        except asyncio.CancelledError:
            self.screen.note("interrupted")
            self.leaving = self.leaving or self.signals.received is not None
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        if self.signals.task is not None:
            self.signals.task.cancel()

    async def _turn(self, line: str) -> None:
        began = time.monotonic()
        ended = await self.session.submit(line)
        self.last = LastTurn(failed=ended.error is not None, duration_ms=round((time.monotonic() - began) * 1000))


async def run_interactive(reassemble: Callable[[], Runtime], options: ChatOptions, environ: Mapping[str, str]) -> int:
    screen = TerminalScreen(coloured=not environ.get("NO_COLOR") and environ.get("TERM") != "dumb")
    async with open_chat(reassemble, options, screen, environ) as opened:
        editor = LineEditor(os.path.join(opened.assembly.paths.state, "chat_history"))
        screen.question = editor.question
        session = await opened.session(options.resume)
        with watch_signals(signal.SIGTERM, signal.SIGHUP) as signals:
            chat = InteractiveChat(opened=opened, session=session, screen=screen, editor=editor, signals=signals)
            reason = "exit"
            try:
                name = session.context.model.name
                given = f"{options.model} ({name})" if options.model not in {"", name} else name
                screen.note(f"{given} in {session.context.cwd}; /help for commands")
                await session.start("startup" if options.resume is None else "resume")
                if options.resume is not None:
                    show_end(session)
                reason = await chat.run()
            finally:
                await finish(chat.session, signals, reason)
        if signals.received is None:
            if total := chat.session.tokens["total"]:
                cost = sum(chat.session.costs.values())
                screen.note(f"{total} tokens, with those of hooks" + (f" (${cost:.4f})" if cost else ""))
            screen.note(f"To continue: hookline chat --resume {chat.session.id}")
        else:
            _detach_closed_terminal()
        return signals.exit_code


def _detach_closed_terminal() -> None:
    """Otherwise Python complains at exit that it cannot flush to a closed terminal."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
