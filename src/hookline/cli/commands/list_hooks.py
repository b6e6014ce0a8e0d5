"""Show every hook: its event and file, whether it is on and trusted, its speed and failures.

--json prints {"hooks": [{"hook", "id", "event", "native_event", "dialect", "file", "line", "layer", "match", "action",
"mode", "timeout", "on_failure", "enabled", "trust", "fired", "failures", "last_fired", "last_effect", "p50_ms",
"p95_ms", "budget_ms", "over_budget", "cache", "late", "switched_off"}]}; trust is one of "own", "trusted", "unknown",
"changed"; late says by how much the latest runs were over budget, null if they were not. Trusted hooks that cannot be read
or are gone are in "missing": [{"hook", "event", "file"}].

  hookline list --events                  every event: its names, what a deny stops, which hooks listen to it
  hookline list --events --event session_start --dialect lazy

--events --json prints {"events": [{"event", "family", "about", "deny_stops", "modifies", "injects", "flow", "match_on",
"names": {dialect: [name]}, "agents", "hooks"}]}; agents are those that send it natively, hooks those that listen to it
here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hookline.cli.loading import (
    build_runtime,
    missing_registrations,
    require_readable,
    tell_problems,
    tell_unapproved,
    tell_warnings,
    unread_files,
)
from hookline.cli.options import add_json, add_sources
from hookline.cli.output import iso_time, paint, paint_trust, print_json, safe, table
from hookline.core._dataclass import replace
from hookline.core.agents import all_agents
from hookline.core.describe import action_text, matcher_text
from hookline.core.event import EVENTS, event_kind
from hookline.core.hook import HookSpec, is_inner
from hookline.core.typed import TYPE_CHECKING, Any
from hookline.dialects import ALIASES
from hookline.engine.build import READ_ONLY, Runtime, record_store
from hookline.engine.match import in_order
from hookline.state.record.query import HookStats, stats

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.state.record.store import Store
    from hookline.state.trust import Approval


def _list_events(args: Namespace, runtime: Runtime) -> int:
    specs = [spec for spec in runtime.engine.specs if spec.enabled and not is_inner(spec)]
    rows = [_row(event, specs) for event in _chosen(args.event, args.dialect, specs)]
    if args.json:
        print_json({"events": rows})
        return 0
    print(table(("EVENT", "A DENY STOPS", "HOOKS", "OTHER NAMES"), [_cells(row, args.dialect) for row in rows]))
    print("\nMore about one event and its hooks: hookline explain EVENT")
    return 0


def _chosen(name: str | None, dialect: str | None, specs: Sequence[HookSpec]) -> list[str]:
    """All events and custom ones that hooks listen to; only a dialect's with ``--dialect``; or those of one name."""
    from hookline.dialects.event_lookup import event_meanings, event_names  # a plain list asks for no event

    every = [*EVENTS, *dict.fromkeys(spec.event for spec in specs if spec.event not in EVENTS)]
    if name is not None:
        named = event_meanings(name)
        return [event for event in every if event in named] or sorted(named)
    known = ALIASES.get(dialect, dialect) if dialect else "native"
    return every if known == "native" else [event for event in every if known in event_names(event)]


def _row(event: str, specs: Sequence[HookSpec]) -> dict[str, Any]:
    from hookline.dialects.event_lookup import event_names, native_events

    kind = event_kind(event)
    return {
        "event": event,
        "family": kind.family,
        "about": kind.about,
        "deny_stops": kind.denies or None,
        "modifies": sorted(kind.modifies),
        "injects": kind.injects,
        "flow": kind.flow,
        "match_on": kind.subject,
        "names": {dialect: list(names) for dialect, names in event_names(event).items()},
        "agents": [target.name for target in all_agents().values() if event in native_events(target)],
        "hooks": list(dict.fromkeys(spec.name for spec in specs if spec.event == event)),
    }


def _cells(row: Mapping[str, Any], dialect: str | None) -> tuple[str, ...]:
    stops = row["deny_stops"]
    return (
        safe(row["event"], 40),
        stops or paint("-", "grey"),
        safe(", ".join(row["hooks"]), 40) or paint("-", "grey"),
        _called(row["event"], row["names"], ALIASES.get(dialect, dialect) if dialect else None),
    )


def _called(event: str, names: Mapping[str, Sequence[str]], only: str | None) -> str:
    """Its other names, each with its dialects; then the dialects that use the canonical name."""
    whose: dict[str, list[str]] = {}
    for dialect, theirs in names.items():
        for name in theirs:
            if only in {None, dialect}:
                whose.setdefault(name, []).append(dialect)
    same = whose.pop(event, [])
    other = [f"{name} ({', '.join(dialects)})" for name, dialects in whose.items()]
    return "; ".join((*other, *([f"same in {', '.join(same)}"] if same else [])))


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--event", metavar="E", help="only hooks of this event")
    parser.add_argument("--events", action="store_true", help="show events instead of hooks")
    add_sources(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    named = {None} if args.event is None else _event_names(args.event)
    runtime = build_runtime(args, READ_ONLY, inspect=True)
    runtime.engine.close()
    require_readable(runtime, args.config)
    tell_problems(runtime)
    for one in missing_registrations(runtime):
        print(f"hookline: {safe(str(one))}", file=sys.stderr)
    if args.events:
        return _list_events(args, runtime)
    store = record_store(runtime.paths, runtime.loaded.settings.record)
    known = stats(store, {spec.id: spec.name for spec in runtime.loaded.specs}) if os.path.exists(store.path) else {}
    late = _late_hooks(store, runtime.loaded.specs)
    store.close()
    shown = [spec for spec in in_order(runtime.loaded.specs) if not is_inner(spec)]
    specs = [spec for spec in shown if None in named or named & {spec.event, spec.native_event}]
    missing = [one for one in runtime.missing if None in named or one.event in named]
    if args.json:
        standing = _standing(runtime)
        rows = [_full_shape(spec, runtime, known.get(spec.id), late, standing) for spec in specs]
        gone = [{"hook": one.name, "event": one.event, "file": one.file} for one in missing]
        print_json({"hooks": rows} | ({"missing": gone} if gone else {}))
        return 0
    tell_unapproved(runtime)
    tell_warnings(specs, os.getcwd())
    if not (args.config or args.dialect):
        for unread in unread_files(runtime):
            print(f"hookline: {safe(str(unread))}", file=sys.stderr)
    if not specs and not missing:
        print(_nothing_here(args.event, runtime))
        return 0
    head = ("HOOK", "EVENT", "DIALECT", "ON", "TRUST", "LAST FIRED", "P50/P95 MS", "FAILED", "WRITTEN AT")
    print(table(head, [*_hook_rows(specs, runtime, known, late), *_missing_rows(missing, runtime)]))
    for line in _hints(specs, runtime, late):
        print(f"\n{line}")
    return 0


def _event_names(event: str) -> frozenset[str | None]:
    from hookline.dialects.event_lookup import expand_event_name

    return frozenset(expand_event_name(event))


def _late_hooks(store: Store, specs: Sequence[HookSpec]) -> dict[str, str]:
    if all(spec.thrift is None for spec in specs):
        return {}
    from hookline.doctor.finding import budget_overruns  # few hooks have a budget

    return budget_overruns(store, specs)


def _nothing_here(event: str | None, runtime: Runtime) -> str:
    if event and runtime.loaded.specs:
        return f"No hook listens to {safe(event, 80)} here. All hooks: hookline list"
    if runtime.loaded.faulty:
        return "No hook could be read here. What is wrong: hookline check"
    return "No hooks here. To add one: hookline hooks add NAME --on EVENT --run CMD"


def _hints(specs: Sequence[HookSpec], runtime: Runtime, late: Mapping[str, str]) -> Iterator[str]:
    """What a table cannot say, each with the next command."""
    yield from (f"{safe(spec.name, 32)} ({spec.event}) is {late[spec.id]}" for spec in specs if spec.id in late)
    if runtime.switches.some_off() and any(runtime.switches.off(spec) for spec in specs):
        yield "Some hooks are switched off. Until when: hookline hooks list"
    if any(_trust(spec, runtime) == "changed" for spec in specs):
        yield "Changed hooks count as failed. To review and approve them: hookline trust"


def _missing_rows(missing: Iterable[Approval], runtime: Runtime) -> Iterator[tuple[str, ...]]:
    """Trusted hooks that refuse because they cannot be read: a guard that is not listed would seem not to be there."""
    for one in missing:
        on = paint("refuses", "red") if one.on_failure in {"deny", "abort"} else paint("off", "grey")
        why = "file has errors" if one.file in runtime.loaded.faulty else "missing"
        yield safe(one.name, 32), safe(one.event, 40), "", on, paint(why, "red"), "", "", "", safe(_short(one.file))


def _trust(spec: HookSpec, runtime: Runtime) -> str:
    """``own`` for hooks that need no approval: the user's, the machine's, and files named on the command line."""
    verdict = runtime.verdicts.get(spec.extra.get("plugin", spec.id))  # a plugin's hooks are approved with it
    return "own" if verdict is None else verdict.state


def _standing(runtime: Runtime) -> dict[str, bool]:
    """By id, whether it is on, as it would run: a project's change to one's own hook counts once it is trusted."""
    return {one.id: one.enabled for one in reversed(runtime.engine.specs)}


def _hook_rows(
    specs: list[HookSpec], runtime: Runtime, known: dict[str, HookStats], late: dict[str, str]
) -> Iterator[tuple[str, ...]]:
    standing, some_off = _standing(runtime), runtime.switches.some_off()
    written_at = {file: _short(file) for file in dict.fromkeys(spec.origin.file for spec in specs)}
    for spec in specs:
        seen = known.get(spec.id)
        on = standing.get(spec.id, spec.enabled) and not (some_off and runtime.switches.off(spec))
        yield (
            safe(spec.name, 32),
            safe(spec.event, 40),
            spec.dialect,
            paint("on", "green") if on else paint("off", "grey"),
            paint_trust(_trust(spec, runtime)),
            _ago(seen.last_time) if seen and seen.last_time else "never",
            f"{seen.p50:.1f}/{seen.p95:.1f}{' late' if spec.id in late else ''}" if seen and seen.fired else "",
            str(seen.failures) if seen and seen.failures else "",
            safe(replace(spec.origin, file=written_at[spec.origin.file]).place),
        )


def _short(file: str) -> str:
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def _full_shape(
    spec: HookSpec, runtime: Runtime, seen: HookStats | None, late: dict[str, str], standing: dict[str, bool]
) -> dict[str, Any]:
    thrift = spec.thrift
    return {
        **_shape(spec, _trust(spec, runtime), seen),
        "enabled": standing.get(spec.id, spec.enabled),
        "budget_ms": thrift.budget * 1000 if thrift and thrift.budget is not None else None,
        "over_budget": thrift.over_budget if thrift and thrift.budget is not None else None,
        "cache": thrift.cache if thrift and thrift.cache else None,
        "late": late.get(spec.id),
        "switched_off": runtime.switches.off(spec) is not None,
    }


def _shape(spec: HookSpec, trust: str, seen: HookStats | None) -> dict[str, Any]:
    return {
        "hook": spec.name,
        "id": spec.id,
        "event": spec.event,
        "native_event": spec.native_event,
        "dialect": spec.dialect,
        "file": spec.origin.file,
        "line": spec.origin.line,
        "layer": spec.origin.layer,
        "match": matcher_text(spec),
        "action": action_text(spec),
        "mode": spec.mode,
        "timeout": spec.timeout,
        "on_failure": spec.on_failure,
        "enabled": spec.enabled,
        "trust": trust,
        "fired": seen.fired if seen else 0,
        "failures": seen.failures if seen else 0,
        "last_fired": iso_time(seen.last_time) if seen and seen.last_time else None,
        "last_effect": seen.last_effect if seen else None,
        "p50_ms": round(seen.p50, 3) if seen and seen.fired else None,
        "p95_ms": round(seen.p95, 3) if seen and seen.fired else None,
    }


def _ago(when: float) -> str:
    seconds = max(0.0, time.time() - when)
    for limit, unit, size in ((60, "s", 1), (3600, "min", 60), (86400, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{seconds / 86400:.0f} days ago"
