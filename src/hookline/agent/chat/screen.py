"""What the chat shows and asks, on a terminal or without one."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hookline.agent.permissions import Answer

_COLOURS = {"info": "90", "warning": "33", "error": "31", "call": "36", "thought": "2"}
#: Lines of a tool's output that are shown; the model sees all of it.
_LINES = 6
_QUESTION = "Allow it? [y]es, [a]lways in this session, [n]o: "


def printable(text: str) -> str:
    """Show control characters as dots, so that text cannot control the terminal."""
    return "".join(char if char in "\n\t" or char.isprintable() else "·" for char in text)


def _split_blocks(text: str) -> tuple[str, str]:
    """What is complete up to a blank line outside of a fence, and the rest."""
    fenced, cut, at = False, 0, 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.strip() and line.endswith("\n"):
            cut = at
    return text[:cut], text[cut:]


def _markdown(text: str, width: int) -> str:
    """As text for a terminal; as it is where rich is not installed."""
    try:
        from rich.console import Console  # a turn takes longer than this import
        from rich.markdown import Markdown
    except ImportError:
        return text if text.endswith("\n") else f"{text}\n"
    console = Console(force_terminal=True, width=max(20, width), color_system="standard", highlight=False)
    with console.capture() as shown:
        console.print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    lines = [line.rstrip() for line in shown.get().splitlines()]
    return "\n".join(lines).strip("\n") + "\n\n"


@dataclass(slots=True)
class TerminalScreen:
    """``question`` asks for one line; it is set once there is a line editor."""

    coloured: bool = True
    question: Callable[[str], Awaitable[str]] | None = None
    _open_line: bool = False
    _thinking: bool = False
    #: The part of an answer that is not shown yet: Markdown is rendered block by block.
    _block: str = ""

    def write(self, text: str) -> None:
        """The terminal may be gone while the session is still ending."""
        with suppress(OSError, ValueError):
            sys.stdout.write(text)
            sys.stdout.flush()

    def line(self, text: str, kind: str) -> None:
        self.reply_done()
        self.write((f"\x1b[{_COLOURS[kind]}m{printable(text)}\x1b[0m" if self.coloured else printable(text)) + "\n")

    def text(self, piece: str) -> None:
        if self._thinking:
            self.reply_done()
        if not self.coloured:
            self.write(printable(piece))
            self._open_line = not piece.endswith("\n")
            return
        self._block += piece
        whole, self._block = _split_blocks(self._block)
        self._render(whole)

    def _render(self, text: str) -> None:
        if text.strip():
            self.write(_markdown(printable(text), shutil.get_terminal_size().columns))

    def thinking(self, piece: str) -> None:
        shown = printable(piece)
        self.write(f"\x1b[{_COLOURS['thought']}m{shown}\x1b[0m" if self.coloured else shown)
        self._open_line = self._thinking = True

    def reply_done(self) -> None:
        block, self._block = self._block, ""
        self._render(block)
        if self._open_line:
            self.write("\n")
        self._open_line = self._thinking = False

    def call_begins(self, name: str, given: Mapping[str, Any], agent: str) -> None:
        who = f"{agent}: " if agent else ""
        self.line(f"● {who}{name} {_brief(given)}", "call")

    def call_done(self, call: ShownCall, agent: str) -> None:
        lines = call.output.splitlines()
        more = [f"… {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
        for line in [*lines[:_LINES], *more]:
            self.line(f"  ⎿ {line[:200]}", "error" if call.is_error else "info")

    def note(self, text: str, level: Level = "info") -> None:
        self.line(text, level)

    async def ask(self, name: str, given: Mapping[str, Any], reason: str) -> Answer | None:
        if self.question is None:
            return None
        self.line(f"{name} wants to run:\n{_whole(given)}", "warning")
        if reason:
            self.line(reason, "warning")
        while True:
            answer = (await self.question(_QUESTION)).strip().lower()
            match answer:
                case "y" | "yes":
                    return "once"
                case "a" | "always":
                    return "always"
                case "n" | "no" | "":
                    return "no"
                case _:
                    self.line("write y, a or n", "info")


def _brief(given: Mapping[str, Any]) -> str:
    shown = next((given[key] for key in ("command", "file_path", "pattern", "description") if key in given), None)
    text = shown if isinstance(shown, str) else json.dumps(dict(given), ensure_ascii=False, default=str)
    flat = " ".join(text.split())
    return flat if len(flat) <= 120 else flat[:119] + "…"


def _whole(given: Mapping[str, Any]) -> str:
    """All of it: nobody should allow what is not shown."""
    if isinstance(given.get("command"), str):
        return f"  {given['command']}"
    return "\n".join(f"  {key}: {value}" for key, value in given.items())


Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """One tool call and its result; ``decision`` says who allowed or refused it."""

    id: str
    name: str
    input: Any
    output: str = ""
    is_error: bool = False
    duration_ms: int = 0
    decision: str = ""


class Screen(Protocol):
    """No method may fail a turn."""

    def text(self, piece: str) -> None:
        """The next piece of the answer, as it comes."""
        ...

    def thinking(self, piece: str) -> None: ...

    def reply_done(self) -> None:
        """One reply is complete; its tool calls follow, or nothing."""
        ...

    def call_begins(self, name: str, given: Mapping[str, Any], agent: str) -> None: ...

    def call_done(self, call: ShownCall, agent: str) -> None: ...

    def note(self, text: str, level: Level = "info") -> None: ...

    async def ask(self, name: str, given: Mapping[str, Any], reason: str) -> Answer | None:
        """Ask for a permission; None when there is nobody to ask."""
        ...
