"""Show what hookline sees on this machine and in this project, and what needs attention.

--json prints {"version", "python", "config_dir", "state_dir", "data_dir", "files": [{"path", "dialect", "layer"}],
"hooks": {"total", "on", "untrusted", "changed", "missing"}, "problems", "record": {"path", "firings", "denies_today",
"failures_today", "bytes", "note", "late"}, "models_today": {"requests", "input_tokens", "output_tokens", "cost_usd", "by": {who: the
same}}, "missed": [{"agent", "session", "tool", "calls", "seen_in"}], "attention": [text]}.

hookline status hooks shows when each memory hook last ran, where, and what it did (from hooks.log); hookline status queue
shows what waits to be distilled, what was done today, and what the worker did last. Their --json:
{"hooks": [{"hook", "last", "state", "cwd", "did"}], "logs": [{"path", "bytes", "errors_today"}], "worker_running"} and
{"pending", "claimed", "done_today", "done", "dead_letters", "worker_running", "waiting": [{"task", "session", "attempts",
"reason"}], "last": [text]}. In the first, state is "ok" for today and "stale" for earlier.

"missed" are tool calls that no hook was asked about: the record or the agent's transcript shows that the tool ran, but no
PreToolUse was recorded, although hookline is registered for it.
"""

from __future__ import annotations

import os
import platform
import time
from argparse import ArgumentParser, Namespace
from typing import Any

from hookline import __version__
from hookline.cli.loading import build_runtime, missing_registrations
from hookline.cli.memory_status import print_hooks, print_queue
from hookline.cli.options import add_json, add_sources
from hookline.cli.output import paint, plural, print_json, safe
from hookline.core.hook import count_hooks
from hookline.core.paths import home_directory, why_unusable
from hookline.doctor.finding import budget_overruns
from hookline.doctor.missed import MissedGate, find_missed_gates
from hookline.engine.build import READ_ONLY, Runtime, record_store
from hookline.gateway.notices import approval_lines, missing_hooks
from hookline.llm.spending import Spending, usage_today
from hookline.state.record.query import counts

_DAY = 86400
#: Lines about missed events.
_MOST_MISSED = 5


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("view", metavar="hooks|queue", nargs="?", choices=["hooks", "queue"], help="show only this")
    add_sources(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    if args.view:
        return (print_hooks if args.view == "hooks" else print_queue)(args)
    runtime = build_runtime(args, READ_ONLY, inspect=True)
    runtime.engine.close()
    report = _report(runtime)
    if args.json:
        print_json(report)
        return 0
    hooks, record = report["hooks"], report["record"]
    print(f"{paint('hookline', 'bold')} {report['version']} on Python {report['python']}")
    print(f"configuration  {report['config_dir']}\nstate          {report['state_dir']}")
    for file in report["files"]:
        print(f"  {file['layer']:<13}{file['dialect']:<9}{file['path']}")
    print(
        f"hooks          {hooks['total']}, {hooks['on']} on, {hooks['untrusted']} not trusted, {hooks['changed']} changed"
    )
    print(
        f"record         {plural(record['firings'], 'event')}, today {plural(record['denies_today'], 'refusal')} and "
        f"{plural(record['failures_today'], 'failure')}, {record['bytes'] / 1e6:.1f} MB"
    )
    if report["models_today"]["requests"]:
        spent = usage_today(runtime.paths.state)
        print(f"models         today {spent}: " + "; ".join(f"{safe(who)}: {one}" for who, one in spent.by.items()))
    for line in report["attention"]:
        print(f"{paint('!', 'yellow')} {line}")
    return 0


def _spent(spent: Spending) -> dict[str, float]:
    return {name: getattr(spent, name) for name in ("requests", "input_tokens", "output_tokens", "cost_usd")}


def _report(runtime: Runtime) -> dict[str, Any]:
    loaded = runtime.loaded
    states = {id_: verdict.state for id_, verdict in runtime.verdicts.items()}
    hooks = {
        "total": count_hooks(loaded.specs),
        "on": count_hooks(spec for spec in loaded.specs if spec.enabled and not runtime.switches.off(spec)),
        "untrusted": count_hooks(spec for spec in loaded.specs if states.get(spec.id) == "unknown"),
        "changed": count_hooks(spec for spec in loaded.specs if states.get(spec.id) == "changed"),
        "missing": len(runtime.missing),
    }
    record, missed = _record(runtime)
    spent = usage_today(runtime.paths.state)
    return {
        "version": __version__,
        "python": platform.python_version(),
        "config_dir": runtime.paths.config,
        "state_dir": runtime.paths.state,
        "data_dir": runtime.paths.data,
        "files": [{"path": o.path, "dialect": o.dialect, "layer": o.layer} for o in loaded.sources if o.found],
        "hooks": hooks,
        "problems": len(loaded.problems),
        "record": record,
        "models_today": {**_spent(spent), "by": {who: _spent(one) for who, one in spent.by.items()}},
        "missed": [
            {"agent": one.agent, "session": one.session, "tool": one.tool, "calls": one.calls, "seen_in": one.seen_in}
            for one in missed
        ],
        "attention": [*_attention(runtime, hooks, record), *_missed_lines(missed)],
    }


def _record(runtime: Runtime) -> tuple[dict[str, Any], list[MissedGate]]:
    store = record_store(runtime.paths, runtime.loaded.settings.record)
    exists = os.path.exists(store.path)
    since = time.time() - _DAY
    seen = counts(store, since=since) if exists else None
    home = home_directory(os.environ)
    missed = find_missed_gates(store, since, home, os.environ) if exists else []
    late = budget_overruns(store, runtime.loaded.specs)
    store.close()
    record = {
        "path": store.path,
        "firings": seen.firings if seen else 0,
        "denies_today": seen.denies if seen else 0,
        "failures_today": seen.failures if seen else 0,
        "bytes": seen.bytes if seen else 0,
        "note": store.note or None,
        "late": sorted({spec.name for spec in runtime.loaded.specs if spec.id in late}),
    }
    return record, missed


def _missed_lines(missed: list[MissedGate]) -> list[str]:
    """The most serious findings, with the command that finds the reason."""
    agents = dict.fromkeys(one.agent for one in missed)
    return [
        *(f"{one}" for one in missed[-_MOST_MISSED:]),
        *([f"and {len(missed) - _MOST_MISSED} more: hookline status --json"] if len(missed) > _MOST_MISSED else []),
        *(f"to find out why {agent} skips hooks: hookline doctor --agent {agent} --run" for agent in agents),
    ]


def _attention(runtime: Runtime, hooks: dict[str, int], record: dict[str, Any]) -> list[str]:
    """Each line names the next command to type."""
    lines = [f"nothing is recorded: {why}"] if (why := why_unusable(runtime.paths.state)) else []
    if hooks["changed"]:
        lines.append(
            "some hooks of this project have changed, and count as failed until you approve them: hookline trust"
        )
    lines += approval_lines(runtime)
    lines += map(str, missing_hooks(runtime))
    if switched := {one.name for one in runtime.loaded.specs if runtime.switches.off(one)}:
        lines.append(f"switched off by hand: {', '.join(map(repr, sorted(switched)))}; until when: hookline hooks list")
    lines += [runtime.switches.note] if runtime.switches.note else []
    if runtime.loaded.problems:
        lines.append(f"problems in the configuration: {len(runtime.loaded.problems)}; see: hookline check")
    lines += map(str, missing_registrations(runtime))
    if record["failures_today"]:
        lines.append(f"hook failures today: {record['failures_today']}; see: hookline log --status failed")
    if record["late"]:
        lines.append(f"over budget: {', '.join(map(repr, record['late']))}; by how much: hookline list")
    if record["note"] and not why:
        lines.append(record["note"])
    return lines
