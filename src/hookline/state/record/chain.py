"""One event as the chain of its hooks: verdict, reason, time, what each changed, and why the others were skipped. Pure.

The page of one event, ``hookline log --chain``, the report and the full-screen manager all show this.
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

from hookline.core.agents import find_agent
from hookline.core.sanitize import one_line
from hookline.core.typed import Any
from hookline.state.record.query import REPLAY, Row, Run

#: Fields by which a person recognizes an event, the best first.
_SUBJECTS = ("tool_name", "prompt", "command", "text", "message", "name", "path", "reason", "source")


def subject(data: Any) -> str:
    """The field by which a person recognizes the event."""
    if not isinstance(data, dict):
        return ""
    given = data.get("tool_input")
    detail = next(iter(given.values()), "") if isinstance(given, dict) and given else ""
    for name in _SUBJECTS:
        if isinstance(data.get(name), str):
            return f"{data[name]} {detail}".strip() if name == "tool_name" else data[name]
    return ""


def chain(row: Row, runs: Sequence[Run]) -> dict[str, Any]:
    """The whole event, as ``log --chain --json`` prints it."""
    before = row.before if row.before is not None else row.data
    steps = list(_steps(row, runs, before if isinstance(before, dict) else {}))
    return {
        "id": row.id, "number": row.number, "time": row.time, "event": row.event, "native_event": row.native_event,
        "agent": row.agent, "session": row.session, "turn": row.turn, "cwd": row.cwd, "effect": row.effect,
        "granted": row.granted, "reason": row.reason, "why": _why(row, runs), "aborted": row.aborted, "ms": row.ms,
        "subject": subject(before), "summary": summarize(row, runs), "data": before,
        "data_after": row.data if row.modified else None, "modified": row.modified, "steps": steps,
        "context": row.context, "messages": row.messages, "notes": [*_marks(before), *row.ignored],
        "conflicts": row.conflicts, "attributes": row.attributes, "sent": _payload_sent(row), "answer": _answer_given(row),
        "command": _fire_command(row, before),
    }  # fmt: skip


def summarize(row: Row, runs: Sequence[Run]) -> str:
    """Who decided, in one sentence."""
    deciders = [run.hook for run in runs if run.effect == row.effect and row.effect != "allow"]
    failed = [run.hook for run in runs if run.status in {"failed", "timed-out"}]
    if row.aborted:
        return f"{row.aborted.get('hook', 'a hook')} failed and ended the run"
    if row.effect == "deny":
        asked = [run.hook for run in runs if run.effect == "ask"]
        if asked and not deciders and not failed:
            return f"Refused: {_listed(asked)} asked, and {row.agent} cannot ask a person here"
        return f"Refused by {_listed(deciders or [f'the failure of {name}' for name in failed] or ['hookline'])}"
    if row.effect == "ask":
        return f"{_listed(deciders or ['hookline'])} asked the person"
    words = ["Allowed" if row.granted else "No hook objected"]
    words += ["changed on the way"] if row.modified else []
    words += [f"{_listed(failed)} failed"] if failed else []
    return ", ".join(words)


def _why(row: Row, runs: Sequence[Run]) -> str:
    """The reason, to follow the summary: the hook that gave it is named there."""
    names = [run.hook for run in runs if run.effect in {"deny", "ask"}]
    return row.reason.removeprefix(f"{names[0]}: ") if names else row.reason


def _listed(names: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _steps(row: Row, runs: Sequence[Run], data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """In declared order. Bars follow each other where that fits into the whole time; parallel hooks begin together."""
    in_turn = sum(run.ms for run in runs) <= row.ms * 1.05 + 1
    now, began = dict(data), 0.0
    deciding = next((effect for effect in ("deny", "ask") if any(run.effect == effect for run in runs)), None)
    for run in runs:
        detail = run.detail or {}
        changed = detail.get("data") or {}
        yield {
            "hook": run.hook, "hook_id": run.hook_id, "dialect": run.dialect, "status": run.status, "effect": run.effect,
            "verdict": verdict_word(run), "reason": _reason(row, run, detail, deciding), "skip": detail.get("skip"),
            "ms": run.ms, "began": began, "exit_code": run.exit_code, "error": run.error, "stdout": run.stdout,
            "stderr": run.stderr, "spilled": list(run.spilled), "usage": run.usage,
            "changes": [{"field": name, "before": now.get(name), "after": value} for name, value in changed.items()],
            "context": [one for one in row.context if one.get("hook") == run.hook],
            "messages": [one for one in row.messages if one.get("hook") == run.hook],
            "notes": [*(one["text"] for one in row.ignored if one.get("hook") == run.hook), *detail.get("notes", ())],
        }  # fmt: skip
        now.update(changed)
        began += run.ms if in_turn else 0.0


def verdict_word(run: Run) -> str:
    """One word for what became of the hook."""
    if run.status == "replied":
        changed = "changed" if run.detail and run.detail.get("data") else "no opinion"
        return {"allow": "allowed", "ask": "asked", "deny": "refused"}.get(run.effect or "", changed)
    return {"timed-out": "timed out", "started": "in background"}.get(run.status, run.status)


def _reason(row: Row, run: Run, detail: Mapping[str, Any], deciding: str | None) -> str:
    """Its own; the one of the decision is not kept twice."""
    own = run.error or detail.get("reason") or (row.reason if deciding and run.effect == deciding else "")
    return str(own).removeprefix(f"{run.hook}: ") or _unread(row, run)


def _unread(row: Row, run: Run) -> str:
    """Text that a hook printed and nobody reads: it may be meant as a refusal."""
    text = (run.stdout or "").strip()
    said = run.effect or run.status != "replied" or text.startswith("{") or (run.detail or {}).get("data")
    read = said or any(one.get("hook") == run.hook for one in (*row.context, *row.messages))
    return f"what it printed has no effect: {one_line(text, 100)}" if text and not read else ""


def _marks(data: Any) -> Iterator[dict[str, str]]:
    if not isinstance(data, dict):
        return
    if isinstance(data.get("derived"), list) and data.get("derived_from"):
        yield {"hook": "hookline", "text": f"derived from {data['derived_from']}: this agent does not fire it"}
    if isinstance(data.get("synthetic"), str):
        yield {"hook": "hookline", "text": f"not typed by a person: {data['synthetic']}"}


def _payload_sent(row: Row) -> dict[str, Any] | None:
    """The payload as the agent sent it, without its secrets; None where hookline itself made the event."""
    wire = row.wire or {}
    data = row.before if row.before is not None else row.data
    if not isinstance(data, dict) or find_agent(row.agent) is None:
        return None
    added = {"native_tool_name", *wire.get("added", ())}
    sent = {"hook_event_name": row.native_event, **{name: value for name, value in data.items() if name not in added}}
    if isinstance(data.get("native_tool_name"), str):
        sent["tool_name"] = data["native_tool_name"]
    if "native_tool_input" in data:
        sent["tool_input"] = sent.pop("native_tool_input", data["native_tool_input"])
    return {**sent, **wire.get("own", {})}


def _answer_given(row: Row) -> dict[str, Any] | None:
    """The answer as the agent got it, empty where no hook had anything to say; None where no agent asked."""
    given = (row.wire or {}).get("answer")
    if given is None and (find_agent(row.agent) is None or row.session.startswith(REPLAY)):
        return None
    code, out, err = given or (0, "", "")
    return {"exit_code": code, "stdout": out, "stderr": err}


def _fire_command(row: Row, data: Any) -> str:
    """A command that fires the same event again."""
    given = json.dumps(data, ensure_ascii=False)
    return shlex.join(["hookline", "fire", row.event, "--agent", row.agent, "--json", "--data", given])


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────


def chain_lines(one: Mapping[str, Any], when: str) -> Iterator[str]:
    """The same for a terminal. Everything that an agent or a hook wrote is made harmless."""
    yield f"{one['event']}  {one_line(one['subject'], 200)}"
    yield f"{one_line(one['summary'], 200)}{': ' if one['why'] else ''}{one_line(one['why'], 400)}"
    yield f"{when}  {one_line(one['agent'])}  session {one_line(one['session'] or '-')}  turn {one['turn']}"
    yield f"in {one_line(one['cwd'])}  id {one['id']}  {one['ms']:.1f} ms"
    if not one["steps"]:
        yield "  no hook listened to it"
    longest = max((step["ms"] for step in one["steps"]), default=0) or 1
    for number, step in enumerate(one["steps"], 1):
        bar = "█" * round(12 * step["ms"] / longest)
        text = one_line(step["reason"], 300)
        yield f"  {number}. {step['verdict']:<13} {one_line(step['hook'], 40):<28} {step['ms']:8.1f} ms {bar:<12}  {text}".rstrip()
        yield from (f"       {line}" for line in _step_lines(step))
    yield from (f"  note: {one_line(note['text'], 300)}" for note in one["notes"] if note.get("hook") == "hookline")
    answer = one["answer"]
    if answer is None:
        return
    output = one_line(f"{answer['stdout']} {answer['stderr']}".strip(), 400)
    yield f"  answer: exit code {answer['exit_code']}{', ' + output if output else ', nothing else'}"


def _step_lines(step: Mapping[str, Any]) -> Iterator[str]:
    for change in step["changes"]:
        yield from (one_line(line, 300) for line in change_lines(change))
    for context in step["context"]:
        yield f"context: {one_line(context['text'], 300)}"
    for note in step["notes"]:
        yield f"note: {one_line(note, 300)}"


def change_lines(change: Mapping[str, Any]) -> list[str]:
    """What a hook changed in one field, as a diff."""
    before, after = (json.dumps(change[name], indent=1, ensure_ascii=False).split("\n") for name in ("before", "after"))
    lines = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    return [f"{change['field']}:", *(line for line in lines if not line.startswith("@@"))]
