"""Remove a pack: its line in hookline.toml, its approval and its stored files. What its hooks kept as data stays.

hookline remove NAME          by its name or its source, as hookline packs shows them
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from hookline.cli.output import did_you_mean
from hookline.cli.pack_install import change_file, find_place, may_change
from hookline.core.errors import UsageError


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name or source")


def run(args: Namespace) -> int:
    place = find_place()
    may_change(place)
    here = {place.file("user"), place.file("project")}
    rows = [one for one in place.store.approved() if one.file in here]
    gone = [one for one in rows if args.name in {one.name, one.source, one.source.rpartition(":")[2]}]
    if not gone:
        hint = did_you_mean(args.name, [one.name for one in rows])
        raise UsageError(f"no pack {args.name!r} is approved here{hint or '.'} All of them: hookline packs")
    for one in gone:
        change_file(place, one.file, one.source, None)
    place.store.revoke(gone)
    for one in gone:
        print(f"Removed {one.name} from {one.file}")
    return 0
