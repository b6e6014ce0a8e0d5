"""The input line: editing, a private history, and the hooks on the line and on the prompt."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from hookline.agent.chat.session import Session
from hookline.core.paths import private_dir
from hookline.core.result import Decision

_PROMPT = "> "
#: Seconds between two checks for late answers to the prompt.
_LOOK = 0.1


class LeaveError(Exception):
    """Ctrl-C or Ctrl-D at the prompt. (A KeyboardInterrupt inside a task would end the whole loop.)"""


class _PrivateHistory(FileHistory):
    """A private file. A line is saved when it is submitted, not when Enter is pressed: a hook
    may have changed it, or may not want it kept."""

    def __init__(self, path: str) -> None:
        private_dir(os.path.dirname(path))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
        os.chmod(path, 0o600)
        super().__init__(path)

    def append_string(self, string: str) -> None:
        """Pressing Enter saves nothing yet."""

    def remember(self, text: str) -> None:
        with suppress(OSError):
            super().append_string(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """How the previous turn went; a prompt may show it."""

    failed: bool = False
    duration_ms: int = 0


def _keys() -> KeyBindings:
    keys = KeyBindings()

    def clear_or_leave(event: KeyPressEvent) -> None:
        """Ctrl-C clears the line; on an empty line it leaves."""
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt())

    keys.add("c-c")(clear_or_leave)
    return keys


class LineEditor:
    def __init__(self, history_file: str) -> None:
        self.history = _PrivateHistory(history_file)
        self._prompt, self._right = _PROMPT, ""
        self._session: PromptSession[str] = PromptSession(
            message=lambda: ANSI(self._prompt), rprompt=lambda: ANSI(self._right), history=self.history,
            key_bindings=_keys(),
        )  # fmt: skip
        self._questions: PromptSession[str] = PromptSession()

    async def line(self, session: Session, last: LastTurn) -> str | None:
        """The next line, as changed by hooks; None when a hook dropped it. Raises ``LeaveError``."""
        await self._render(session, last)
        waiting = asyncio.ensure_future(self._late(session))
        try:
            text = await self._session.prompt_async(handle_sigint=False)
        except (KeyboardInterrupt, EOFError) as error:
            raise LeaveError from error
        finally:
            waiting.cancel()
        return await self._submitted(session, text)

    async def question(self, text: str) -> str:
        """Ask during a turn. No answer (Ctrl-D, or the terminal is gone) is an empty one; Ctrl-C cancels the
        turn."""
        try:
            return await self._questions.prompt_async(text, handle_sigint=False)
        except EOFError:
            return ""
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None

    async def sure(self, text: str) -> bool:
        """A second Ctrl-C or Ctrl-D means yes."""
        try:
            answer = await self._questions.prompt_async(text, handle_sigint=False)
        except (EOFError, KeyboardInterrupt):
            return True
        return answer.strip().lower() in {"y", "yes"}

    async def _render(self, session: Session, last: LastTurn) -> None:
        decision = await session.events.shell(
            "prompt.render", prompt=_PROMPT, right="", cwd=session.context.cwd, exit_code=int(last.failed),
            duration_ms=last.duration_ms, jobs=0,
        )  # fmt: skip
        self._prompt, self._right = _PROMPT, ""
        if decision.effect != "deny":
            self._apply(decision.data)

    def _apply(self, data: Any) -> None:
        if isinstance(data.get("prompt"), str):
            self._prompt = data["prompt"]
        if isinstance(data.get("right"), str):
            self._right = data["right"]

    async def _late(self, session: Session) -> None:
        """Update the prompt with answers that arrive after it was drawn."""
        while True:
            await asyncio.sleep(_LOOK)
            for applied in session.context.engine.applied_now():
                if applied.event.kind.name == "prompt.render":
                    self._apply(applied.data)
                    self._session.app.invalidate()

    async def _submitted(self, session: Session, text: str) -> str | None:
        if not text.strip():
            return ""
        decision: Decision = await session.events.shell("input.submit", text=text, history=True)
        session.keep_mode(decision)
        if decision.effect == "deny" or decision.aborted is not None:
            session.context.screen.note(decision.reason or "a hook dropped the line", "warning")
            return None
        changed = decision.data.get("text", text)
        line = changed if isinstance(changed, str) else text
        if decision.data.get("history", True):
            self.history.remember(line)
        return line
