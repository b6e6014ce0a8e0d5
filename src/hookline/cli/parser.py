"""Options that many commands share, and a parser that never exits with 2."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from hookline.core.errors import UsageError


class Parser(argparse.ArgumentParser):
    """argparse exits with 2 on a wrong call, and agents read 2 as a block: raise instead."""

    def __init__(self, *, prog: str, description: str | None, color: bool = False) -> None:
        """``color`` is what argparse hands from parser to parser from Python 3.14 on; help looks the same on all."""
        super().__init__(prog=prog, description=description, formatter_class=_formatter, allow_abbrev=False)
        self.color = color

    def error(self, message: str) -> NoReturn:
        msg = f"{message}; see: {self.prog} --help"
        raise UsageError(msg)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """argparse makes one for every option, and to ask it for the width imports archive formats."""
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]  # caught
    except (AttributeError, ValueError, OSError):
        return 80


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Which hooks: those found from the working directory, or exactly those of the named files."""
    parser.add_argument("--dialect", metavar="D", help="the dialect of the files, or whose own places to look in")
    parser.add_argument(
        "--config", metavar="FILE", action="append", default=[],
        help="read only this file (repeatable, lowest precedence first); named files count as trusted",
    )  # fmt: skip


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_event(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("event", metavar="EVENT", help="canonical (PreToolUse) or the dialect's own name")
    parser.add_argument(
        "--data", metavar="JSON|@FILE|-", default="{}", help="the event's data: JSON, a file, or - for standard input"
    )
    parser.add_argument("--session", metavar="ID", default="", help="count turns and claims in this session")
    parser.add_argument("--agent", metavar="A", default="", help="the agent the event comes from")
