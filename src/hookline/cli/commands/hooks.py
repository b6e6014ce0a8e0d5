"""Browse hooks, switch them off and on, add, delete and try them.

  hookline hooks                              the manager, full screen
  hookline hooks list [--json]                every hook: its events, file, on or off
  hookline hooks run NAME --event E           run one hook on a sample event and print what it prints
  hookline hooks run NAME --payload FILE      … on your own data (- for standard input)
  hookline hooks off NAME [--for 1h]          switch it off, for good or for a while; no file is edited
  hookline hooks on NAME                      switch it on again
  hookline hooks add NAME --on EVENT --run CMD    add it to your own hookline.toml (or --to project)
  hookline hooks remove NAME                  delete it from its hookline.toml

NAME is a hook's name or the beginning of its id. Event names may be canonical (SessionStart) or a dialect's own
(session_start).
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from hookline.cli.loading import build_runtime, tell_problems
from hookline.cli.options import add_json, add_sources, parse_duration
from hookline.cli.output import did_you_mean, iso_time, paint, paint_trust, print_json, safe, table
from hookline.cli.parser import Parser
from hookline.cli.try_hook import RUN, configure_run, run_one
from hookline.core.errors import ConfigError, UsageError
from hookline.core.extras import install_command
from hookline.dialects.event_lookup import canonical_event
from hookline.engine.build import StoreOptions
from hookline.engine.try_hook import find_undeclared
from hookline.tui.catalog import Hook, catalog, find_hooks
from hookline.tui.service import HookService
from hookline.tui.toml_edit import KINDS, Draft, Kind

_LIST = """Show every hook: its name, events, file, and whether it is on.

--json prints {"hooks": [{"hook", "id", "events", "native_events", "dialect", "file", "line", "layer", "action",
"match", "prompt", "enabled", "state", "switched_off", "until", "trust", "fired", "failures", "p50_ms", "p95_ms",
"last_effect"}], "unresolved": [{"hook", "event", "file", "line"}]}; state is one of "on", "off" (in its file) and
"switched off" (by hookline hooks off). "unresolved" are listed scripts that are neither built in nor a file in a hooks
directory; in the table, their state is "not found".
"""


def configure(parser: ArgumentParser) -> None:
    add_sources(parser)
    commands = parser.add_subparsers(dest="action", metavar="list|run|on|off|add|remove", parser_class=Parser)

    def command(name: str, about: str) -> ArgumentParser:
        made = commands.add_parser(name, description=about, help=about.partition("\n")[0])
        add_sources(made, inherit=True)
        return made

    add_json(command("list", _LIST))
    configure_run(command("run", RUN))
    command("on", "Switch a hook on again.").add_argument(
        "hook", metavar="NAME", help="its name, or the beginning of its id"
    )
    off = command("off", "Switch a hook off: it is skipped, and the log says why. No file is edited.")
    off.add_argument("hook", metavar="NAME", help="its name, or the beginning of its id")
    off.add_argument("--for", dest="duration", metavar="1h", help="only for this long: 90s, 10m, 1h")
    _configure_add(command("add", "Append a hook to a hookline.toml; nothing else changes."))
    command("remove", "Delete a hook from its hookline.toml; the file is backed up.").add_argument(
        "hook", metavar="NAME"
    )


def _configure_add(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of the new hook")
    parser.add_argument(
        "--on", metavar="EVENT", action="append", required=True, help="the event it listens to (repeatable)"
    )
    for kind in KINDS:
        parser.add_argument(f"--{kind}", metavar="TEXT", help=f"its action, as {kind} = in hookline.toml")
    for key in ("match", "timeout", "on-failure", "mode", "inject", "description"):
        parser.add_argument(f"--{key}", metavar="TEXT", default="", help=f"{key.replace('-', '_')} = in hookline.toml")
    parser.add_argument(
        "--to", choices=["user", "project", "local"], default="user",
        help="which file: your own (default), the project's, or the project's local one",
    )  # fmt: skip


def run(args: Namespace) -> int:
    act: dict[str | None, Callable[[Namespace, HookService], int]] = {
        None: _manage, "list": _list, "run": _run, "on": _on, "off": _off, "add": _add, "remove": _remove,
    }  # fmt: skip
    if args.action is None:
        _require_screen()
    service = HookService(lambda: build_runtime(args, StoreOptions(record=False, live=False), inspect=True))
    try:
        return act[args.action](args, service)
    finally:
        service.close()


def _require_screen() -> None:
    from importlib.util import find_spec  # only the manager needs it

    if find_spec("textual") is None:
        raise ConfigError(f"the manager needs textual: {install_command('ui')}; without it, see: hookline hooks list")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the manager needs a terminal; programs can use: hookline hooks list --json")


def _manage(_args: Namespace, service: HookService) -> int:
    from hookline.tui.app import Manager  # textual is an extra, and slow to import

    manager = Manager(service)
    manager.run()
    manager.raise_fault()
    return 0


def _list(args: Namespace, service: HookService) -> int:
    hooks = service.hooks
    if args.json:
        print_json({"hooks": [_shape(hook) for hook in hooks], "unresolved": _unresolved(service)})
        return 0
    tell_problems(service.runtime)
    lost = _unresolved(service)
    if not hooks and not lost:
        print("No hooks here. To add one: hookline hooks add NAME --on EVENT --run CMD")
        return 0
    rows: list[tuple[str, ...]] = []
    for hook in hooks:
        state = paint(hook.state_text(service.now), "green" if hook.state == "on" else "grey")
        events, place = ", ".join(dict.fromkeys(hook.events)), hook.origin.place
        rows.append((safe(hook.title, 32), safe(events, 80), hook.dialect, state, paint_trust(hook.trust), safe(place)))
    for one in lost:
        place = f"{one['file']}:{one['line']}"
        rows.append(
            (safe(one["hook"], 32), safe(one["event"], 40), "lazy", paint("not found", "red"), "-", safe(place))
        )
    print(table(("HOOK", "EVENTS", "DIALECT", "STATE", "TRUST", "WRITTEN AT"), rows))
    return 0


def _unresolved(service: HookService) -> list[dict[str, Any]]:
    """Script names in a configuration that nothing was found for."""
    return [
        {"hook": problem.name, "event": problem.pointer.split(".")[2], "file": problem.file, "line": problem.line}
        for problem in service.runtime.loaded.problems
        if problem.code == "unresolved-hook"
    ]


def _shape(hook: Hook) -> dict[str, Any]:
    times, latest, switch = hook.slowest, hook.latest, hook.switch
    return {
        "hook": hook.name,
        "id": hook.id,
        "events": list(dict.fromkeys(hook.events)),
        "native_events": list(dict.fromkeys(spec.native_event or spec.event for spec in hook.specs)),
        "dialect": hook.dialect,
        "file": hook.origin.file,
        "line": hook.origin.line,
        "layer": hook.origin.layer,
        "action": hook.action,
        "match": hook.match,
        "prompt": hook.title != hook.name,
        "enabled": any(spec.enabled for spec in hook.specs),
        "state": hook.state,
        "switched_off": switch is not None,
        "until": iso_time(switch.until) if switch is not None and switch.until is not None else None,
        "trust": hook.trust,
        "fired": hook.fired,
        "failures": hook.failures,
        "p50_ms": round(times[0], 3) if times else None,
        "p95_ms": round(times[1], 3) if times else None,
        "last_effect": latest.last_effect if latest else None,
    }


def _find_one(args: Namespace, service: HookService, event: str | None = None) -> Hook:
    """``event`` distinguishes hooks of the same name."""
    found = find_hooks(service.hooks, args.hook)
    if len(found) > 1 and event:
        found = tuple(hook for hook in found if _listens(hook, event)) or found
    if len(found) > 1:
        places = "; ".join(f"{hook.id} ({hook.origin.place})" for hook in found)
        raise UsageError(f"{len(found)} hooks are called {args.hook!r}; give the id of one: {places}")
    if not found:
        hint = did_you_mean(args.hook, [hook.name for hook in service.hooks]) or "."
        raise UsageError(f"there is no hook {args.hook!r} here{hint} All hooks: hookline hooks list")
    return found[0]


def _listens(hook: Hook, event: str) -> bool:
    return any(spec.event == canonical_event(event, spec.dialect) for spec in hook.specs)


def _on(args: Namespace, service: HookService) -> int:
    hook = _find_one(args, service)
    was_off = service.switch_on(hook)
    print(f"{safe(hook.name)} is switched on." if was_off else f"{safe(hook.name)} was not switched off.")
    if not any(spec.enabled for spec in hook.specs):
        print(f"It still does not run: {hook.origin.file} says enabled = false.", file=sys.stderr)
    return 0


def _off(args: Namespace, service: HookService) -> int:
    hook = _find_one(args, service)
    service.switch_off(hook, None if args.duration is None else parse_duration("--for", args.duration))
    (now,) = [one for one in service.hooks if one.id == hook.id]
    print(
        f"{safe(hook.name)} is {now.state_text(service.now)}. To switch it on again: hookline hooks on {safe(hook.name)}"
    )
    return 0


def _add(args: Namespace, service: HookService) -> int:
    given: list[tuple[Kind, str]] = [(kind, value) for kind in KINDS if (value := getattr(args, kind)) is not None]
    if len(given) != 1:
        raise UsageError(f"name its action with exactly one of --{', --'.join(KINDS)}")
    draft = Draft(
        name=args.name, on=tuple(canonical_event(event, "native") for event in args.on), kind=given[0][0], what=given[0][1],
        match=args.match, timeout=args.timeout, on_failure=args.on_failure, mode=args.mode, inject=args.inject,
        description=args.description,
    )  # fmt: skip
    file = service.add(draft, args.to)
    print(f"Added {safe(draft.name)} to {file}.")
    if args.to != "user":
        print("Hooks of a project run only after you approve them: hookline trust")
    return 0


def _remove(args: Namespace, service: HookService) -> int:
    removed = service.remove(_find_one(args, service))
    print(f"Removed {safe(args.hook)} from {removed.file}. Backup: {removed.backup}")
    return 0


def _run(args: Namespace, service: HookService) -> int:
    return run_one(_find_or_build(args, service), args, service)


def _find_or_build(args: Namespace, service: HookService) -> Hook:
    """A declared hook, or one found by its name alone, as lazy-harness does."""
    if not find_hooks(service.hooks, args.hook):
        spec = find_undeclared(args.hook, args.event, service.runtime)
        if spec is not None:
            return catalog([spec], stats={})[0]
    return _find_one(args, service, args.event)
