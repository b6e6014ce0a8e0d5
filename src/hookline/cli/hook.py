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

from hookline.plain import HOOK_WORDS, plainly

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from types import SimpleNamespace

#: What agents read as a block: said only where the registration asks for it.
BLOCK = 2


def configure(parser: ArgumentParser) -> None:
    from hookline.cli.parser import add_sources  # noqa: PLC0415  most calls are plain and need no parser

    parser.add_argument("--agent", metavar="A", required=True, help="whose payload it is")
    parser.add_argument("--event", metavar="E", default="", help="the event, if the payload does not name it")
    add_sources(parser)
    parser.add_argument(
        "--deadline", metavar="SECONDS", default="", help="how long a client waits for an answer (default: 600)"
    )
    parser.add_argument(
        "--on-failure", choices=("ignore", "deny"), default="ignore",
        help="what it means when hookline itself cannot answer; deny: exit code 2",
    )  # fmt: skip
    parser.add_argument(
        "--registration", metavar="NAME", default="",
        help="which registration calls; one event that comes through two of them is one event",
    )  # fmt: skip
    parser.add_argument("--cold", action="store_true", help="do not ask the daemon")


def plain(words: Sequence[str]) -> SimpleNamespace | None:
    return plainly(words, HOOK_WORDS)


def run(args: Namespace | SimpleNamespace) -> int:
    from hookline.errors import HooklineError  # noqa: PLC0415  the warm way needs nothing of ours

    try:
        return _run(args)
    except HooklineError as error:
        if args.on_failure != "deny":
            raise
        print(f"hookline: {error}", file=sys.stderr)
    except Exception as error:
        if args.on_failure != "deny":
            raise
        print(f"hookline: this is a bug in hookline: {type(error).__name__}: {error}", file=sys.stderr)
    return BLOCK


def _run(args: Namespace | SimpleNamespace) -> int:
    stdin = sys.stdin.buffer.read() if sys.stdin else b""  # a caller may have closed it
    if not args.cold:
        answer = _from_the_daemon(args, stdin)
        if answer is not None:
            return answer
    return _cold(args, stdin)


def _from_the_daemon(args: Namespace | SimpleNamespace, stdin: bytes) -> int | None:
    """The answer of a daemon that is running; without one, this very process answers."""
    from time import monotonic  # noqa: PLC0415  a cold run need not have them

    from hookline.shim import twin  # noqa: PLC0415

    words = [f"--{name.replace('_', '-')}={value}" for name, value in vars(args).items() if isinstance(value, str)]
    words += [f"--config={file}" for file in args.config]
    try:
        code, out, err = twin.ask(words, stdin, monotonic() + twin.DEADLINE)
    except (twin.Refused, twin.Late) as refused:
        if getattr(refused, "absent", False) and os.environ.get("HOOKLINE_DAEMON") == "auto":
            twin.start_daemon()
        return None
    sys.stdout.buffer.write(out)
    sys.stderr.buffer.write(err)
    return code


def _cold(args: Namespace | SimpleNamespace, stdin: bytes) -> int:
    from contextlib import suppress  # noqa: PLC0415

    from hookline.assembly import assemble  # noqa: PLC0415  a warm answer needs none of them
    from hookline.cli.last_resort import hold_deadlines  # noqa: PLC0415
    from hookline.cli.output import answer_apart, tell  # noqa: PLC0415
    from hookline.door import answered, asked_of, heard  # noqa: PLC0415
    from hookline.errors import StateError  # noqa: PLC0415

    one = heard(asked_of(args), stdin, os.environ, os.getcwd())
    assembly = assemble(**one.options(), sessions=bool(one.incoming.session))
    hold_deadlines(assembly.engine, refusal=BLOCK)
    with answer_apart(), assembly.engine:
        told = answered(one, assembly, ending=True)
    with suppress(OSError):  # not through Python's buffer, which would complain at exit with a code of its own
        os.write(2, told.stderr.encode(errors="replace"))
    if told.stdout and not tell(told.stdout, end="") and told.exit_code == 0:
        raise StateError("the answer could not be written to standard output")
    return told.exit_code
