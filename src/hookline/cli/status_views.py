"""``hookline status hooks`` and ``hookline status queue``: the memory loop at a glance."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from hookline.cli.output import paint, plural, print_json, safe, table
from hookline.core.paths import why_unusable
from hookline.memory import overview
from hookline.memory.context import memory_context
from hookline.memory.queue.launch import is_worker_running
from hookline.memory.queue.queue import LONGEST_WAIT

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping

    from hookline.memory.layout import Places
    from hookline.memory.queue.queue import WaitingTask


def _hooks(args: Namespace) -> int:
    places = _places()
    ran, logs, running = overview.hook_runs(places), overview.log_files(places), is_worker_running(places.worker_lock)
    if args.json:
        print_json(
            {
                "hooks": [
                    {"hook": one.hook, "last": one.last, "state": one.state, "cwd": one.cwd, "did": one.did}
                    for one in ran
                ],
                "logs": [{"path": log.path, "bytes": log.bytes, "errors_today": log.errors_today} for log in logs],
                "worker_running": running,
            }
        )
        return 0
    rows = [
        (
            safe(one.hook), paint(one.state, "green" if one.state == "ok" else "yellow"), safe(one.last[:19]),
            safe(os.path.basename(one.cwd)), safe(one.did, 60),
        )
        for one in ran
    ]  # fmt: skip
    print(table(("HOOK", "STATE", "LAST", "PROJECT", "DID"), rows) if rows else "no memory hook has run yet")
    for log in logs:
        print(f"{safe(log.path)}  {log.bytes / 1000:.1f} KB, {plural(log.errors_today, 'error')} today")
    print(f"worker: {'running' if running else 'not running'}")
    return 0


def _places() -> Places:
    """Warn if the state directory cannot be used: then zeros mean nothing."""
    places = memory_context(os.getcwd(), os.environ).places
    if why := why_unusable(places.state):
        print(f"hookline: nothing is recorded: {why}", file=sys.stderr)
    return places


def _queue(args: Namespace) -> int:
    work = overview.queue_status(_places())
    counts = work.counts
    if args.json:
        waiting = [
            {
                "task": one.name,
                "session": one.task.session_id,
                "attempts": one.task.tries,
                "reason": one.task.reason or None,
                "not_before": one.task.due or None,
            }
            for one in work.waiting
        ]
        print_json(
            {
                "pending": counts.pending, "claimed": counts.claimed, "done_today": counts.done_today, "done": counts.done,
                "dead_letters": work.dead, "worker_running": work.running, "waiting": waiting, "last": list(work.last),
            }
        )  # fmt: skip
        return 0
    print(f"pending     {counts.pending}\nat work     {counts.claimed}\ndone today  {counts.done_today}")
    print(
        f"done        {counts.done}\ngiven up    {work.dead}\nworker      {'running' if work.running else 'not running'}"
    )
    for one in work.waiting:
        print(f"  waits  {safe(one.name)}{_why(one, time.time())}")
    for line in work.last:
        print(f"  {safe(line, 120)}")
    return 0


def _why(one: WaitingTask, now: float) -> str:
    """Why it is not done yet, and when it is retried."""
    if not one.task.reason:
        return ""
    tried = f"tried {one.task.tries} times: " if one.task.tries else ""
    left = one.task.due - now
    again = f"; retry in {left:.0f} s" if 0 < left <= LONGEST_WAIT else ""
    return f"  {tried}{safe(one.task.reason, 300)}{again}"


VIEWS: Mapping[str, Callable[[Namespace], int]] = {"hooks": _hooks, "queue": _queue}
