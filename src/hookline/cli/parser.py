"""A parser that never exits with 2."""

from __future__ import annotations

import argparse
import os
import sys

from hookline.core.errors import UsageError
from hookline.core.typed import NoReturn

_NUMBERS: dict[object, str] = {int: "a whole number", float: "a number"}


class Parser(argparse.ArgumentParser):
    """Raises UsageError: argparse would exit with 2, which agents read as a block."""

    def __init__(self, *, prog: str, description: str | None, color: bool = False) -> None:
        """``color`` is what argparse hands from parser to parser from Python 3.14 on; help looks the same on all."""
        super().__init__(prog=prog, description=description, formatter_class=_formatter, allow_abbrev=False)
        self.color = color

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}{self._nearest_option(message)}; see: {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Names the words that there are once: argparse would also give the list as the argument's name."""
        if action.choices is None or value in action.choices:
            return
        from hookline.core.suggest import nearest

        shown = action.metavar if isinstance(action.metavar, str) and "|" in action.metavar else ""
        words = shown.split("|") if shown else [str(one) for one in action.choices]
        near = nearest(str(value), words, 0.7)
        hint = f" (did you mean {near!r}?)" if near else f"; write one of {', '.join(words)}"
        what = f"{action.option_strings[-1]} cannot be" if action.option_strings else f"there is no {self.prog}"
        raise argparse.ArgumentError(None, f"{what} {str(value)!r}{hint}")

    def _get_value(self, action: argparse.Action, arg_string: str) -> object:
        """Says what a number is to people: argparse would name Python's type."""
        kind = _NUMBERS.get(action.type)
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            if not kind:
                raise
            what = action.option_strings[-1]
            raise argparse.ArgumentError(None, f"{what} must be {kind}, not {arg_string!r}") from None

    def _nearest_option(self, message: str) -> str:
        """For an option that argparse does not know, the one that looks most like it."""
        from hookline.core.suggest import nearest

        words = message.partition("unrecognized arguments: ")[2].split()
        unknown = words[0].partition("=")[0] if words else ""
        known = [name for action in self._actions for name in action.option_strings]
        near = nearest(unknown, known, 0.7) if unknown.startswith("--") else ""
        return f" (did you mean {near}?)" if near else ""


def _formatter(prog: str) -> argparse.HelpFormatter:
    """With a width: to find one, argparse would import shutil and its archive formats."""
    return _Formatter(prog, width=_columns() - 2)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions are shown as they are written where the terminal is wide enough."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(_fitted(part, width) for part in text.strip("\n").split("\n\n"))


def _fitted(part: str, width: int) -> str:
    """A paragraph, or a list of commands of which each has an explanation beside it: then below it."""
    import re
    import textwrap

    lines = part.split("\n")
    if max(map(len, lines)) <= width:
        return part
    if not part.startswith(" "):
        return textwrap.fill(" ".join(map(str.strip, lines)), width, break_long_words=False, break_on_hyphens=False)
    shown: list[str] = []
    for line in re.sub(r"\n {12,}", " ", part).split("\n"):
        command, _, about = re.sub(r"(?<=\S) {2,}", "\0", line, count=1).partition("\0")
        shown += [command, *textwrap.wrap(about, width, initial_indent=" " * 6, subsequent_indent=" " * 6)]
    return "\n".join(shown)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]  # caught
    except (AttributeError, ValueError, OSError):
        return 80
