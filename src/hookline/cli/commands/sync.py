"""Fetch and approve exactly the packs that hookline.toml names, yours and the project's; also repair changed copies.

  hookline sync            after a clone, or when a pack was changed, added or removed in a file
  hookline sync --check    only say whether there is anything to do; exit code 1 if there is

The files must have the digest that the table names: anything else is refused. What is in the store is not fetched again, so
this works offline. A pack that is new here is shown and asked about first. A working copy in which files were changed, or
code appeared, is made anew from the published files.

--json prints {"packs": [{"name", "source", "file", "state"}]}; state is approved, restored, added, removed, refused or
waiting.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from hookline.cli.options import add_json
from hookline.cli.output import print_json, safe
from hookline.cli.pack_install import (
    PackUser,
    approve,
    approve_plain_file,
    ask,
    deploy_missing,
    find_place,
    may_change,
    read_tables,
    review,
    show,
)  # fmt: skip
from hookline.core._dataclass import replace
from hookline.core.errors import PackError
from hookline.core.paths import project_root
from hookline.dialects.plugins import read_layout
from hookline.packs.fetch import Fetched, fetch
from hookline.packs.source import parse_source
from hookline.packs.store import Approved
from hookline.state.trust.covered import CoveredFiles
from hookline.state.trust.digest import Digests


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if there is anything to do")
    parser.add_argument("--yes", action="store_true", help="approve what is shown, without a question")
    add_json(parser)


def run(args: Namespace) -> int:
    place = find_place()
    if not args.check:
        may_change(place)
    done: list[dict[str, str]] = []
    for file in dict.fromkeys((place.file("user"), place.file("project"))):
        rows = {one.source: one for one in place.store.approved() if one.file == file}
        for table in read_tables(file):
            if isinstance(table.get("source"), str) and table.get("enabled") is not False:
                done.append(_one(place, file, table, rows.pop(table["source"], None), args))
        done += [_gone(place, row, args) for row in rows.values()]
    if not args.check and any(one["state"] in {"added", "removed"} for one in done):
        deploy_missing(json=args.json)
    if args.json:
        print_json({"packs": done})
    elif not done:
        print("No hookline.toml here names a pack. To add one: hookline add SOURCE")
    for one in done if not args.json else ():
        why = f": {one['why']}" if "why" in one else ""
        print(f"{one['state']:<10}{safe(one['name'])}  {safe(one['source'])}{safe(why)}")
    bad = {"refused", "waiting", "changed"}
    return int(any(one["state"] in bad for one in done))


def _one(place: PackUser, file: str, table: dict[str, Any], row: Approved | None, args: Namespace) -> dict[str, str]:
    source, digest = table["source"], str(table.get("digest", ""))
    env = tuple((str(name), str(value)) for name, value in (table.get("env") or {}).items())
    closed = table.get("on_failure") == "deny"
    same = row is not None and (row.digest, row.env, row.fail_closed) == (digest, env, closed)
    told = {"name": row.name if row else source, "source": source, "file": file}
    changed = working_copy_changes(place, digest) if same else ()
    if same and not changed:
        return told | {"state": "approved"}
    if args.check:
        return told | {"state": "changed", "why": ", ".join(changed[:5])} if same else told | {"state": "waiting"}
    try:
        fetched = _exactly(place, source, str(table.get("revision", "")), digest)
        one = review(place, fetched, file, env, closed=closed)
    except PackError as error:
        return told | {"state": "refused", "why": str(error)}
    told["name"] = one.row.name
    if not same:
        if not args.json:
            show(one)
        if not ask("Approve it, and run these hooks in every agent?", yes=args.yes):
            return told | {"state": "waiting"}
    approve(place, one)
    approve_plain_file(file)
    return told | ({"state": "restored", "why": ", ".join(changed[:5])} if same else {"state": "added"})


def _exactly(place: PackUser, source: str, revision: str, digest: str) -> Fetched:
    """The files of this digest, from the store or from their source. Raises PackError."""
    home = project_root(place.cwd, place.home)
    wanted = parse_source(source, home, place.home)
    try:
        tree = place.store.read(digest)
        return Fetched(
            source=replace(wanted, text=source),
            revision=revision,
            tree=tree,
            layout=read_layout(tree, os.path.basename(wanted.place)),
        )
    except PackError:
        fetched = fetch(replace(wanted, revision=revision), place.home)
    if fetched.digest != digest:
        raise PackError(f"its files are {fetched.digest}, not {digest}: they are not what was pinned")
    return replace(fetched, source=replace(wanted, text=source))


def _gone(place: PackUser, row: Approved, args: Namespace) -> dict[str, str]:
    told = {"name": row.name, "source": row.source, "file": row.file}
    if args.check:
        return told | {"state": "waiting", "why": "it is no longer in the file"}
    print(f"{row.file} does not name the pack {row.source} any more.", file=sys.stderr)
    if not ask("Remove it?", yes=args.yes):
        return told | {"state": "waiting", "why": "it is no longer in the file, and stays in force"}
    place.store.revoke([row])
    return told | {"state": "removed"}


def working_copy_changes(place: PackUser, digest: str) -> tuple[str, ...]:
    """What in the working copy is not as approved."""
    cover = place.store.cover(digest)
    if cover is None or not place.store.has(digest):
        return ("it is not in the store",)
    return CoveredFiles(cover, place.store.folder(digest), Digests(), os.environ).check()
