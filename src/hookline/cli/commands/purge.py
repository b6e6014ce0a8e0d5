"""Delete what hookline has kept: records of events, long outputs, copies of transcripts, leftovers and logs.

  hookline purge --dry-run            show what there is
  hookline purge --older-than 7d      keep the last week
  hookline purge --only records

Approvals, switches, registrations, packs and notes stay: those are ended by hookline trust --revoke, hookline undeploy,
hookline remove and hookline knowledge forget. Records also expire by themselves: [record] keep (30d) and keep_mb (200).

--json prints {"kinds": [{"kind", "files", "records", "bytes", "deleted"}]}
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hookline.cli.options import add_json, parse_duration
from hookline.cli.output import plural, print_json
from hookline.core.errors import StateError, UsageError
from hookline.core.paths import find_paths
from hookline.state.protection import require_outside_agent
from hookline.state.record.store import Store

#: Kind -> files and folders of the state directory.
_FILES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "output": ("spill", "answers"),
        "transcripts": ("compact-backups",),
        "leftovers": ("tmp", "once", "probes", "distilling", "session-places", "snapshots"),
        "logs": ("hooks.log", "compound-loop.log", "chat_history", "run/daemon.log"),
    }
)
_KINDS = ("records", *_FILES)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--older-than", metavar="AGE", help="only what is older: 12h, 7d; without it, everything")
    parser.add_argument("--only", choices=_KINDS, action="append", help="only this kind (repeatable)")
    parser.add_argument("--dry-run", action="store_true", help="delete nothing; show what there is")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json(parser)


def run(args: Namespace) -> int:
    state = find_paths(os.environ).state
    before = time.time() - (_age(args.older_than) if args.older_than else 0)
    if not args.dry_run:
        require_outside_agent(state, "delete the record of what it did")
    kinds = args.only or list(_KINDS)
    rows = [_look(state, kind, before) for kind in _KINDS if kind in kinds]
    if not args.dry_run and any(row["files"] or row["records"] for row in rows):
        if not _confirmed(rows, args):
            print("Nothing was deleted.")
            return 1
        rows = [{**row, "deleted": _delete(state, row["kind"], before)} for row in rows]
    if args.json:
        print_json({"kinds": rows})
    else:
        _print(rows, state)
    return 0


def _age(text: str) -> float:
    """A duration of ours, or days."""
    days = text.removesuffix("d")
    return (
        float(days) * 86_400 if days != text and days.isdigit() else parse_duration("--older-than", text, "12h or 7d")
    )


def _confirmed(rows: list[dict[str, Any]], args: Namespace) -> bool:
    if args.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("purge deletes for good; add --yes, or --dry-run to see what it would delete")
    _print(rows, "")
    return input("Delete this for good? [y/N] ").strip().lower() in {"y", "yes"}


def _look(state: str, kind: str, before: float) -> dict[str, Any]:
    if kind == "records":
        path = os.path.join(state, "hookline.db")
        size = sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
        return {"kind": kind, "files": 0, "records": _records(path, before), "bytes": size, "deleted": False}
    found = list(_old_files(state, kind, before))
    return {"kind": kind, "files": len(found), "records": 0, "bytes": sum(map(_size, found)), "deleted": False}


def _records(path: str, before: float, *, erase: bool = False) -> int:
    if not os.path.exists(path):
        return 0
    store = Store(path, keep_days=0, keep_mb=0)
    try:
        return store.forget_before(before) if erase else store.count_before(before)
    except sqlite3.Error as error:
        raise StateError(f"{path}: {error}") from error
    finally:
        store.close()


def _delete(state: str, kind: str, before: float) -> bool:
    if kind == "records":
        return _records(os.path.join(state, "hookline.db"), before, erase=True) > 0
    deleted = False
    for path in _old_files(state, kind, before):
        try:
            os.unlink(path)
            deleted = True
        except OSError as error:
            print(f"hookline: {path} cannot be deleted: {error.strerror}", file=sys.stderr)
    return deleted


def _old_files(state: str, kind: str, before: float) -> Iterator[str]:
    """Links are deleted, never followed."""
    for name in _FILES[kind]:
        top = os.path.join(state, name)
        folders = os.walk(top) if os.path.isdir(top) and not os.path.islink(top) else ()
        files = [top] if os.path.isfile(top) else [os.path.join(at, one) for at, _, inside in folders for one in inside]
        for path in files:
            try:
                if os.lstat(path).st_mtime < before:
                    yield path
            except OSError:  # somebody else has deleted it
                continue


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _print(rows: list[dict[str, Any]], where: str) -> None:
    for row in rows:
        what = plural(row["records"], "record") if row["kind"] == "records" else plural(row["files"], "file")
        done = "deleted" if row["deleted"] else ""
        print(f"{row['kind']:<10} {what:>14} {_amount(row['bytes']):>11}  {done}".rstrip())
    if where:
        print(f"in {where}")


def _amount(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
