"""The manager's texts: plain text from hooks, records and trials. Pure.

Everything that a hook, an agent or a file's author wrote goes through ``sanitize`` first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hookline.core.hook import Command, Prompt
from hookline.core.result import STATUS
from hookline.core.sanitize import lines, one_line
from hookline.core.serialize import hook_effect
from hookline.state.disabled import moment

if TYPE_CHECKING:
    from hookline.engine.try_hook import Trial
    from hookline.state.record.query import Row
    from hookline.tui.catalog import CatalogView, Group, Hook
    from hookline.tui.service import HookRun

#: State -> its mark in the list.
_MARKS = {"on": "●", "off": "○", "switched off": "◌"}
#: The list's columns and their widths on a narrow screen; a wide one has two more, and longer names.
_COLUMNS = (("", 1), ("hook", 20), ("last", 7), ("fired", 5), ("p50/p95 ms", 11))
_WIDE = (("event", 24), ("written in", 30))
_GAP = 2


def columns(width: int) -> tuple[tuple[str, int], ...]:
    """What fits into ``width`` characters, with the name as wide as there is room."""
    chosen = _COLUMNS + (_WIDE if width >= 110 else ())
    spare = width - sum(room + _GAP for _, room in chosen) - 1
    return tuple((name, room + max(0, spare) if name == "hook" else room) for name, room in chosen)


def cells(hook: Hook, width: int = 0) -> tuple[str, ...]:
    """One row of the list."""
    rooms = dict(columns(width))
    mark = "!" if hook.trust in {"unknown", "changed"} else _MARKS[hook.state]
    times, latest = hook.slowest, hook.latest
    last = (latest.last_effect or "·") if latest else ""
    pair = f"{_ms(times[0])}/{_ms(times[1])}" if times else ""
    plain = (mark, one_line(hook.title, rooms["hook"]), last, str(hook.fired or ""), pair)
    if "event" not in rooms:
        return plain
    events, file = ", ".join(dict.fromkeys(hook.events)), one_line(hook.origin.file)
    room = rooms["written in"]
    return (*plain, one_line(events, rooms["event"]), file if len(file) <= room else f"…{file[1 - room :]}")


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def group_label(group: Group, width: int = 23) -> str:
    number = str(group.number)
    room = width - len(number) - 1
    return f"{one_line(group.label, room):<{room}} {number}"


def heading(view: CatalogView, hooks: Sequence[Hook], shown: int) -> str:
    off = sum(hook.state != "on" for hook in hooks)
    found = f" · {shown} with {view.words!r}" if view.words else ""
    return f"hooks by {view.by} · {len(hooks)} in all, {off} off{one_line(found)}"


def summary(hook: Hook, fired: Sequence[HookRun], now: float, width: int = 80) -> str:
    """The few lines under the list."""
    match = f" ({one_line(hook.match, 40)})" if hook.match else ""
    events = ", ".join(dict.fromkeys(hook.events))
    trust = {"own": "", "trusted": " · trusted", "unknown": " · NOT TRUSTED", "changed": " · CHANGED since trusted"}
    rows = [
        f"{one_line(hook.title)} · {hook.state_text(now)}{trust.get(hook.trust, '')} · {hook.dialect}, {hook.origin.layer}",
        f"on    {events}{match}",
        f"does  {one_line(hook.action, width - 10)}",
        f"in    {one_line(hook.origin.place)}",
    ]
    return "\n".join([*rows, *(_run_line(one, now) for one in fired)])


def details(hook: Hook, fired: Sequence[HookRun], now: float) -> str:
    """Everything known about one hook."""
    spec = hook.specs[0]
    limit = "none" if spec.timeout is None else f"{spec.timeout:g} s"
    numbers = f"fired {hook.fired} times, failed {hook.failures}"
    rows = [
        summary(hook, (), now),
        f"runs  {spec.mode}, time limit {limit}, a failure means {spec.on_failure}",
        f"id    {hook.id}",
        "",
        numbers if hook.fired else "has not run yet",
        *_per_event(hook),
        *_action_section(hook),
        "",
        *(_run_line(one, now) for one in fired),
    ]
    return "\n".join(rows)


def _action_section(hook: Hook) -> list[str]:
    """Its full action, if one line is too short for it."""
    action = hook.specs[0].action
    text = action.text if isinstance(action, Command | Prompt) else ""
    return ["", "── does ──", lines(text.rstrip())] if len(text) > 70 or "\n" in text.strip() else []


def _per_event(hook: Hook) -> Iterable[str]:
    for spec in hook.specs:
        one = hook.stats.get(spec.id)
        if one is not None:
            yield f"  {spec.event}: {one.fired} times, p50 {_ms(one.p50)} ms, p95 {_ms(one.p95)} ms"


def _run_line(one: HookRun, now: float) -> str:
    run, row = one.run, one.row
    effect = run.effect or ("no opinion" if run.status == "replied" else "")
    words = one_line(run.error or (row.reason if run.effect in {"deny", "ask"} else ""), 60)
    when = _when(row.time, now)
    return f"{when}  {row.event} {run.status} {effect} {_ms(run.ms)} ms  {words}".rstrip()


def _when(when: float, now: float) -> str:
    same_day = time.localtime(when)[:3] == time.localtime(now)[:3]
    return time.strftime("%H:%M:%S", time.localtime(when)) if same_day else moment(when, now)


#: Fields of an event that tell it from others of its kind, the most telling first.
_TELLING = ("command", "file_path", "path", "url", "pattern", "query", "prompt", "message", "reason", "source")
_SAME = frozenset({"session_id", "cwd", "history", "tool_name", "tool_input", "native_tool_name", "native_tool_input"})


def record_line(row: Row, now: float) -> str:
    """One recorded event to choose from: when, the tool, what it was to do, and the rest."""
    data = row.data if isinstance(row.data, dict) else {}
    given = data.get("tool_input")
    given = given if isinstance(given, dict) else {}
    told = next((str(one[key]) for one in (given, data) for key in _TELLING if one.get(key)), "")
    tool = str(data.get("tool_name") or "")
    rest = ", ".join(f"{key}={value}" for key, value in data.items() if key not in _SAME and str(value) != told)
    parts = [_when(row.time, now), f"{tool}:" if tool else "", told, row.agent, rest]
    return one_line("  ".join(part for part in parts if part), 200)


def trial_text(tried: Trial) -> str:
    """The result of trying a hook: the decision first, then its output."""
    outcome, decision, raw = tried.outcome, tried.decision, tried.raw
    status = STATUS[type(outcome)]
    effect = f" {hook_effect(outcome) or 'no opinion'}" if status == "replied" else ""
    granted = " (granted)" if decision.granted else ""
    rows = [
        f"{tried.event.kind.name}: {decision.effect}{granted}",
        f"the hook {status}{effect}, took {_ms(outcome.ms)} ms"
        + (f", exit code {raw.exit_code}" if raw is not None and raw.exit_code is not None else ""),
    ]
    rows += [f"a real event would not run it: {one_line(tried.would_not)}"] if tried.would_not else []
    rows += [f"reason   {lines(decision.reason)}"] if decision.reason else []
    rows += [f"error    {lines(outcome.error)}"] if outcome.error else []
    rows += [f"aborts  {lines(decision.aborted.message)}"] if decision.aborted else []
    rows += [f"context  {lines(one.context.text)}" for one in decision.context]
    rows += [f"message  {lines(one.text)}" for one in decision.messages]
    rows += [f"ignored  {lines(one.text)}" for one in decision.ignored]
    data = json.dumps(dict(decision.data), ensure_ascii=False, default=str)
    rows += [f"data     {one_line(data)}"] if decision.modified else []
    rows += _output_section("stdout", raw.stdout) if raw is not None else []
    rows += _output_section("stderr", raw.stderr) if raw is not None else []
    rows += [f"returned {one_line(repr(raw.value), 500)}"] if raw is not None and raw.value is not None else []
    return "\n".join(rows)


def _output_section(name: str, text: str) -> list[str]:
    return ["", f"── {name} ──", lines(text.rstrip("\n"))] if text.strip() else []
