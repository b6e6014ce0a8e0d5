"""Write a model's results to files so that a kill in between loses and repeats nothing.

The answer is first saved as a plan beside the task. Applying a plan is idempotent: entries are identified by their
summary, learnings by their title, and a handoff is simply overwritten. The plan is deleted when the task has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import dataclass, empty, field, fields
from hookline.core.files import read_text, replace_atomically, sweep
from hookline.memory.dir_lock import lock_directory
from hookline.memory.distill.answer import DecisionNote, Distilled, FailureNote, Learning
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, make_private
from hookline.memory.notes import entries, handoff, learnings
from hookline.memory.notes.entries import text_key

_VERSION = 1
#: Result for a handoff with nothing pending.
DELETED = "handoff deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """What to write where. All times are those of the first attempt."""

    memory: str
    learnings: str
    project: str
    session: str
    agent: str
    #: ISO 8601, and its day.
    moment: str
    day: str
    source_mtime: float
    results: Distilled
    #: When the task was queued: an earlier task may have had the same name.
    created: str = ""
    extra: Mapping[str, Any] = field(default_factory=empty)


def apply_plan(plan: WritePlan) -> list[str]:
    """Write what is not written yet; what was written, for the log. Raises OSError and StateError; it can be repeated."""
    make_private(plan.memory)
    for folder in (plan.memory, os.path.join(plan.learnings, plan.day[:7])):
        sweep(folder)
    wrote: list[str] = []
    stamp = {"project": plan.project, "session_id": plan.session, "agent": plan.agent}
    for kind, file, notes in (
        ("decision", DECISIONS, plan.results.decisions),
        ("failure", FAILURES, plan.results.failures),
    ):
        lines = [{"ts": plan.moment, **_record(one, kind), **stamp} for one in notes]
        if count := entries.add(os.path.join(plan.memory, file), lines):
            wrote.append(f"{count} {kind}s")
    if plan.results.learnings and (count := _add_learnings(plan)):
        wrote.append(f"{count} learnings")
    source = handoff.Provenance(session=plan.session, written=plan.moment, source_mtime=plan.source_mtime)
    if done := handoff.write(os.path.join(plan.memory, HANDOFF), plan.results.handoff, source):
        wrote.append("handoff" if done == "wrote" else DELETED)
    return wrote


def _record(note: DecisionNote | FailureNote, kind: str) -> dict[str, Any]:
    """``type`` is what lazy-harness writes: the kind of record. A model's own word for it is the category."""
    return {**_to_json(note), "type": kind, **({"category": note.type} if note.type not in {"", kind} else {})}


def _add_learnings(plan: WritePlan) -> int:
    with lock_directory(plan.memory):  # the lock files are not put among the person's notes
        known = {text_key(title) for title in learnings.titles(plan.learnings)}
        kept = [
            learnings.add(plan.learnings, one, day=plan.day, session=plan.session, project=plan.project, known=known)
            for one in plan.results.learnings
        ]
    return sum(map(bool, kept))


def save_plan(path: str, plan: WritePlan) -> None:
    """Raises OSError if it was not saved."""
    tree = _to_json(plan)
    tree["said"] = tree.pop("results")  # the name that plans of older versions have
    replace_atomically(path, json.dumps({"version": _VERSION, **tree}, ensure_ascii=False))


def load_plan(path: str, created: str = "") -> WritePlan | None:
    """The plan of an earlier attempt of the task that was queued at ``created``; None if there is none."""
    try:
        tree = json.loads(read_text(path) or "")
        if tree.pop("version") != _VERSION:
            return None
        results = tree.pop("said")
        kinds = {"decisions": DecisionNote, "failures": FailureNote, "learnings": Learning}
        made: dict[str, Any] = {key: tuple(kind(**_tuples(one)) for one in results[key]) for key, kind in kinds.items()}
        plan = WritePlan(results=Distilled(handoff=tuple(results["handoff"]), **made), **tree)
        return plan if "" in {created, plan.created} or plan.created == created else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def delete_plan(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _to_json(thing: Any) -> Any:
    if isinstance(thing, tuple):
        return [_to_json(one) for one in thing]
    if hasattr(type(thing), "__dataclass_fields__"):
        return {slot.name: _to_json(getattr(thing, slot.name)) for slot in fields(thing)}
    return dict(thing) if hasattr(thing, "keys") else thing


def _tuples(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in tree.items()}
