"""What hooks decided in some days, as one file of HTML that needs nothing else: no script, nothing to load."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from hookline.core.agents import find_agent
from hookline.state.record.chain import chain, change_lines
from hookline.state.record.query import REPLAY, firings, load_runs
from hookline.state.record.store import Store
from hookline.web.events import project_name
from hookline.web.sessions import costs

_STYLE = os.path.join(os.path.dirname(__file__), "static", "style.css")
#: What became of a hook -> the class that draws it; as in dom.js.
_KINDS = {
    "refused": "deny", "asked": "ask", "allowed": "allow", "changed": "changed", "failed": "failed",
    "timed out": "failed", "skipped": "skipped",
}  # fmt: skip
#: Refused calls that are shown with their chain.
_MOST = 200


def report(store: Store, since: float) -> str:
    days = max(1, round((time.time() - since) / 86_400))
    spent = costs(store, days)
    found = firings(store, effect="deny", since=since, last=_MOST)
    refused = [row for row in found if not row.session.startswith(REPLAY)]
    runs = load_runs(store, [row.number for row in refused])
    totals = {name: sum(one[name] for one in spent["by_agent"]) for name in ("runs", "ms", "failures", "denied")}
    with open(_STYLE, encoding="utf-8") as file:
        style = file.read().replace("</", "<\\/")
    title = f"hookline: {_day(since)} to {_day(time.time())}"
    facts = [("hook runs", f"{totals['runs']:,}"), ("time in hooks", _ms(totals["ms"])),
             ("failures", f"{totals['failures']:,}"), ("refused", f"{len(refused)}{'+' if len(found) == _MOST else ''}")]  # fmt: skip
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<dl class="facts card">{"".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)}</dl>',
        "<h2>Refused</h2>",
        *(_event(chain(row, runs[row.number])) for row in reversed(refused)),
        "" if refused else '<p class="empty">Nothing was refused.</p>',
        "<h2>By hook</h2>", _table(("Hook", "Runs", "Time", "Failures", "Refused"), spent["by_hook"]),
        "<h2>By agent</h2>", _table(("Agent", "Runs", "Time", "Failures", "Refused"), spent["by_agent"]),
        "<h2>By day</h2>", _table(("Day", "Runs", "Time", "Failures", "Refused"), spent["by_day"]),
    ]  # fmt: skip
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f'<body><main><div class="page">{"".join(body)}</div></main></body></html>\n'
    )


def _event(one: dict[str, Any]) -> str:
    row = find_agent(one["agent"])
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["time"]))
    who = f"{row.title if row else one['agent']} in {project_name(one['cwd'])}"
    head = (
        f'<summary><span class="chip deny">refused</span> <code>{_text(one["subject"], 200)}</code>'
        f" <small>{when}, {_text(who)}</small> {_text(one['reason'], 160)}</summary>"
    )
    summary = f'<p class="reason"><strong>{_text(one["summary"])}</strong>: {_text(one["why"], 1000)}</p>'
    steps = "".join(_step(number, step) for number, step in enumerate(one["steps"], 1))
    notes = "".join(f"<li>{_text(note['text'])}</li>" for note in one["notes"])
    return f'<details class="block card">{head}{summary}<ol class="chain">{steps}</ol><ul class="notes">{notes}</ul></details>'


def _step(number: int, step: dict[str, Any]) -> str:
    kind = _KINDS.get(step["verdict"], "none")
    changes = "".join(f"<pre>{_text(chr(10).join(change_lines(change)), 4000)}</pre>" for change in step["changes"])
    reason = f'<p class="reason">{_text(step["reason"], 1000)}</p>' if step["reason"] else ""
    took = "" if kind == "skipped" else _ms(step["ms"])
    return (
        f'<li class="step {kind}"><span class="node">{number}</span><div class="body"><div class="line">'
        f'<strong>{_text(step["hook"])}</strong><span class="chip {kind}">{_text(step["verdict"])}</span>'
        f'<span class="grow"></span><span class="took">{took}</span></div>{reason}{changes}</div></li>'
    )


def _table(heads: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(
        f"<tr><td>{_text(one['name'])}</td><td>{one['runs']:,}</td><td>{_ms(one['ms'])}</td>"
        f"<td>{one['failures']:,}</td><td>{one['denied'] or 0:,}</td></tr>"
        for one in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(text: Any, most: int = 400) -> str:
    shown = "".join(char if char.isprintable() or char == "\n" else "·" for char in str(text))
    return escape(shown if len(shown) <= most else shown[: most - 1] + "…")


def _ms(value: float) -> str:
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.1f} ms"


def _day(when: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(when))
