"""Show past events and what hooks decided, the newest last.

  hookline log --effect deny --since yesterday --until today --text "git push"
  hookline log --session S --follow
  hookline log --agent codex --project .
  hookline log --chain ID            one event (or last): every hook in order, its verdict, its changes, and the answer
  hookline log --last 0 --format parquet --output events.parquet

--json (or --format jsonl) prints one object per line: {"id", "time", "session", "turn", "agent", "event", "effect", "granted", "reason",
"aborted", "modified", "ms", "cwd", "data", "context", "messages", "attributes", "conflicts", "ignored", "outcomes"}.
The id follows the time: hookline replay ID runs that event again. Exit code 64 for an unknown hook or event; finding
nothing is not an error.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from datetime import time as clock
from functools import cache

from hookline.cli.options import add_json
from hookline.cli.output import (
    did_you_mean,
    is_recorded,
    iso_time,
    paint,
    paint_status,
    print_json,
    require_readable,
    safe,
)
from hookline.core.agents import full_name
from hookline.core.errors import DataError, UsageError
from hookline.core.paths import find_paths, home_directory, project_root
from hookline.core.settings import RecordSettings
from hookline.core.typed import TYPE_CHECKING, Any, NoReturn, TypeAlias
from hookline.dialects.event_lookup import event_meanings
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.state.record.chain import chain, chain_lines, subject
from hookline.state.record.query import Row, Run, find, firings, load_runs
from hookline.state.record.store import Store, store_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

#: Seconds between two looks at the store with --follow.
_PACE = 0.25
#: Days that have a name; each begins at midnight here.
_DAYS = {"today": timedelta(0), "yesterday": timedelta(days=1)}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--last", metavar="N", type=int, default=20, help="how many (default 20; 0 for all)")
    parser.add_argument("--follow", action="store_true", help="keep printing new events")
    parser.add_argument("--session", metavar="ID", help="only this session")
    parser.add_argument("--hook", metavar="NAME", help="only events that this hook ran on")
    parser.add_argument("--event", metavar="E", help="only this event")
    parser.add_argument("--agent", metavar="A", help="only events of this agent")
    parser.add_argument("--project", metavar="DIR", help="only events in this folder and below")
    parser.add_argument("--text", metavar="TEXT", help="only events with this in their command, prompt or reason")
    parser.add_argument("--effect", choices=("allow", "ask", "deny"), help="only this effect")
    parser.add_argument(
        "--status",
        choices=("replied", "failed", "timed-out", "skipped", "started"),
        help="only events with such an outcome",
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="10m, 2h, 3d, today, yesterday, or a time like 2026-03-01T12:00"
    )
    parser.add_argument("--until", metavar="WHEN", help="the same")
    parser.add_argument(
        "--chain", metavar="ID", help="show one event whole, by the beginning of its id; last: the latest that matches"
    )
    parser.add_argument("--format", choices=("jsonl", "csv", "parquet"), help="export what was found")
    parser.add_argument("--output", metavar="FILE", help="write the export to this file")
    add_json(parser)


def run(args: Namespace) -> int:
    store = store_in(find_paths(os.environ).state, RecordSettings())
    look = _filter(args, store)
    exports, recorded = args.format or args.output, is_recorded(store)
    if not recorded and not args.follow and not exports:
        if not args.json:
            print("Nothing recorded yet. Try: hookline demo")
        return 0
    if args.chain:
        return _chain(store, args.chain, look, as_json=args.json)
    try:
        rows = look(args.last or None, None) if recorded or args.follow else []
        if not rows:
            require_readable(store)
        if exports:
            from hookline.cli.export import export  # few export anything

            export(rows, load_runs(store, [row.number for row in rows]), args.format or "jsonl", args.output)
            return 0
        if not rows:
            _report_nothing_found(store, args)
        _print(store, rows, as_json=args.json)
        if rows and not args.json and not args.follow and sys.stdout.isatty():
            print(paint("One of them whole, with the reason of every hook: hookline log --chain ID", "grey"))
        if args.follow:
            _follow(store, look, rows[-1].number if rows else 0, as_json=args.json)
    finally:
        store.close()
    require_readable(store)
    return 0


#: The latest so many rows that the command line asks for; those after a number.
_Look: TypeAlias = "Callable[[int | None, int | None], list[Row]]"


def _filter(args: Namespace, store: Store) -> _Look:
    since, until = parse_time(args.since), parse_time(args.until)
    if args.last < 0:
        raise UsageError("--last must be 0 or more")
    events = event_meanings(args.event) if args.event else frozenset[str]()
    if len(events) > 1:
        raise UsageError(f"{args.event!r} may be {' or '.join(sorted(events))}; name one of them")
    agent = None if args.agent is None else full_name(args.agent)
    project = None if args.project is None else os.path.abspath(args.project)
    return lambda last, after: firings(
        store, session=args.session, hook=args.hook, event=next(iter(events), None), agent=agent, project=project,
        effect=args.effect, status=args.status, text=args.text, since=since, until=until, last=last, after=after,
    )  # fmt: skip


def _follow(store: Store, look: _Look, seen: int, *, as_json: bool) -> NoReturn:
    while True:
        time.sleep(_PACE)
        rows = look(None, seen)
        _print(store, rows, as_json=as_json)
        seen = rows[-1].number if rows else seen


def _chain(store: Store, prefix: str, look: _Look, *, as_json: bool) -> int:
    found = look(1, None) if prefix == "last" else find(store, prefix)
    if not found:
        require_readable(store)
    if len(found) != 1:
        count = f"{len(found)} events have ids that begin" if found else "no event has an id that begins"
        what = "no recorded event matches" if prefix == "last" else f"{count} with {prefix!r}"
        raise DataError(f"{what}; see: hookline log")
    whole = chain(found[0], load_runs(store, [found[0].number])[found[0].number])
    store.close()
    if as_json:
        print_json({**whole, "time": iso_time(whole["time"])})
        return 0
    when = datetime.fromtimestamp(whole["time"], UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    head, verdict, *rest = chain_lines(whole, when)
    colour = {"deny": "red", "ask": "yellow"}.get(whole["effect"], "green")
    print("\n".join((paint(head, "bold"), paint(verdict, colour), *rest)))
    print(f"run it again: hookline replay {whole['id']}")
    return 0


def _report_nothing_found(store: Store, args: Namespace) -> None:
    """An unknown hook is a typo, unless --follow waits for it."""
    unknown = args.hook and not firings(store, hook=args.hook, last=1) and _unknown(args.hook)
    if unknown and not args.follow:
        raise UsageError(unknown)
    if unknown:
        print(f"hookline: {unknown}", file=sys.stderr)
    elif not args.json and not args.follow:
        print("No recorded event matches. The latest events: hookline log")


def _unknown(hook: str) -> str:
    """Why nothing can be recorded under this name; "" for a hook that is here and has not run yet."""
    runtime = load_runtime(Sources(), READ_ONLY)
    runtime.engine.close()
    names = {name for spec in runtime.loaded.specs for name in (spec.name, spec.id)}
    if hook in names:
        return ""
    hint = did_you_mean(hook, names) or "; see: hookline list"
    return f"there is no hook {hook!r}, neither in the record nor here{hint}"


def _print(store: Store, rows: list[Row], *, as_json: bool) -> None:
    runs = load_runs(store, [row.number for row in rows])
    for row in rows:
        outcomes = runs.get(row.number, ())
        if as_json:
            print_json({**row.to_json(), "time": iso_time(row.time), "outcomes": [one.to_json() for one in outcomes]})
        else:
            print(_render(row, outcomes), flush=True)


def _render(row: Row, runs: tuple[Run, ...]) -> str:
    when = datetime.fromtimestamp(row.time, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    word = "aborted" if row.aborted else row.effect
    about = _mark_subject(row.data, subject(row.data))
    # The full id: replay needs it, and ids of one process begin alike.
    by = f"{safe(row.agent, 20):<12}  {safe(_project(row.cwd), 20):<14}"
    head = f"{paint(when, 'grey')}  {paint(f'{row.id:<13}', 'grey')}  {by}  {paint_status(word, 7)}  {paint(f'{safe(row.event, 60):<18}', 'bold')}  {safe(about, 60)}"
    lines = [head.rstrip() + (f"  {safe(row.reason, 100)}" if row.reason else "")]
    for one in runs:
        note = safe(one.error or one.effect or "", 100)
        lines.append(
            f"{'':21}{paint_status(one.status, 9)}  {safe(one.hook, 30):<30}  {one.ms:8.1f} ms  {note}".rstrip()
        )
    # What was ignored, what the agent does not support, and duplicates.
    noted: list[dict[str, str]] = row.ignored or []
    lines += [paint(f"{'':21}note: {safe(one['text'], 160)}", "yellow") for one in noted]
    return "\n".join(lines)


@cache
def _project(cwd: str) -> str:
    """The name of the project's folder."""
    root = project_root(cwd, home_directory(os.environ)) if os.path.isdir(cwd) else cwd
    return os.path.basename(root) or root


def _mark_subject(data: Any, subject: str) -> str:
    """The subject, marked if the event is derived or the prompt synthetic."""
    if not isinstance(data, dict):
        return subject
    made = data.get("derived")
    mark = f"(derived from {data.get('derived_from')})" if isinstance(made, list) and data.get("derived_from") else ""
    nobody = f"(not typed by a person: {data['synthetic']})" if isinstance(data.get("synthetic"), str) else ""
    return " ".join(part for part in (mark, nobody, subject) if part)


def parse_time(text: str | None) -> float | None:
    """``2h`` ago, the beginning of a day, or a date and time; None for none."""
    if text is None:
        return None
    if ago := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd])", text):
        return time.time() - float(ago[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[ago[2]]
    if text in _DAYS:
        return datetime.combine(datetime.now().astimezone() - _DAYS[text], clock.min).timestamp()
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise UsageError(f"{text!r} is not a time; write 10m, 2h, 3d, yesterday or 2026-03-01T12:00") from None
