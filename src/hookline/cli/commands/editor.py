"""Ask a person for permission, or show them progress, where they are.

  hookline editor approve --title "Allow tool use?" --message "Tool: Bash"
  hookline editor pick --title "Deploy where?" --option staging --option production
  hookline editor progress begin --token run-1 --title "Running"
  hookline editor progress report --token run-1 --message "tests" --percentage 40
  hookline editor progress end --token run-1

It uses Neovim ($NVIM), else the terminal, else a desktop dialog (zenity, kdialog, macOS). approve exits with 0 only if
the person allowed it, and with 1 if they refused, did not answer in time, or could not be reached; so does pick, which
prints the option that was chosen. progress always exits with 0. Hooks that call "lectic editor …" get here too, unless a
real lectic is on their PATH.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from hookline.cli.options import parse_duration
from hookline.cli.output import safe
from hookline.cli.parser import Parser
from hookline.editor.prompters import ask, prompters, tell
from hookline.editor.question import PersonQuestion, Progress, readable, shorten

_STEPS = ("begin", "report", "end")


def configure(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="approve|pick|progress", required=True, parser_class=Parser)
    about = "Exit with 0 if a person allows it, with 1 otherwise."
    approve = commands.add_parser("approve", description=about, help=about)
    approve.add_argument("--title", metavar="T", default="Allow this?", help="the question")
    approve.add_argument("--message", metavar="M", default="", help="\\n is a line break, except inside double quotes")
    approve.add_argument("--timeout", metavar="5m", default="5m", help="no answer by then means no")
    about = "Print the option that a person chooses, and exit with 0; with 1 otherwise."
    pick = commands.add_parser("pick", description=about, help=about)
    pick.add_argument("--title", metavar="T", default="Choose one", help="the question")
    pick.add_argument("--option", metavar="O", action="append", required=True, help="once for each option")
    pick.add_argument("--timeout", metavar="5m", default="5m", help="no answer by then means none")
    about = "Show a person the progress of something."
    progress = commands.add_parser("progress", description=about, help=about)
    progress.add_argument("step", choices=_STEPS)
    progress.add_argument("--token", metavar="T", required=True, help="identifies the work; the same for all its steps")
    progress.add_argument("--title", metavar="S", default="", help="what is going on; for begin")
    progress.add_argument("--message", metavar="M", default="", help="the current step")
    progress.add_argument("--percentage", metavar="N", type=float, help="0 to 100")


def run(args: Namespace) -> int:
    return _progress(args) if args.action == "progress" else _ask(args)


def _ask(args: Namespace) -> int:
    question = PersonQuestion(
        title=shorten(readable(args.title).replace("\n", " "), 200),
        message=shorten(readable(args.message)) if args.action == "approve" else "",
        patience=parse_duration("--timeout", args.timeout),
        options=tuple(args.option) if args.action == "pick" else (),
    )
    outcome = ask(question, prompters(os.environ))
    if outcome.answer == "allowed":
        if question.options:
            print(outcome.choice)
        return 0
    for note in outcome.notes:
        print(f"hookline: {safe(note)}", file=sys.stderr)
    if outcome.answer == "unavailable":
        print("hookline: refused, because nobody can be asked; run it in Neovim or in a terminal", file=sys.stderr)
    return 1


def _progress(args: Namespace) -> int:
    share = args.percentage
    progress = Progress(
        step=args.step,
        token=readable(args.token),
        title=readable(args.title).replace("\n", " "),
        message=readable(args.message).replace("\n", " "),
        percentage=None if share is None else max(0, min(100, round(share))),
    )
    outcome = tell(progress, prompters(os.environ))
    if outcome.answer == "unavailable":
        for note in outcome.notes:
            print(f"hookline: {safe(note)}", file=sys.stderr)
    return 0
