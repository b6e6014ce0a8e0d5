"""Show packs: where each comes from, whether it is pinned and approved, how often and how fast its hooks run, what failed.

  hookline packs               the packs of your and the project's hookline.toml, and plugins that agents have installed;
                               below them, the packs that come with hookline and are not added yet

What an agent has installed runs there. To run it in the other agents too, add to your hookline.toml:
[[source]] with installed = "claude-code".

--json prints {"packs": [{"name", "source", "revision", "digest", "file", "state", "hooks", "fired", "p50_ms", "failures",
"last_failure"}], "installed": [{"agent", "name", "folder", "enabled", "hooks", "shared"}], "own": [names]}; state is approved,
changed, waiting or missing.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from typing import Any

from hookline.cli.commands.sync import working_copy_changes
from hookline.cli.loading import look
from hookline.cli.options import add_json
from hookline.cli.output import paint, print_json, safe, table
from hookline.cli.pack_install import PackUser, find_place, read_tables
from hookline.core.errors import PackError
from hookline.dialects.plugins import read_layout
from hookline.engine.build import Runtime, record_store
from hookline.packs.fetch import own_packs
from hookline.packs.installed import agents_with_plugins, find_plugins, plugin_layout
from hookline.packs.store import Approved
from hookline.packs.tree import read_folder
from hookline.state.record.query import HookStats, last_failure, stats
from hookline.state.record.store import Store


def configure(parser: ArgumentParser) -> None:
    add_json(parser)


def run(args: Namespace) -> int:
    place = find_place()
    runtime = look(inspect=True)
    store = record_store(runtime.paths, runtime.loaded.settings.record)
    known = stats(store, {spec.id: spec.name for spec in runtime.loaded.specs}) if os.path.exists(store.path) else {}
    packs = list(_packs(place, runtime, known, store))
    store.close()
    installed = list(_installed(place, runtime))
    if args.json:
        print_json({"packs": packs, "installed": installed, "own": list(own_packs())})
        return 0
    if packs:
        print(table(("PACK", "STATE", "HOOKS", "FIRED", "P50 MS", "FAILED", "FROM"), [_cells(one) for one in packs]))
    else:
        print("No packs here. To add one: hookline add SOURCE")
    for one in packs:
        if one["last_failure"]:
            print(f"{safe(one['name'])} failed last: {safe(one['last_failure'], 160)}")
    if installed:
        print("\nInstalled in agents:")
        print(table(("AGENT", "PLUGIN", "HOOKS", "ELSEWHERE"), [
            (one["agent"], safe(one["name"]), str(one["hooks"]), "yes" if one["shared"] else "no" if one["enabled"] else "off") for one in installed
        ]))  # fmt: skip
    taken = {one["source"] for one in packs}
    if free := [name for name in own_packs() if f"hookline:{name}" not in taken]:
        print("\nThese come with hookline; to add one: hookline add hookline:NAME")
        print(own_pack_lines(free))
    return 0


def own_pack_lines(names: Iterable[str]) -> str:
    """Packs of ours, each with what it does."""
    folders = own_packs()
    return "\n".join(f"  {name:<20}{_purpose(folders[name])}".rstrip() for name in names)


def _purpose(folder: str) -> str:
    """What a pack of ours does, in its own words."""
    try:
        return safe(read_layout(read_folder(folder), os.path.basename(folder)).description)
    except PackError:
        return ""


def _packs(place: PackUser, runtime: Runtime, known: dict[str, HookStats], store: Store) -> Iterator[dict[str, Any]]:
    files = dict.fromkeys((place.file("user"), place.file("project")))
    rows = [one for one in place.store.approved() if one.file in files]
    seen = {(one.file, one.source, one.digest) for one in rows}
    for row in rows:
        changed = working_copy_changes(place, row.digest)
        yield _shape(row, f"changed: {changed[0]}" if changed else "approved", runtime, known, store)
    for file in files:
        for one in read_tables(file):
            key = (file, str(one.get("source")), str(one.get("digest")))
            if key not in seen and one.get("enabled") is not False:
                row = Approved(
                    file=file, source=key[1], revision=str(one.get("revision", "")), digest=key[2], name=key[1]
                )
                yield _shape(row, "waiting", runtime, known, store)


def _shape(row: Approved, state: str, runtime: Runtime, known: dict[str, HookStats], store: Store) -> dict[str, Any]:
    specs = [spec for spec in runtime.loaded.specs if spec.extra.get("pack") == row.digest]
    runs = [known[spec.id] for spec in specs if spec.id in known]
    failed = [spec.id for spec in specs if spec.id in known and known[spec.id].failures]
    return {
        "name": row.name, "source": row.source, "revision": row.revision, "digest": row.digest, "file": row.file, "state": state,
        "hooks": len(specs), "fired": sum(one.fired for one in runs), "p50_ms": max((one.p50 for one in runs), default=None),
        "failures": sum(one.failures for one in runs), "last_failure": last_failure(store, failed[-1]) if failed else "",
    }  # fmt: skip


def _cells(one: dict[str, Any]) -> tuple[str, ...]:
    state = one["state"]
    speed = f"{one['p50_ms']:.0f}" if one["p50_ms"] is not None else ""
    at = f" at {one['revision'][:12]}" if one["revision"] else ""
    colour = "green" if state == "approved" else "yellow"
    return (
        safe(one["name"]), paint(safe(state, 60), colour), str(one["hooks"]), str(one["fired"]), speed, str(one["failures"] or ""),
        safe(one["source"] + at),
    )  # fmt: skip


def _installed(place: PackUser, runtime: Runtime) -> Iterator[dict[str, Any]]:
    shared = {spec.extra["installed"] for spec in runtime.loaded.specs if "installed" in spec.extra}
    for agent in agents_with_plugins():
        for one in find_plugins(agent, place.home):
            layout = plugin_layout(one)
            yield {
                "agent": agent, "name": one.name, "folder": one.folder, "enabled": one.enabled,
                "hooks": len(layout.files) if layout else 0, "shared": agent in shared and one.enabled and layout is not None,
            }  # fmt: skip
