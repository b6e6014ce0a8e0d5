"""Talk with an agent whose every step goes through your hooks; or, with -p, ask it once.

Without -p it is interactive: /help lists the commands, Ctrl-C cancels a turn, Ctrl-D quits. With -p it prints the
answer, or with --json one object: session_id, text, turns, tool_calls, decisions, records, contexts, messages, tokens,
hooks_cost_usd, stop_reason, error. Exit codes: 0; 1 if the prompt was blocked or the turn failed; 78 if the model cannot be used;
128 plus the signal's number after a signal.

  hookline chat
  hookline chat -p "What does this project do?" --json
  hookline chat --continue --model anthropic:claude-sonnet-5-5 --permission-mode accept-edits --allow 'Bash(git *)'
  hookline chat -p "hello" --model script:answers.json
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.cli.loading import build_runtime, require_readable, tell_problems, tell_unapproved
from hookline.cli.options import add_json, add_sources
from hookline.cli.output import print_json, safe
from hookline.cli.stdio import decode_text, read_stream
from hookline.core.errors import ConfigError, UsageError
from hookline.core.extras import install_command
from hookline.engine.build import StoreOptions

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from hookline.agent.chat.context import ChatOptions
    from hookline.engine.build import Runtime

_MODES = ("ask", "accept-edits", "allow", "all")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-p", "--print", metavar="TEXT", dest="prompt", help="ask once and quit; - reads standard input"
    )
    parser.add_argument("--model", metavar="M", default="", help="provider:name, a short name, or script:FILE")
    going_on = parser.add_mutually_exclusive_group()
    going_on.add_argument("--resume", metavar="ID", help="continue this session; the beginning of its id is enough")
    going_on.add_argument("--continue", dest="latest", action="store_true", help="continue the latest session here")
    parser.add_argument(
        "--permission-mode", choices=_MODES, default="ask", metavar="MODE",
        help="ask (default), accept-edits, allow (only what --allow names), all",
    )  # fmt: skip
    parser.add_argument(
        "--allow", metavar="RULE", action="append", default=[], help="Tool or Tool(pattern), such as 'Bash(git *)'"
    )
    parser.add_argument(
        "--tools", metavar="FILE", action="append", default=[], help="a file with tools of your own; see the manual"
    )
    parser.add_argument("--max-turns", metavar="N", type=int, default=100, help="maximum model requests per turn")
    parser.add_argument(
        "--context-limit",
        metavar="N",
        type=int,
        default=150_000,
        help="compact the conversation above this many tokens",
    )
    parser.add_argument("--system", metavar="TEXT", default="", help="replace the system prompt")
    add_sources(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    if args.max_turns < 1 or args.context_limit < 1:
        raise UsageError("--max-turns and --context-limit must be at least 1")
    if args.json and args.prompt is None:
        raise UsageError("--json needs -p: a conversation on a terminal has no JSON form")
    from hookline.agent.permissions import parse_rule  # only this command pays for the chat

    for rule in args.allow:
        parse_rule(rule)
    for file in args.tools:
        if not os.path.isfile(file):
            raise ConfigError(f"cannot read {file!r}: no such file")

    def reassemble() -> Runtime:
        runtime = build_runtime(args, StoreOptions(live=True))
        require_readable(runtime, args.config)
        tell_problems(runtime)
        tell_unapproved(runtime)
        for problem in runtime.loaded.problems:
            if problem.code == "unknown-tool":
                print(f"hookline: {safe(str(problem))}", file=sys.stderr)
        return runtime

    if args.prompt is None:
        return _interactive(args, reassemble)
    return _once(args, reassemble)


def _once(args: Namespace, reassemble: Callable[[], Runtime]) -> int:
    import asyncio

    from hookline.agent.chat.headless import answer_once

    prompt = decode_text(read_stream(sys.stdin)) if args.prompt == "-" else args.prompt
    if not prompt.strip():
        raise UsageError("the prompt is empty")
    result = asyncio.run(answer_once(reassemble, _options(args, interactive=False), prompt, dict(os.environ)))
    if args.json:
        print_json(result.report)
    return result.exit_code


def _interactive(args: Namespace, reassemble: Callable[[], Runtime]) -> int:
    import asyncio

    if not sys.stdin.isatty():
        raise UsageError("chat needs a terminal; to ask once, use -p")
    try:
        from hookline.agent.chat.terminal import run_interactive
    except ImportError as error:
        raise ConfigError(f"the chat needs more packages: {install_command('chat')} ({error})") from error
    return asyncio.run(run_interactive(reassemble, _options(args, interactive=True), dict(os.environ)))


def _options(args: Namespace, *, interactive: bool) -> ChatOptions:
    from hookline.agent.chat.context import ChatOptions as Options

    return Options(
        model=args.model,
        mode=args.permission_mode,
        allow=tuple(args.allow),
        max_turns=args.max_turns,
        context_limit=args.context_limit,
        system=args.system,
        tools=tuple(args.tools),
        resume="" if args.latest else args.resume,
        interactive=interactive,
        report=bool(args.json),
    )
