"""Install a published hook set: fetch it, show what would run where, ask, pin it, and run it in every agent.

  hookline add github:owner/repo                the default branch's commit, pinned
  hookline add github:owner/repo/path@v1.2      a folder of it, at a tag
  hookline add https://host/x.git               any git URL; #path=FOLDER names a folder in it
  hookline add https://host/x.tar.gz#sha256=…   an archive, with the digest that its publisher gives
  hookline add ./folder                         a copy of a folder
  hookline add name@marketplace                 a plugin of a marketplace: name@github:owner/repo, or one an agent knows
  hookline add pypi:name, npm:name              a package that carries hooks
  hookline add hookline:secrets                 a pack that comes with hookline

A pack is a plugin as Claude Code, Codex, Copilot or Gemini CLI have them, a folder with .hookline/hookline.toml, or a plugin
of Lectic or lash. Nothing of it runs before you approve what is shown. It is kept by its digest and pinned by one [[pack]]
table in hookline.toml (yours, or the project's with --scope project); a colleague gets the same bytes with hookline sync.

--json prints {"name", "source", "revision", "digest", "file", "hooks": […], "notes": […]}.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from hookline.cli.options import add_json
from hookline.cli.output import print_json
from hookline.cli.pack_install import (
    PackUser,
    Review,
    add_scope,
    approve,
    approve_plain_file,
    ask,
    change_file,
    deploy_missing,
    doubts,
    find_place,
    hook_lines,
    may_change,
    review,
    show,
    summary,
)
from hookline.core.errors import UsageError
from hookline.packs.fetch import fetch
from hookline.packs.source import parse_source


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE[@REVISION]", help="where it comes from")
    add_scope(parser)
    parser.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="a setting of the pack (repeatable)"
    )
    parser.add_argument(
        "--on-failure",
        choices=("ignore", "deny"),
        help="deny: if one of its guards fails, refuse (default for hookline's own packs); ignore: go ahead",
    )
    parser.add_argument("--yes", action="store_true", help="approve what is shown, without a question")
    add_json(parser)


def run(args: Namespace) -> int:
    place = find_place()
    may_change(place)
    env = [tuple(one.partition("=")[::2]) for one in args.env]
    if any(not name or "=" not in given for (name, _), given in zip(env, args.env, strict=True)):
        raise UsageError("--env takes NAME=VALUE")
    fetched = fetch(parse_source(args.source, place.cwd, place.home), place.home)
    closed = None if args.on_failure is None else args.on_failure == "deny"
    one = review(place, fetched, place.file(args.scope), env, closed=closed)
    if not args.json:
        show(one)
    if not one.specs:
        raise UsageError("there is nothing to approve: none of its hooks can be run here")
    if not ask("Approve it, and run these hooks in every agent?", yes=args.yes):
        print("Nothing changed.", file=sys.stderr)
        return 1
    install(place, one)
    left = deploy_missing(json=args.json)
    if args.json:
        print_json({**_shape(one), "next": left})
        return 0
    print(f"Added {summary(one)}")
    for line in left:
        print(line)
    return 0


def install(place: PackUser, one: Review) -> None:
    approve(place, one)
    change_file(place, one.row.file, one.row.source, one.row)
    approve_plain_file(one.row.file)


def _shape(one: Review) -> dict[str, object]:
    row = one.row
    return {
        "name": row.name, "source": row.source, "revision": row.revision, "digest": row.digest, "file": row.file,
        "hooks": hook_lines(one), "notes": doubts(one),
    }  # fmt: skip
