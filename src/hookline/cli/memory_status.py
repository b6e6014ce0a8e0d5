"""``hookline status hooks`` and ``hookline status queue``: what the hooks of memory and the queue did, from their logs."""

from __future__ import annotations

import os
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from hookline.cli.output import paint, plural, print_json, safe, table
from hookline.core.files import is_locked, read_text
from hookline.core.paths import why_unusable
from hookline.memory.context import MAX_LOG, memory_context
from hookline.memory.layout import Places
from hookline.memory.queue.queue import LONGEST_WAIT, Queue, WaitingTask
from hookline.memory.queue.task import dead_letters

#: Lines of the worker log that are shown.
_LAST = 5
#: A line of a log: time, hook and message.
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\S+) ([\w.-]+): (.*)")
_ERROR = re.compile(r"\b(error|failed|problem|not queued|could not)\b", re.IGNORECASE)
_OUTCOME = re.compile(r"^(wrote|nothing|skipped|error)")
_CWD = "fired cwd="


def print_hooks(args: Namespace) -> int:
    places = _places()
    ran, logs, running = _hook_runs(places), _logs(places), is_locked(places.worker_lock)
    if args.json:
        print_json({"hooks": ran, "logs": logs, "worker_running": running})
        return 0
    rows = [
        (
            safe(one["hook"]), paint(one["state"], "green" if one["state"] == "ok" else "yellow"), safe(one["last"][:19]),
            safe(os.path.basename(one["cwd"])), safe(one["did"], 60),
        )
        for one in ran
    ]  # fmt: skip
    print(table(("HOOK", "STATE", "LAST", "PROJECT", "DID"), rows) if rows else "no memory hook has run yet")
    for log in logs:
        print(f"{safe(log['path'])}  {log['bytes'] / 1000:.1f} KB, {plural(log['errors_today'], 'error')} today")
    print(f"worker: {'running' if running else 'not running'}")
    return 0


def print_queue(args: Namespace) -> int:
    places = _places()
    queue, running, dead = Queue(places.queue), is_locked(places.worker_lock), len(dead_letters(places.dead))
    counts, waiting = queue.counts(), queue.pending()
    outcomes = [f"{moment} {text}" for moment, _name, text in _log_lines(places.worker_log) if _OUTCOME.match(text)]
    if args.json:
        rows = [
            {
                "task": one.name, "session": one.task.session_id, "attempts": one.task.tries,
                "reason": one.task.reason or None, "not_before": one.task.due or None,
            }
            for one in waiting
        ]  # fmt: skip
        print_json(
            {
                "pending": counts.pending, "claimed": counts.claimed, "done_today": counts.done_today, "done": counts.done,
                "dead_letters": dead, "worker_running": running, "waiting": rows, "last": outcomes[-_LAST:],
            }
        )  # fmt: skip
        return 0
    print(f"pending     {counts.pending}\nat work     {counts.claimed}\ndone today  {counts.done_today}")
    print(f"done        {counts.done}\ngiven up    {dead}\nworker      {'running' if running else 'not running'}")
    for one in waiting:
        print(f"  waits  {safe(one.name)}{_why(one, time.time())}")
    for line in outcomes[-_LAST:]:
        print(f"  {safe(line, 120)}")
    return 0


def _places() -> Places:
    """Warn if the state directory cannot be used: then zeros mean nothing."""
    places = memory_context(os.getcwd(), os.environ).places
    if why := why_unusable(places.state):
        print(f"hookline: nothing is recorded: {why}", file=sys.stderr)
    return places


def _why(one: WaitingTask, now: float) -> str:
    """Why it is not done yet, and when it is retried."""
    if not one.task.reason:
        return ""
    tried = f"tried {one.task.tries} times: " if one.task.tries else ""
    left = one.task.due - now
    again = f"; retry in {left:.0f} s" if 0 < left <= LONGEST_WAIT else ""
    return f"  {tried}{safe(one.task.reason, 300)}{again}"


def _hook_runs(places: Places) -> list[dict[str, str]]:
    """The last run of every hook that wrote to ``hooks.log``, by name; ``state`` is ``ok`` if that was today."""
    ran: dict[str, dict[str, str]] = {}
    for moment, name, text in _log_lines(places.hooks_log):
        now = {"hook": name, "last": moment, "state": "ok" if moment[:10] == _today() else "stale"}
        if text.startswith(_CWD):
            ran[name] = {**now, "cwd": text.removeprefix(_CWD), "did": ""}
        elif name in ran:
            ran[name] |= {**now, "did": text}
    return [ran[name] for name in sorted(ran)]


def _logs(places: Places) -> list[dict[str, Any]]:
    return [
        {
            "path": path,
            "bytes": os.path.getsize(path) if os.path.exists(path) else 0,
            "errors_today": sum(at[:10] == _today() and bool(_ERROR.search(text)) for at, _, text in _log_lines(path)),
        }
        for path in (places.hooks_log, places.worker_log)
    ]


def _log_lines(path: str) -> Iterator[tuple[str, str, str]]:
    for line in (read_text(path, 16 * MAX_LOG) or "").splitlines():
        if found := _LINE.fullmatch(line):
            yield found[1], found[2], found[3]


def _today() -> str:
    return time.strftime("%Y-%m-%d")
