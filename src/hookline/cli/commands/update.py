"""Show what a newer version of a pack would do, and take it if you approve.

  hookline update                    every pack
  hookline update NAME               one
  hookline update NAME@REVISION      to a tag, a commit or a version
  hookline update --dry-run          show the difference, change nothing

You see which hooks would be added and removed, and how each file differs, before you are asked. Without a revision it is
the newest commit of the default branch, or the newest version of a package. An archive is pinned by its digest and has no
newer version: add the new one.

--json prints {"packs": [{"name", "source", "from", "to", "state", "hooks", "files"}]}; state is current, waiting or updated.
"""

from __future__ import annotations

import difflib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from hookline.cli.commands.add import install
from hookline.cli.options import add_json
from hookline.cli.output import paint, print_json, safe
from hookline.cli.pack_install import (
    PackUser,
    Review,
    ask,
    deploy_missing,
    doubts,
    find_place,
    hook_lines,
    may_change,
    review,
)  # fmt: skip
from hookline.core._dataclass import replace
from hookline.core.errors import UsageError
from hookline.core.paths import project_root
from hookline.dialects.plugins import read_layout
from hookline.packs.fetch import Fetched, fetch
from hookline.packs.source import parse_source
from hookline.packs.store import Approved
from hookline.packs.tree import Tree

#: Lines of one file's difference that are shown.
_MOST_LINES = 200


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME[@REVISION]", nargs="?", help="which (default: all)")
    parser.add_argument("--dry-run", action="store_true", help="show the difference; change nothing")
    parser.add_argument("--yes", action="store_true", help="approve what is shown, without a question")
    add_json(parser)


def run(args: Namespace) -> int:
    place = find_place()
    if not args.dry_run:
        may_change(place)
    name, _, revision = (args.name or "").rpartition("@") if "@" in (args.name or "")[1:] else (args.name or "", "", "")
    here = {place.file("user"), place.file("project")}
    rows = [one for one in place.store.approved() if one.file in here and name in {"", one.name, one.source}]
    if not rows:
        raise UsageError(
            f"no pack {name!r} is approved here; all of them: hookline packs"
            if name
            else "no pack is approved here; to add one: hookline add SOURCE"
        )
    done = [_one(place, row, revision, args) for row in rows]
    if any(one["state"] == "updated" for one in done):
        deploy_missing(json=args.json)
    if args.json:
        print_json({"packs": done})
    return 0


def _one(place: PackUser, row: Approved, revision: str, args: Namespace) -> dict[str, object]:
    wanted = replace(parse_source(row.source, project_root(place.cwd, place.home), place.home), revision=revision)
    told: dict[str, object] = {
        "name": row.name,
        "source": row.source,
        "from": row.revision or row.digest,
        "to": "",
        "hooks": [],
        "files": [],
    }
    new = fetch(wanted, place.home) if wanted.kind != "archive" else None
    if new is None or new.digest == row.digest:
        if not args.json:
            print(f"{safe(row.name)} is current.")
        return told | {"state": "current"}
    old = place.store.read(row.digest)
    was = review(
        place,
        Fetched(source=new.source, revision=row.revision, tree=old, layout=read_layout(old, row.name)),
        row.file,
        row.env,
    )
    one = review(
        place, replace(new, source=replace(new.source, text=row.source)), row.file, row.env, closed=row.fail_closed
    )
    hooks, files = list(_difference(hook_lines(was), hook_lines(one))), list(_files(old, new.tree))
    told |= {"to": one.row.revision or one.row.digest, "hooks": hooks, "files": files}
    if not args.json:
        _show(row, one, hooks, files, old)
    if args.dry_run or not ask(f"Approve this version of {row.name}?", yes=args.yes):
        if not args.dry_run:
            print("Nothing changed.")
        return told | {"state": "waiting"}
    install(place, one)
    print(f"Updated {row.name}.") if not args.json else None
    return told | {"state": "updated"}


def _show(row: Approved, one: Review, hooks: list[str], files: list[str], old: Tree) -> None:
    print(
        f"{paint(safe(row.name), 'bold')}  {safe((row.revision or row.digest)[:19])} → {safe((one.row.revision or one.row.digest)[:19])}"
    )
    for line in (*hooks, *(f"note: {line}" for line in doubts(one))):
        print(f"  {safe(line)}")
    for path in files:
        print(f"  {safe(path)}")
    for path in (file[2:] for file in files):
        before, after = (tree[path].data if path in tree else b"" for tree in (old, one.fetched.tree))
        lines = list(difflib.unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}", lineterm="", n=2))
        for line in lines[:_MOST_LINES]:
            print(f"    {safe(line)}")
        if len(lines) > _MOST_LINES:
            print(f"    … {len(lines) - _MOST_LINES} more lines")


def _lines(data: bytes) -> list[str]:
    return ["(binary)"] if b"\0" in data[:4096] else data.decode(errors="replace").splitlines()


def _difference(before: list[str], after: list[str]) -> Iterator[str]:
    return (line.rstrip() for line in difflib.ndiff(before, after) if line[0] in "+-")


def _files(old: Tree, new: Tree) -> Iterator[str]:
    """``+`` for a new file, ``-`` for one that is gone, ``*`` for a changed one."""
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            yield f"{'+' if path not in old else '-' if path not in new else '*'} {path}"
