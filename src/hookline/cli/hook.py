"""Answer an agent: its own payload on stdin, its own kind of answer out.

  hookline hook --agent native < event.json
  hookline hook --agent claude-code --event PreToolUse --on-failure deny

A repository's agent settings can set variables, so here HOOKLINE_TRUST and HOOKLINE_*_DIR are ignored, and HOME
and XDG_* are, where they point into the project. With --on-failure deny, whatever keeps hookline from answering ends
with exit code 2, which agents read as a block.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.assembly import assemble
from hookline.cli.plain import Words, plainly
from hookline.door import Asked, answered, heard
from hookline.errors import HooklineError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from types import SimpleNamespace

#: What agents read as a block: said only where the registration asks for it.
BLOCK = 2

_WORDS = Words(
    options={"agent": "", "event": "", "dialect": None, "config": [], "deadline": "", "on_failure": "ignore"},
    needed=frozenset({"agent"}),
    choices={"on_failure": frozenset({"ignore", "deny"})},
)


def configure(parser: ArgumentParser) -> None:
    from hookline.cli.parser import add_sources  # noqa: PLC0415  most calls are plain and need no parser

    parser.add_argument("--agent", metavar="A", required=True, help="whose payload it is")
    parser.add_argument("--event", metavar="E", default="", help="the event, if the payload does not name it")
    add_sources(parser)
    parser.add_argument(
        "--deadline", metavar="SECONDS", default="", help="how long the client waits for an answer (default: 600)"
    )
    parser.add_argument(
        "--on-failure", choices=("ignore", "deny"), default="ignore",
        help="what it means when hookline itself cannot answer; deny: exit code 2",
    )  # fmt: skip


def plain(words: Sequence[str]) -> SimpleNamespace | None:
    return plainly(words, _WORDS)


def run(args: Namespace | SimpleNamespace) -> int:
    if args.on_failure != "deny":
        return _run(args)
    try:
        return _run(args)
    except HooklineError as error:
        print(f"hookline: {error}", file=sys.stderr)
    except Exception as error:
        print(f"hookline: this is a bug in hookline: {type(error).__name__}: {error}", file=sys.stderr)
    return BLOCK


def _run(args: Namespace | SimpleNamespace) -> int:
    from hookline.run.watchdog import install_interrupt  # noqa: PLC0415  a process of our own may use a signal

    install_interrupt()
    asked = Asked(agent=args.agent, event=args.event, dialect=args.dialect, config=tuple(args.config))
    one = heard(asked, sys.stdin.buffer.read(), os.environ, os.getcwd())
    assembly = assemble(**one.options(), sessions=bool(one.incoming.session))
    with assembly.engine:
        told = answered(one, assembly, ending=True)
    sys.stdout.write(told.stdout)
    sys.stderr.write(told.stderr)
    return told.exit_code
