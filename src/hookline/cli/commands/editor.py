"""Ask a person for permission, or tell them how far something is, where they are.

  hookline editor approve --title "Allow tool use?" --message "Tool: Bash"
  hookline editor progress begin --token run-1 --title "Running"
  hookline editor progress report --token run-1 --message "tests" --percentage 40
  hookline editor progress end --token run-1

In Neovim ($NVIM), else on the terminal, else in a dialog of the desktop (zenity, kdialog, macOS). approve exits with 0
only if the person allowed it, and with 1 if they refused, did not answer in time, or nobody could be asked. progress
always exits with 0: what nobody sees has still happened. Hooks that call "lectic editor …" get here too, unless a real
lectic is on their PATH.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from hookline.cli.output import safe
from hookline.cli.parser import Parser
from hookline.core.errors import UsageError
from hookline.editor.locate import ask, prompters, tell
from hookline.editor.prompters import Progress, Question, readable, shorten

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_STEPS = ("begin", "report", "end")


def configure(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="approve|progress", required=True, parser_class=Parser)
    about = "Exit with 0 if a person allows it, with 1 otherwise."
    approve = commands.add_parser("approve", description=about, help=about)
    approve.add_argument("--title", metavar="T", default="Allow this?")
    approve.add_argument("--message", metavar="M", default="", help="\\n is a line break, except inside double quotes")
    approve.add_argument("--timeout", metavar="5m", default="5m", help="whoever has not answered by then has refused")
    about = "Tell a person how far something is."
    progress = commands.add_parser("progress", description=about, help=about)
    progress.add_argument("step", choices=_STEPS)
    progress.add_argument("--token", metavar="T", required=True, help="what it is about; the same for all its steps")
    progress.add_argument("--title", metavar="S", default="")
    progress.add_argument("--message", metavar="M", default="")
    progress.add_argument("--percentage", metavar="N", type=float, help="0 to 100")


def run(args: Namespace) -> int:
    return _approve(args) if args.action == "approve" else _progress(args)


def _approve(args: Namespace) -> int:
    question = Question(
        title=shorten(readable(args.title).replace("\n", " "), 200),
        message=shorten(readable(args.message)),
        patience=_seconds(args.timeout),
    )
    outcome = ask(question, prompters(os.environ))
    if outcome.answer == "allowed":
        return 0
    for note in outcome.notes:
        print(f"hookline: {safe(note)}", file=sys.stderr)
    if outcome.answer == "unavailable":
        print("hookline: nobody can be asked, so it is refused; run it in Neovim or in a terminal", file=sys.stderr)
    return 1


def _progress(args: Namespace) -> int:
    share = args.percentage
    told = Progress(
        step=args.step,
        token=readable(args.token),
        title=readable(args.title).replace("\n", " "),
        message=readable(args.message).replace("\n", " "),
        percentage=None if share is None else max(0, min(100, round(share))),
    )
    outcome = tell(told, prompters(os.environ))
    if outcome.answer == "unavailable":
        for note in outcome.notes:
            print(f"hookline: {safe(note)}", file=sys.stderr)
    return 0


def _seconds(text: str) -> float:
    from hookline.dialects.native.kinds import Wrong, duration  # one way to write a duration

    value: Any = duration().read(text)
    if isinstance(value, Wrong):
        raise UsageError(f"--timeout {text!r} is not a duration; write 90s or 5m")
    return float(value)
