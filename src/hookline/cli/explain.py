"""Show which hooks would run for an event, in which order, and why the others would not.

Nothing is run and nothing is counted; the same code decides as in a real firing.

--json prints {"event", "flow", "deny_stops", "hooks": [{"hook", "dialect", "file", "line", "layer", "would_run",
"why_not", "mode", "flow", "timeout", "on_failure", "action"}], "keys": only with --keys}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.cli.gather import assembly_of, event_of, tell_problems
from hookline.cli.output import paint, print_json, safe, table
from hookline.cli.parser import add_event, add_json, add_sources
from hookline.describe import action_text
from hookline.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.assembly import Assembly
    from hookline.engine import Explained


def configure(parser: ArgumentParser) -> None:
    add_event(parser)
    for action in parser._actions:  # noqa: SLF001  --keys needs no event
        if action.dest == "event":
            action.nargs = "?"
    add_sources(parser)
    parser.add_argument("--keys", action="store_true", help="print the keys that hooks of a shell ask for")
    add_json(parser)


def run(args: Namespace) -> int:
    assembly = assembly_of(args, record=False, sessions=bool(args.session))
    with assembly.engine:
        if args.keys:
            return _keys(args, assembly)
        if args.event is None:
            raise UsageError("name an event: hookline explain PreToolUse")
        event = event_of(args, assembly)
        explained = assembly.engine.explain(event)
    if args.json:
        hooks = [_shape(one) for one in explained]
        kind = event.kind
        print_json({"event": kind.name, "flow": kind.flow, "deny_stops": kind.denies or None, "hooks": hooks})
        return 0
    tell_problems(assembly)
    deny = f"a deny stops {event.kind.denies}" if event.kind.deniable else "it cannot be denied any more"
    print(f"{paint(event.kind.name, 'bold')}: {event.kind.about} {deny[0].upper()}{deny[1:]}.")
    print(_shown(explained) if explained else "No hook listens to it here; see: hookline list")
    return 0


def _shown(explained: tuple[Explained, ...]) -> str:
    rows = [
        (
            str(position),
            safe(one.spec.name, 40),
            one.spec.dialect,
            paint("no", "grey") if one.why else paint("yes", "green"),
            f"{one.spec.mode}, {one.spec.flow}",
            safe(one.why or action_text(one.spec), 90),
        )
        for position, one in enumerate(explained, 1)
    ]
    return table(("#", "HOOK", "DIALECT", "RUNS", "HOW", "WHY NOT, OR WHAT"), rows)


def _shape(one: Explained) -> dict[str, Any]:
    spec = one.spec
    return {
        "hook": spec.name,
        "dialect": spec.dialect,
        "file": spec.origin.file,
        "line": spec.origin.line,
        "layer": spec.origin.layer,
        "would_run": not one.why,
        "why_not": one.why or None,
        "mode": spec.mode,
        "flow": spec.flow,
        "timeout": spec.timeout,
        "on_failure": spec.on_failure,
        "action": action_text(spec),
    }


def _keys(args: Namespace, assembly: Assembly) -> int:
    from hookline.dialects.lash.keys import key_hook_config  # noqa: PLC0415  only this option needs it

    keys = key_hook_config(assembly.loaded.specs)
    if args.json:
        print_json({"keys": keys})
    else:
        print("all keys" if keys == "*" else "\n".join(repr(key) if key == " " else key for key in keys))
    return 0
