"""Answer an agent: its own payload on stdin, its own kind of answer out.

  hookline hook --agent native < event.json
  hookline hook --agent claude-code --event PreToolUse

A repository's agent settings can set variables, so here HOOKLINE_TRUST and HOOKLINE_*_DIR are ignored, and HOME
and XDG_* are, where they point into the project.
"""

from __future__ import annotations

import json
import os
import pwd
import sys
from typing import TYPE_CHECKING, Any

from hookline import fold
from hookline.assembly import assemble
from hookline.cli.gather import tell_problems, tell_untrusted
from hookline.cli.parser import add_sources
from hookline.config.discover import project_root
from hookline.dialects import dialect_named
from hookline.errors import DataError, UsageError
from hookline.paths import paths_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="A", required=True, help="whose payload it is")
    parser.add_argument("--event", metavar="E", default="", help="the event, if the payload does not name it")
    add_sources(parser)


def run(args: Namespace) -> int:
    from hookline.run.watchdog import install_interrupt  # noqa: PLC0415  a process of our own may use a signal

    install_interrupt()
    speaker = dialect_named(args.agent)
    payload = _payload()
    name = args.event or _event_name(payload)
    incoming = speaker.event_in(name, payload, os.environ)
    cwd = incoming.cwd or os.getcwd()
    home, own = _surroundings(cwd)
    assembly = assemble(
        cwd=cwd, config=args.config or None, dialect=args.dialect, environ=os.environ, home=home,
        agent=args.agent, sessions=bool(incoming.session), live=False, agents_door=True, paths=paths_of(own, home),
    )  # fmt: skip
    tell_problems(assembly)
    with assembly.engine as engine:
        event = engine.event(
            incoming.event, incoming.data, session=incoming.session, cwd=cwd, native=payload, native_name=incoming.native_name or name
        )  # fmt: skip
        decision = fold.amend(engine.fire_event(event), engine.join())
    tell_untrusted(decision)
    answer = speaker.reply_out(event, decision)
    sys.stdout.write(answer.stdout)
    sys.stderr.write(answer.stderr)
    return answer.exit_code


def _surroundings(cwd: str) -> tuple[str, dict[str, str]]:
    """The home directory and the variables that may say where our files are."""
    home = os.environ.get("HOME", "")
    root = os.path.realpath(project_root(cwd, home)).rstrip("/") + "/"

    def planted(value: str) -> bool:
        return os.path.realpath(value).startswith(root)

    if not os.path.isabs(home) or planted(home):
        home = pwd.getpwuid(os.geteuid()).pw_dir
    own = {name: value for name, value in os.environ.items() if name.startswith("XDG_") and not planted(value)}
    return home, own


def _payload() -> dict[str, Any]:
    try:
        value = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DataError(f"standard input is not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"standard input is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DataError("standard input is nested too deeply") from None
    if not isinstance(value, dict):
        raise DataError("standard input must be a JSON object")
    return value


def _event_name(payload: dict[str, Any]) -> str:
    for field in ("hook_event_name", "event_type", "event", "hookEventName"):
        if isinstance(payload.get(field), str):
            return str(payload[field])
    raise UsageError("the payload does not name its event; add --event NAME")
