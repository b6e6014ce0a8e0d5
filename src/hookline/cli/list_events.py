"""``hookline list --events``: every event, its names, what a deny stops, and the hooks that listen to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.cli.output import paint, print_json, safe, table
from hookline.core.agents import all_agents
from hookline.core.describe import is_inner
from hookline.core.event import EVENTS, event_kind
from hookline.dialects import ALIASES
from hookline.dialects.event_lookup import event_meanings, event_names, native_events

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from hookline.core.hook import HookSpec
    from hookline.engine.build import Runtime


def list_events(args: Namespace, runtime: Runtime) -> int:
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
    every = [*EVENTS, *dict.fromkeys(spec.event for spec in specs if spec.event not in EVENTS)]
    if name is not None:
        meant = event_meanings(name)
        return [event for event in every if event in meant] or sorted(meant)
    known = ALIASES.get(dialect, dialect) if dialect else "native"
    return every if known == "native" else [event for event in every if known in event_names(event)]


def _row(event: str, specs: Sequence[HookSpec]) -> dict[str, Any]:
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
