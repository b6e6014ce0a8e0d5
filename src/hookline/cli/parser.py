"""Options that many commands share, and a parser that never exits with 2."""

from __future__ import annotations

import argparse
import os
import sys

from hookline.core.errors import UsageError
from hookline.core.typed import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Raises UsageError: argparse would exit with 2, which agents read as a block."""

    def __init__(self, *, prog: str, description: str | None, color: bool = False) -> None:
        """``color`` is what argparse hands from parser to parser from Python 3.14 on; help looks the same on all."""
        super().__init__(prog=prog, description=description, formatter_class=_formatter, allow_abbrev=False)
        self.color = color

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see: {self.prog} --help")


def _formatter(prog: str) -> argparse.HelpFormatter:
    """With a width: to find one, argparse would import shutil and its archive formats."""
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]  # caught
    except (AttributeError, ValueError, OSError):
        return 80


def add_sources(parser: argparse.ArgumentParser, *, inherit: bool = False) -> None:
    """Options that select hooks: those found here, or those of named files only.

    ``inherit`` is for subcommands: not given there, the options keep what was given before the subcommand.
    """
    default: Any = argparse.SUPPRESS if inherit else None
    parser.add_argument(
        "--dialect", metavar="D", default=default, help="the dialect of the files, or whose own files to read"
    )
    parser.add_argument(
        "--config", metavar="FILE", action="append", default=default if inherit else [],
        help="read only this file (repeatable, lowest precedence first); named files are trusted",
    )  # fmt: skip


def parse_duration(option: str, text: str, examples: str = "90s, 10m or 1h") -> float:
    """Seconds, from a duration as hookline.toml has it. Raises UsageError."""
    from hookline.dialects.native.kinds import Wrong, duration  # few options are durations

    value: Any = duration().read(text)
    if isinstance(value, Wrong):
        raise UsageError(f"{option} {text!r} is not a duration; write {examples}")
    return float(value)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_data(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    text = "the event's data: JSON, a file, or - for standard input"
    parser.add_argument("--data", metavar="JSON|@FILE|-", default=default, help=text)


def add_event(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    nargs: Any = "?" if optional else None
    parser.add_argument("event", metavar="EVENT", nargs=nargs, help="canonical (PreToolUse) or the dialect's own name")
    add_data(parser, "{}")
    parser.add_argument("--session", metavar="ID", default="", help="the session in which turns and claims count")
    parser.add_argument("--agent", metavar="A", default="", help="the agent that sends the event")
