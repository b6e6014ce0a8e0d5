"""Run a small agent on a snapshot from stdin and print {"last_text", "error"}.

A memex hook with runner = external starts this if it names no command. With --json the exit code is 0 and errors are
in the answer; it is 65 if the snapshot cannot be read. Options override the snapshot. An agent never runs hooks;
--no-hooks also keeps everything it starts from running them.

  hookline agent --steps 2 --json --from-stdin --no-hooks < snapshot.json
  hookline agent --prompt "What is worth remembering?" --tools memory --model haiku
"""

from __future__ import annotations

import json
import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from hookline.cli.options import add_json
from hookline.cli.output import print_json
from hookline.core._dataclass import replace
from hookline.core.errors import DataError, UsageError
from hookline.core.settings import Limits, Settings
from hookline.runners.agent import PASSED_ON, AgentAssignment, parse_directories, run_assignment
from hookline.runners.base import Stop
from hookline.runners.snapshot import NotASnapshotError, Snapshot, decode, read_snapshot

_TIMEOUT = 120.0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--steps", metavar="N", type=int, default=1, help="maximum number of model requests (default 1)"
    )
    parser.add_argument("--from-stdin", action="store_true", help="read the snapshot, a JSON object, from stdin")
    parser.add_argument("--no-hooks", action="store_true", help="run no hooks in anything this agent starts")
    parser.add_argument("--model", metavar="M", default="", help="the model to use")
    parser.add_argument("--prompt", metavar="TEXT", default="", help="the agent's task")
    parser.add_argument("--tools", metavar="A,B", help="the tools it may use; None for no tools")
    parser.add_argument("--timeout", metavar="S", type=float, help=f"maximum seconds (default {_TIMEOUT:g})")
    add_json(parser)


def run(args: Namespace) -> int:
    if not args.from_stdin and not args.prompt:
        raise UsageError("the agent has nothing to do: give --from-stdin or --prompt")
    environ = {**os.environ, **({"HOOKLINE_NO_HOOKS": "1"} if args.no_hooks else {})}
    passed = _passed_on(environ)
    # SIGTERM at a deadline must not leave MCP servers running, so the run ends in order.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stop = Stop()
    try:
        raw = run_assignment(
            AgentAssignment(
                snapshot=_snapshot(args),
                steps=max(1, args.steps),
                settings=_settings(passed),
                stop=stop,
                timeout=args.timeout or (passed or {}).get("timeout") or _TIMEOUT,
                cwd=os.getcwd(),
                environ=environ,
                agent=str((passed or {}).get("agent") or "hookline"),
                directories=parse_directories((passed or {}).get("directories")),
            )
        )
    finally:
        stop.close()
    text = raw.value["last_text"] if raw.value else None
    if args.json:
        usage = {} if passed is None else {"usage": dict(raw.usage)}
        print_json({"last_text": text, "error": raw.error or None, **usage})
        return 0
    for note in (*raw.notes, *([raw.error] if raw.error else [])):
        print(f"hookline: {note}", file=sys.stderr)
    if text:
        print(text)
    return 1 if raw.error else 0


def _snapshot(args: Namespace) -> Snapshot:
    snapshot = Snapshot()
    if args.from_stdin:
        try:
            snapshot = read_snapshot(decode(sys.stdin.buffer.read()))
        except NotASnapshotError as error:
            raise DataError(str(error)) from None
    listed = None if args.tools is None else tuple(name for one in args.tools.split(",") if (name := one.strip()))
    tools = () if listed and [name.lower() for name in listed] == ["none"] else listed
    return replace(
        snapshot,
        model=args.model or snapshot.model,
        prompt=args.prompt or snapshot.prompt,
        tools=snapshot.tools if tools is None else tools,
    )


def _passed_on(environ: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The settings of the process that started us; None if a person did."""
    text = environ.get(PASSED_ON)
    if text is None:
        return None
    try:
        passed = json.loads(text)
    except ValueError as error:
        raise DataError(f"{PASSED_ON} is not valid JSON: {error}") from None
    return passed if isinstance(passed, dict) else {}


def _settings(passed: Mapping[str, Any] | None) -> Settings:
    if passed is None:
        from hookline.engine.build import READ_ONLY, Sources, load_runtime  # only without a parent

        settings = load_runtime(Sources(), READ_ONLY).loaded.settings
        # The nicknames of memex's models, for its own external runner.
        nicknames = load_runtime(Sources(dialect="memex"), READ_ONLY).loaded.settings.models
        return replace(settings, models={**nicknames, **settings.models})
    tokens, usd = passed.get("caps") or (0, 0.0)
    return Settings(
        limits=Limits(model_tokens_per_day=tokens, model_usd_per_day=usd),
        models=dict(passed.get("models") or {}),
        mcp=dict(passed.get("mcp") or {}),
        state_dir=str(passed.get("state_dir") or ""),
    )
