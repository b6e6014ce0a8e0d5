"""Answer an agent: its payload on stdin, its answer on stdout.

  hookline hook --agent native < event.json
  hookline hook --agent claude-code --event PreToolUse --on-failure deny
  hookline hook context-inject < payload.json     run one of hookline's built-in hooks

NAME is context-inject, recall, pre-compact, session-export, compound-loop or session-end. Its answer is in Claude Code's format,
or in Copilot's or Letta Code's if the payload is theirs or --agent names them. The exit code is always 0.

A repository's agent settings can set variables. So entries of hookline deploy name the person's directories, and no
variable does. A call without --config-dir follows HOME and XDG_*, unless they point into the project; if they differ
from the password database, the hooks and approvals of both places count. HOOKLINE_TRUST, HOOKLINE_*_DIR and the
variables of other hook systems are ignored. With --on-failure deny, any failure of hookline itself ends with exit code
2, which agents read as a block.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing, suppress
from time import monotonic
from types import SimpleNamespace

from hookline.cli.deadline import BLOCK, AnswerDeadline
from hookline.cli.stdio import read_stream, stdout_to_stderr, write_fully
from hookline.core.errors import HooklineError, StateError, UsageError, shortage
from hookline.core.result import encode
from hookline.core.typed import TYPE_CHECKING
from hookline.gateway.args import parse_seconds

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.dialects.base import Answer
    from hookline.gateway.dedupe import Deduper
    from hookline.gateway.request import AgentRequest

#: Seconds until an answer while it is not known which hooks there are.
_LEAST = 60.0
#: What an entry of hookline deploy says about the person's files; variables do not count beside it.
_DIRECTORIES = {
    "home": "the home directory of the person (default: the one in the password database)",
    "config-dir": "where hookline.toml of the person is; variables that name directories are then ignored",
    "state-dir": "where approvals, sessions and records are",
    "data-dir": "where data is",
    "runtime-dir": "where the daemon's socket is, if not in the state directory",
}


def configure(parser: ArgumentParser) -> None:
    from argparse import SUPPRESS  # most calls are plain and need no parser

    from hookline.cli.options import add_sources

    parser.add_argument("name", metavar="NAME", nargs="?", default=SUPPRESS, help="run only this built-in hook")
    parser.add_argument(
        "--agent", metavar="A", default="", help="the agent that sends the payload; required without NAME"
    )
    parser.add_argument("--event", metavar="E", default="", help="the event, if the payload does not name it")
    add_sources(parser)
    parser.add_argument(
        "--deadline",
        metavar="SECONDS",
        default="",
        help="answer by then, whatever hangs (default: as long as the hooks of the event may take)",
    )
    parser.add_argument(
        "--on-failure", choices=("ignore", "deny"), default="ignore",
        help="what to do if hookline itself fails; deny: exit code 2",
    )  # fmt: skip
    parser.add_argument(
        "--registration", metavar="NAME", default="",
        help="the calling registration; an event that arrives through two of them counts once",
    )  # fmt: skip
    for name, what in _DIRECTORIES.items():
        parser.add_argument(f"--{name}", metavar="DIR", default="", help=what)
    parser.add_argument("--cold", action="store_true", help="do not use the daemon")


def run(args: Namespace | SimpleNamespace) -> int:
    if name := getattr(args, "name", ""):
        from hookline.cli.builtin_hook import run_builtin_hook  # registrations of hookline never come here

        return run_builtin_hook(name, args.event, args.agent)
    if not args.agent:
        raise UsageError("name the agent with --agent, or a built-in hook; see: hookline hook --help")
    most = parse_seconds(args.deadline) or _LEAST
    deadline = AnswerDeadline(min(most, _LEAST), deny=args.on_failure == "deny")
    try:
        return _answer_or_fail(args, deadline)
    finally:
        with suppress(Exception):  # the answer is given
            deadline.cancel()


def _answer_or_fail(args: Namespace | SimpleNamespace, deadline: AnswerDeadline) -> int:
    deny = args.on_failure == "deny"
    try:
        return _run(args, deadline)
    except Exception as error:
        if deadline.answer is not None:  # decided: whatever fails afterwards, the agent gets this answer
            deadline.claim()
            note = f"hookline: failed after the decision: {type(error).__name__}: {error}\n"
            answer = deadline.answer
            return deadline.write(answer.exit_code, encode(answer.stdout), encode(note + answer.stderr))
        if not deny:
            deadline.claim()
            raise
        bug = f"this is a bug in hookline: {type(error).__name__}: {error}"
        why = str(error) if isinstance(error, HooklineError) else shortage(error) or bug
    deadline.claim()
    return _write(*deadline.failure(f"hookline failed: {why}"), deny=deny)


def _run(args: Namespace | SimpleNamespace, deadline: AnswerDeadline) -> int:
    stdin = read_stream(sys.stdin) if sys.stdin else b""  # a caller may have closed it
    deadline.parse = lambda: _request(args, stdin)
    if not args.cold:
        answer = _ask_daemon(args, stdin)
        if answer is not None:
            deadline.claim()
            return _write(*answer, deny=args.on_failure == "deny")
    return _run_cold(args, stdin, deadline)


def _ask_daemon(args: Namespace | SimpleNamespace, stdin: bytes) -> tuple[int, bytes, bytes] | None:
    """The answer of a running daemon; None without one: then this process answers."""
    from hookline.daemon.client import twin  # a cold run does without

    words = [f"--{name.replace('_', '-')}={value}" for name, value in vars(args).items() if isinstance(value, str)]
    words += [f"--config={file}" for file in args.config]
    try:
        return twin.ask(words, stdin, monotonic() + twin.DEADLINE)
    except (twin.Refused, twin.Late) as refused:
        if getattr(refused, "absent", False) and os.environ.get("HOOKLINE_DAEMON") == "auto":
            twin.start_daemon(words)
        return None


def _write(code: int, stdout: bytes, stderr: bytes, *, deny: bool) -> int:
    """Write the answer. If that fails there is none, and the exit code, which needs no reader, says so."""
    write_fully(sys.stderr, stderr)
    if not stdout or write_fully(sys.stdout, stdout) or code != 0:
        return code
    why = "the answer could not be written to standard output"
    if not deny:
        raise StateError(why)
    write_fully(sys.stderr, f"hookline failed: {why}\n".encode())
    return BLOCK


def _run_cold(args: Namespace | SimpleNamespace, stdin: bytes, deadline: AnswerDeadline) -> int:
    from hookline.cli.failsafe import exit_raises, hold_deadlines
    from hookline.engine.build import StoreOptions, load_runtime  # a warm answer needs none of these
    from hookline.gateway.handler import answer_seconds, handle, hook_sources

    request = deadline.request = _request(args, stdin)
    runtime = deadline.runtime = load_runtime(
        hook_sources(request), StoreOptions(live=False, sessions=bool(request.incoming.session)), reuse=True
    )
    arguments = request.arguments
    specs, event = runtime.engine.specs, request.incoming.event
    deadline.extend(answer_seconds(specs, event, arguments.agent, arguments.deadline))
    hold_deadlines(runtime.engine, refusal=BLOCK)

    def decided(answer: Answer) -> None:
        deadline.answer = answer

    with stdout_to_stderr(), exit_raises(), closing(runtime.engine.sessions), runtime.engine:
        answer = handle(request, runtime, ending=True, deduper=_deduper(request), on_answer=decided)
    deadline.claim()
    return _write(answer.exit_code, encode(answer.stdout), encode(answer.stderr), deny=args.on_failure == "deny")


def _request(args: Namespace | SimpleNamespace, stdin: bytes) -> AgentRequest:
    from hookline.gateway.request import arguments_from, parse_request  # a warm answer needs none of it

    return parse_request(arguments_from(args), stdin, os.environ, os.getcwd(), caller_pid=os.getpid)


def _deduper(request: AgentRequest) -> Deduper | None:
    """Recognizes an event that comes through two registrations, from one call to the next."""
    if not request.arguments.registration:
        return None
    from hookline.gateway.dedupe_file import FileDeduper  # only a call that names its registration needs it

    return FileDeduper(request.paths.state)
