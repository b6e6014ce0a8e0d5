"""Run a recorded event again with today's hooks, and show where the decision differs.

  hookline replay 1a2b3c             one event, by the beginning of its id (see: hookline log)
  hookline replay --last 20          the latest twenty
  hookline replay --session S        all events of one session
  hookline replay --last 5 --agent codex   as Codex would have sent them, with the answer that Codex would get

Your hooks really run, with all their effects; --dry-run only shows which would. Turns, claims and rate limits of the
real session do not change, and the log marks the event as a replay. Records contain no environment and no secrets: what
was redacted or cut is reported, because a hook that reads it may decide differently.

Exit code 0: every decision is the same. 1: at least one differs.

--json prints one object per line: {"id", "event", "agent", "then": {"effect", "reason"}, "now": {"effect", "reason"},
"differs": bool, "differences": […], "gaps": […], "hooks": [{"hook", "then", "now"}], "told": {"exit_code", "stdout",
"stderr", "dropped", "refused"}}; with --dry-run "now" and "told" are null.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from types import SimpleNamespace
from typing import Any

from hookline.cli.loading import build_runtime, tell_problems, tell_unapproved
from hookline.cli.options import add_json, add_sources
from hookline.cli.output import paint, paint_status, print_json, require_readable, safe
from hookline.cli.record import open_record
from hookline.core.agents import Agent, find_agent, select_agents
from hookline.core.errors import DataError, UsageError
from hookline.core.event import Event
from hookline.doctor.replay import (
    ReplayRecorder,
    ReplayResult,
    gaps_in,
    original_data,
    rebuild_event,
    replay,
    translate,
)
from hookline.engine.build import Runtime, StoreOptions
from hookline.state.record.query import REPLAY, Row, Run, find, firings, load_runs
from hookline.state.record.store import Store


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="the beginning of an event's id")
    parser.add_argument("--last", metavar="N", type=int, default=None, help="the latest N events")
    parser.add_argument("--session", metavar="S", default=None, help="the events of this session")
    parser.add_argument("--agent", metavar="B", default="", help="as this agent would have sent it")
    parser.add_argument("--dry-run", action="store_true", help="show which hooks would run; run none")
    add_sources(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    target = select_agents([args.agent])[0] if args.agent else None
    if bool(args.id) == (args.last is not None or args.session is not None):
        raise UsageError("name an event by its id, or give --last N or --session S; see: hookline log")
    if args.last is not None and args.last < 1:
        raise UsageError("--last must be at least 1")
    with open_record() as store:
        rows = _rows(store, args)
        runs = load_runs(store, [row.number for row in rows])
    differing = 0
    for row in rows:
        report = replay_one(row, runs.get(row.number, ()), target, args)
        differing += bool(report["differs"])
        if args.json:
            print_json(report)
        else:
            _print(row, report)
    if not args.json and len(rows) > 1:
        print(f"{len(rows)} events, {differing} with a different decision")
    return int(differing > 0)


def _rows(store: Store, args: Namespace) -> list[Row]:
    """Replays are not replayed: that would compare today's hooks with themselves."""
    if args.id:
        found = find(store, args.id)
        if not found:
            require_readable(store)
            raise DataError(f"no event has an id that begins with {args.id!r}; see: hookline log")
        if len(found) > 1:
            raise DataError(
                f"{len(found)} ids begin with {args.id!r}; type more of it: {', '.join(r.id for r in found)}"
            )
        return found
    if args.session is None:
        return _latest(store, args.last or 1)
    kept = _without_replays(firings(store, session=args.session, last=None))
    if not kept:
        raise DataError(f"session {args.session!r} has no recorded events; for all sessions: hookline log --json")
    return kept[-args.last :] if args.last is not None else kept


def _without_replays(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row.session.startswith(REPLAY)]


def _latest(store: Store, wanted: int) -> list[Row]:
    """Skip replays in between."""
    window = wanted
    while True:
        rows = firings(store, last=window)
        found = _without_replays(rows)
        if len(found) >= wanted or len(rows) < window:
            return found[-wanted:]
        window *= 2


def replay_one(
    row: Row, runs: tuple[Run, ...], target: Agent | None, args: Namespace | SimpleNamespace
) -> dict[str, Any]:
    report: dict[str, Any] = {
        "id": row.id, "event": row.event, "agent": target.name if target else row.agent,
        "then": {"effect": row.effect, "reason": row.reason}, "now": None, "differs": False, "differences": [],
        "gaps": list(gaps_in(original_data(row))), "hooks": [], "told": None,
    }  # fmt: skip
    if "[dropped]" in original_data(row):
        report["gaps"] = ["the event was too large to record, so it cannot be replayed"]
        return report
    there = os.path.isdir(row.cwd)
    if not there:
        report["gaps"].append(f"{row.cwd or 'its directory'} no longer exists; using the hooks found here")
    runtime = build_runtime(args, StoreOptions(live=False, record=not args.dry_run), cwd=row.cwd if there else None)
    with runtime.engine as engine:
        event = rebuild_event(row, engine)
        if target is not None:
            turned, untold = translate(event, target)
            report["gaps"] += untold
            if turned is None:
                report |= {"differs": True, "differences": [f"{target.name} would not have fired it"]}
                return report
            event = turned
        if args.dry_run:
            report["hooks"] = _dry_run_hooks(runtime, event, runs)
            return report
        engine.recorder = ReplayRecorder(engine.recorder, row.id)
        if not args.json:
            tell_problems(runtime)
            tell_unapproved(runtime)
        return _shape(report, replay(row, runs, event, engine))


def _dry_run_hooks(runtime: Runtime, event: Event, runs: tuple[Run, ...]) -> list[dict[str, Any]]:
    then = {run.hook: run.status for run in runs}
    now = {one.spec.name: f"skipped: {one.why}" if one.why else "would run" for one in runtime.engine.explain(event)}
    return [{"hook": hook, "then": then.get(hook), "now": now.get(hook)} for hook in dict.fromkeys((*then, *now))]


def _shape(report: dict[str, Any], one: ReplayResult) -> dict[str, Any]:
    return {
        **report,
        "now": {"effect": one.decision.effect, "reason": one.decision.reason},
        "differs": bool(one.differences), "differences": list(one.differences),
        "hooks": [{"hook": part.hook, "then": part.then, "now": part.now} for part in one.parts], "told": one.told,
    }  # fmt: skip


def _print(row: Row, report: dict[str, Any]) -> None:
    now = report["now"]["effect"] if report["now"] else "?"
    verdict = paint("differs", "yellow") if report["differs"] else "the same" if report["now"] else "not run"
    print(
        f"{paint(row.id[:12], 'grey')}  {report['event']:<18} {paint_status(row.effect)} → {paint_status(now)}  {verdict}"
    )
    for line in report["differences"]:
        print(f"    {safe(line, 160)}")
    if report["now"] and report["now"]["reason"]:
        print(f"    reason: {safe(report['now']['reason'], 160)}")
    if not report["now"]:
        for hook in report["hooks"]:
            print(
                f"    {safe(hook['hook'], 40)}: {hook['then'] or 'not there'} → {safe(hook['now'] or 'not there', 100)}"
            )
    for line in report["gaps"]:
        print(f"    {paint('!', 'yellow')} {safe(line, 160)}")
    if report["told"] and find_agent(report["agent"]) is not None:
        _print_answer(report["agent"], report["told"])


def _print_answer(agent: str, answer: dict[str, Any]) -> None:
    output = " ".join(part for part in (answer["stdout"].strip(), answer["stderr"].strip()) if part)
    print(f"    {agent} gets: exit code {answer['exit_code']}{', ' + safe(output, 200) if output else ', no output'}")
    for name, what in (
        ("dropped", "not supported, so left out"),
        ("refused", "not supported, so denied"),
    ):
        if answer[name]:
            print(f"    {agent}: {what}: {', '.join(answer[name])}")
