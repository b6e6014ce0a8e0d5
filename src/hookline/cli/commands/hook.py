"""Answer an agent: its own payload on stdin, its own kind of answer out.

  hookline hook --agent native < event.json
  hookline hook --agent claude-code --event PreToolUse --on-failure deny
  hookline hook context-inject < payload.json     one of hookline's own hooks, on Claude Code's payload or another's

NAME is context-inject, pre-compact, session-export, compound-loop or session-end; what it says is printed as Claude
Code reads it, or as Copilot or Letta Code do if the payload is theirs or --agent says so, and the exit code is 0 whatever
happens.

A repository's agent settings can set variables, so here HOOKLINE_TRUST and HOOKLINE_*_DIR are ignored, and HOME
and XDG_* are, where they point into the project. With --on-failure deny, whatever keeps hookline from answering ends
with exit code 2, which agents read as a block.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.gateway.args import HOOK_WORDS, plainly, seconds_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from types import SimpleNamespace

    from hookline.cli.deadline import AnswerDeadline
    from hookline.gateway.dedupe import Deduper
    from hookline.gateway.request import AgentRequest

#: What agents read as a block: said only where the registration asks for it.
BLOCK = 2
#: Seconds until an answer where the registration does not say it; the clients say the same.
DEADLINE = 600.0


def configure(parser: ArgumentParser) -> None:
    from argparse import SUPPRESS  # most calls are plain and need no parser

    from hookline.cli.parser import add_sources

    parser.add_argument(
        "name", metavar="NAME", nargs="?", default=SUPPRESS, help="run this built-in hook, and no other"
    )
    parser.add_argument("--agent", metavar="A", default="", help="whose payload it is; needed unless a NAME is given")
    parser.add_argument("--event", metavar="E", default="", help="the event, if the payload does not name it")
    add_sources(parser)
    parser.add_argument(
        "--deadline",
        metavar="SECONDS",
        default="",
        help="there is an answer by then, whatever hangs (default: 600)",
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


def parse_fast(words: Sequence[str]) -> SimpleNamespace | None:
    return plainly(words, HOOK_WORDS)


def run(args: Namespace | SimpleNamespace) -> int:
    if name := getattr(args, "name", ""):
        from hookline.cli.builtin_hook import run_built_in  # agents that are deployed never come here

        return run_built_in(name, args.event, args.agent)
    if not args.agent:
        from hookline.core.errors import UsageError  # the warm way needs nothing of ours

        raise UsageError("say whose payload it is with --agent, or name a built-in hook; see: hookline hook --help")
    from hookline.cli.deadline import AnswerDeadline  # who only asks for help has no deadline

    resort = AnswerDeadline(seconds_of(args.deadline) or DEADLINE, deny=args.on_failure == "deny")
    try:
        return _held(args, resort)
    finally:
        resort.stand_down()


def _held(args: Namespace | SimpleNamespace, resort: AnswerDeadline) -> int:
    from hookline.core.errors import HooklineError, shortage  # the warm way needs nothing of ours

    deny = args.on_failure == "deny"
    try:
        return _run(args, resort)
    except HooklineError as error:
        why = f"hookline failed: {error}"
        if not deny:
            resort.claim()
            raise
    except Exception as error:
        short = shortage(error) or f"this is a bug in hookline: {type(error).__name__}: {error}"
        why = f"hookline failed: {short}"
        if not deny:
            resort.claim()
            raise
    resort.claim()
    return _answer(*resort.failure(why), deny=deny)


def _run(args: Namespace | SimpleNamespace, resort: AnswerDeadline) -> int:
    from hookline.cli.stdio import read_stream  # who only asks for help needs none

    stdin = read_stream(sys.stdin) if sys.stdin else b""  # a caller may have closed it
    resort.came(lambda: _heard(args, stdin))
    if not args.cold:
        answer = _from_the_daemon(args, stdin)
        if answer is not None:
            resort.claim()
            return _answer(*answer, deny=args.on_failure == "deny")
    return _cold(args, stdin, resort)


def _from_the_daemon(args: Namespace | SimpleNamespace, stdin: bytes) -> tuple[int, bytes, bytes] | None:
    """The answer of a daemon that is running; without one, this very process answers."""
    from time import monotonic  # a cold run need not have them

    from hookline.daemon.client import twin

    words = [f"--{name.replace('_', '-')}={value}" for name, value in vars(args).items() if isinstance(value, str)]
    words += [f"--config={file}" for file in args.config]
    try:
        return twin.ask(words, stdin, monotonic() + twin.DEADLINE)
    except (twin.Refused, twin.Late) as refused:
        if getattr(refused, "absent", False) and os.environ.get("HOOKLINE_DAEMON") == "auto":
            twin.start_daemon()
        return None


def _answer(code: int, stdout: bytes, stderr: bytes, *, deny: bool) -> int:
    """An answer that cannot be told is none. Then the exit code says so, which needs no reader."""
    from hookline.cli.stdio import write_fully  # who only asks for help needs none

    write_fully(sys.stderr, stderr)
    if not stdout or write_fully(sys.stdout, stdout) or code != 0:
        return code
    why = "the answer could not be written to standard output"
    if deny:
        write_fully(sys.stderr, f"hookline failed: {why}\n".encode())
        return BLOCK
    from hookline.core.errors import StateError  # nearly no call fails there

    raise StateError(why)


def _cold(args: Namespace | SimpleNamespace, stdin: bytes, resort: AnswerDeadline) -> int:
    from hookline.cli.deadline import ended_by_nobody, hold_deadlines
    from hookline.cli.output import stdout_to_stderr
    from hookline.engine.build import assemble  # a warm answer needs none of them
    from hookline.gateway.handler import answered

    one = _heard(args, stdin)
    resort.heard(one)
    assembly = assemble(**one.options(), sessions=bool(one.incoming.session))
    resort.assembled(assembly)
    hold_deadlines(assembly.engine, refusal=BLOCK)
    with stdout_to_stderr(), ended_by_nobody(), assembly.engine:
        told = answered(one, assembly, ending=True, once=_memory(one), decided=resort.decided)
    resort.claim()
    stdout, stderr = told.stdout.encode(errors="surrogateescape"), told.stderr.encode(errors="replace")
    return _answer(told.exit_code, stdout, stderr, deny=args.on_failure == "deny")


def _heard(args: Namespace | SimpleNamespace, stdin: bytes) -> AgentRequest:
    from hookline.gateway.request import asked_of, heard  # a warm answer needs none of it

    return heard(asked_of(args), stdin, os.environ, os.getcwd())


def _memory(one: AgentRequest) -> Deduper | None:
    """Where an event that comes through two registrations is known from one call to the next."""
    if not one.asked.registration:
        return None
    from hookline.gateway.dedupe_file import Filed  # only a call that names its registration needs it

    return Filed(one.paths.state)
