"""Answer the completion scripts: what may follow on the line that is being typed. Files are read, and nothing is run."""

from __future__ import annotations

import os
import re
from argparse import Action, ArgumentParser
from collections.abc import Callable, Iterable
from typing import Any

import argcomplete

from hookline.cli import COMMANDS, command_module
from hookline.cli.manual import topics
from hookline.cli.parser import Parser
from hookline.config.layers import ProjectGate
from hookline.config.load import load
from hookline.core.agents import all_agents
from hookline.core.event import EVENTS
from hookline.core.hook import is_inner
from hookline.core.paths import find_paths, home_directory
from hookline.dialects import DIALECTS, dialect_named

#: A repository chooses the names of its hooks. Those that mean something to a shell, or look like an option, are not offered.
_HARMLESS = re.compile(r"[\w.+@/][\w.+@/-]*")


def complete() -> None:
    """Print what fits and end the process; the line is in the environment."""
    argcomplete.autocomplete(completion_parser(os.environ.get("COMP_LINE", "")), always_complete_options=False)


def hook_names(dialect: str | None = None) -> list[str]:
    """The hooks found here, each once, in the order of the files."""
    home = home_directory(os.environ)
    paths = find_paths(os.environ, home)
    loaded = load(
        cwd=os.getcwd(), home=home, environ=os.environ, paths=paths, dialect=dialect, gate=ProjectGate("inspect")
    )
    names = dict.fromkeys(spec.name for spec in loaded.specs if not is_inner(spec))
    return [name for name in names if _HARMLESS.fullmatch(name)]


def completion_parser(line: str) -> Parser:
    """All commands in one parser. Only those on the line are imported."""
    parser = Parser(prog="hookline", description=None)
    commands = parser.add_subparsers(parser_class=Parser)
    for name, about in COMMANDS.items():
        made = commands.add_parser(name, description=about, help=about)
        if name in line:
            command_module(name).configure(made)
            _add_completers(made)
    helps = commands.add_parser("help", description=None, help="explain a command")
    helps.add_argument("command", choices=list(dict.fromkeys((*COMMANDS, "exit-codes", *topics()))))
    return parser


def _add_completers(parser: ArgumentParser) -> None:
    for action in parser._actions:  # noqa: SLF001  argparse offers no other way
        if isinstance(action.choices, dict):  # subcommands
            for inner in action.choices.values():
                _add_completers(inner)
        elif action.choices is None and (completer := _completer(action)) is not None:
            action.completer = completer  # type: ignore[attr-defined]  # argcomplete's own way


def _completer(action: Action) -> Callable[..., Iterable[str]] | None:
    """None leaves it to argcomplete, which offers files; zsh does that itself."""
    if action.dest in {"event", "events", "on"}:
        return _event_names
    if action.dest == "agent":
        return lambda **_: tuple(all_agents())
    if action.dest in {"hook", "revoke"}:
        return lambda **_: hook_names()
    if action.metavar == "D":
        return lambda **_: tuple(DIALECTS)
    files = action.metavar in {"FILE", "PATH", "TRANSCRIPT"} and os.environ.get("_ARGCOMPLETE_SHELL") != "zsh"
    return None if files else lambda **_: ()


def _event_names(parsed_args: Any, **_: Any) -> Iterable[str]:
    """The canonical ones, and those of the dialect that is on the line."""
    dialect = str(getattr(parsed_args, "dialect", None))
    return (*EVENTS, *(dialect_named(dialect).events if dialect in DIALECTS else ()))
