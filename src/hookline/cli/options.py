"""Options that many commands share, and what a command declares, for command lines that need no argparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

from hookline.core.errors import UsageError
from hookline.core.typed import TYPE_CHECKING, Any, cast
from hookline.gateway.args import CommandSyntax, parse_plain

if TYPE_CHECKING:
    from argparse import ArgumentParser


class _Declared:
    """Stands where a parser would while a command declares its options."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.flags: set[str] = set()
        self.choices: dict[str, frozenset[str]] = {}
        self.alone = ""
        #: What only argparse can read, as it is where it is not given.
        self.absent: dict[str, Any] = {}

    def add_argument(self, flag: str, default: Any = None, **how: Any) -> None:
        name = flag.removeprefix("--").replace("-", "_")
        if how.get("action") == "store_true":
            self.flags.add(name)
        elif how.get("nargs") == "*":
            self.absent[name] = []
        elif "type" in how:
            self.absent[name] = default
        elif name == flag:
            self.alone = name
        else:
            self.options[name] = default
            self.choices |= {name: frozenset(how["choices"])} if "choices" in how else {}


def parse_declared(configure: Callable[[ArgumentParser], None], words: Sequence[str]) -> SimpleNamespace | None:
    """What a plain command line says; None when argparse is needed, whose import takes longer than most commands."""
    declared = _Declared()
    configure(cast("ArgumentParser", declared))
    syntax = CommandSyntax(
        options=declared.options, flags=frozenset(declared.flags), alone=declared.alone, choices=declared.choices
    )
    plain = parse_plain(words, syntax)
    return None if plain is None else SimpleNamespace(**declared.absent, **vars(plain))


def add_sources(parser: ArgumentParser, *, inherit: bool = False) -> None:
    """Options that select hooks: those found here, or those of named files only.

    ``inherit`` is for subcommands: not given there, the options keep what was given before the subcommand.
    """
    default: Any = None
    if inherit:
        from argparse import SUPPRESS  # plain calls do without it

        default = SUPPRESS
    parser.add_argument(
        "--dialect", metavar="D", default=default, help="the dialect of the files, or whose own files to read"
    )
    parser.add_argument(
        "--config", metavar="FILE", action="append", default=default if inherit else [],
        help="read only this file (repeatable, lowest precedence first); named files are trusted",
    )  # fmt: skip


def parse_duration(option: str, text: str, examples: str = "90s, 10m or 1h") -> float:
    """Seconds, from a duration as hookline.toml has it. Raises UsageError."""
    from hookline.dialects.native.kinds import Wrong, duration  # noqa: PLC0415  few options are durations

    value: Any = duration().read(text)
    if isinstance(value, Wrong):
        raise UsageError(f"{option} {text!r} is not a duration; write {examples}")
    return float(value)


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_data(parser: ArgumentParser, default: str | None = None) -> None:
    text = "the event's data: JSON, a file, or - for standard input"
    parser.add_argument("--data", metavar="JSON|@FILE|-", default=default, help=text)


def add_event(parser: ArgumentParser, *, optional: bool = False) -> None:
    nargs: Any = "?" if optional else None
    parser.add_argument("event", metavar="EVENT", nargs=nargs, help="canonical (PreToolUse) or the dialect's own name")
    add_data(parser, "{}")
    parser.add_argument("--session", metavar="ID", default="", help="the session that the event belongs to")
    parser.add_argument("--agent", metavar="A", default="", help="the agent that sends the event")
