"""``hookline guard report``: what the guard refused, asked about or, while it only watches, would have refused."""

from __future__ import annotations

import os
import time
from typing import Any

from hookline.cli.output import is_recorded, paint_status, plural, print_json, require_readable, safe
from hookline.core.paths import find_paths
from hookline.core.settings import RecordSettings
from hookline.doctor.guard_probe import TRIAL
from hookline.state.record.query import Row, firings
from hookline.state.record.store import store_in

_DAY = 86_400.0
#: Lines for a person, and firings that are looked at.
_LISTED, _MOST = 40, 50_000
_WORDS = {
    ("deny", True): "refused", ("ask", True): "asked about", ("allow", True): "granted",
    ("deny", False): "would have refused", ("ask", False): "would have asked about", ("allow", False): "granted",
}  # fmt: skip


def report(days: float, *, as_json: bool) -> int:
    found = _read(time.time() - days * _DAY)
    if as_json:
        print_json({"days": days, "commands": found})
        return 0
    if not found:
        print(f"The guard had no objection in {days:g} days. To try it: hookline guard explain 'rm -rf ~'")
        return 0
    for (would, enforced), words in _WORDS.items():
        group = [one for one in found if (one["would"], one["enforced"]) == (would, enforced)]
        if not group:
            continue
        print(f"{paint_status(would)}  {words} {plural(sum(one['count'] for one in group), 'call')} in {days:g} days")
        for one in group[:_LISTED]:
            print(
                f"  {one['count']:>5} {'times' if one['count'] > 1 else 'time '}  {', '.join(one['agents'])}  {safe(one['reason'], 200)}"
            )
        if len(group) > _LISTED:
            print(f"  and {len(group) - _LISTED} more: hookline guard report --json")
    return 0


def _read(since: float) -> list[dict[str, Any]]:
    """Equal findings are one, the most frequent first."""
    store = store_in(find_paths(os.environ).state, RecordSettings())
    try:
        rows = firings(store, hook="guard", since=since, last=_MOST) if is_recorded(store) else []
    finally:
        store.close()
    require_readable(store)
    found: dict[tuple[str, str, bool], dict[str, Any]] = {}
    judged = [(row, verdict) for row in rows if not _is_trial(row) and (verdict := _verdict(row))]
    calls = {(row.session, verdict.get("reason")) for row, verdict in judged if row.event == "PreToolUse"}
    for row, verdict in judged:  # an agent that asks for permission asks about the same call again
        if row.event != "PermissionRequest" or (row.session, verdict.get("reason")) not in calls:
            _count(found, row, verdict)
    return sorted(found.values(), key=lambda one: -int(one["count"]))


def _is_trial(row: Row) -> bool:
    """``hookline init`` sent it, to prove the guard."""
    return TRIAL in {row.session, row.data.get("tool_use_id") if isinstance(row.data, dict) else None}


def _verdict(row: Row) -> dict[str, Any]:
    """What the guard found; empty where it had no opinion."""
    found = row.attributes.get("guard") if isinstance(row.attributes, dict) else None
    return found if isinstance(found, dict) else {}


def _count(found: dict[tuple[str, str, bool], dict[str, Any]], row: Row, verdict: dict[str, Any]) -> None:
    would, reason = str(verdict.get("would", "")), str(verdict.get("reason", ""))
    enforced = verdict.get("policy") != "watch"
    one = found.setdefault(
        (would, reason, enforced),
        {
            "would": would, "enforced": enforced, "kind": str(verdict.get("kind", "")), "reason": reason, "count": 0,
            "agents": [], "last": 0.0,
        },
    )  # fmt: skip
    one["count"] += 1
    one["last"] = max(one["last"], row.time)
    if row.agent not in one["agents"]:
        one["agents"].append(row.agent)
