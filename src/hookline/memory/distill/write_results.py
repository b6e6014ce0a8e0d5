"""From what a model said to files, so that being killed in between changes nothing.

The answer is first written down as a plan, beside the task. Carrying a plan out says everything at most once, so it can
be carried out again from the beginning: entries are known by what they say, learnings by their title, and a handoff is
the same however often it is written. The plan goes when the task has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, empty, field, fields
from hookline.core.files import read_text, replace_atomically, sweep
from hookline.memory.dir_lock import lock_directory
from hookline.memory.distill.answer import DecisionNote, Distilled, FailureNote, Learning
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, make_private
from hookline.memory.notes import entries, handoff, learnings
from hookline.memory.notes.normalize import text_key

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION = 1
#: Said of a handoff with nothing pending any more.
DELETED = "handoff deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """What shall stand where. All moments in it are those of the first try."""

    memory: str
    learnings: str
    project: str
    session: str
    agent: str
    #: ISO 8601, and the day of it.
    moment: str
    day: str
    source_mtime: float
    said: Distilled
    #: When its task was queued: another may have had the same name.
    created: str = ""
    extra: Mapping[str, Any] = field(default_factory=empty)


def apply_plan(plan: WritePlan) -> list[str]:
    """Write what is not written yet; what was written, for the log. Raises OSError and StateError: try again later."""
    make_private(plan.memory)
    for folder in (plan.memory, os.path.join(plan.learnings, plan.day[:7])):
        sweep(folder)
    wrote: list[str] = []
    stamp = {"project": plan.project, "session_id": plan.session, "agent": plan.agent}
    for name, file, said in (("decisions", DECISIONS, plan.said.decisions), ("failures", FAILURES, plan.said.failures)):
        lines = [{"ts": plan.moment, **_plain(one), **stamp} for one in said]
        if count := entries.add(os.path.join(plan.memory, file), lines):
            wrote.append(f"{count} {name}")
    if plan.said.learnings and (count := _learned(plan)):
        wrote.append(f"{count} learnings")
    whose = handoff.Provenance(session=plan.session, written=plan.moment, source_mtime=plan.source_mtime)
    if done := handoff.write(os.path.join(plan.memory, HANDOFF), plan.said.handoff, whose):
        wrote.append("handoff" if done == "wrote" else DELETED)
    return wrote


def _learned(plan: WritePlan) -> int:
    with lock_directory(plan.memory):  # not in a directory that a person may look at
        known = {text_key(title) for title in learnings.titles(plan.learnings)}
        kept = [
            learnings.add(plan.learnings, one, day=plan.day, session=plan.session, project=plan.project, known=known)
            for one in plan.said.learnings
        ]
    return sum(map(bool, kept))


# ── the plan as a file ───────────────────────────────────────────────────────────────────────────────


def save_plan(path: str, plan: WritePlan) -> None:
    """Raises OSError, and then there is no plan."""
    replace_atomically(path, json.dumps({"version": _VERSION, **_plain(plan)}, ensure_ascii=False))


def load_plan(path: str, created: str = "") -> WritePlan | None:
    """The plan that an earlier try of the task that was queued then left; None if there is none to carry out."""
    try:
        tree = json.loads(read_text(path) or "")
        if tree.pop("version") != _VERSION:
            return None
        said = tree.pop("said")
        kinds = {"decisions": DecisionNote, "failures": FailureNote, "learnings": Learning}
        made: dict[str, Any] = {key: tuple(kind(**_frozen(one)) for one in said[key]) for key, kind in kinds.items()}
        plan = WritePlan(said=Distilled(handoff=tuple(said["handoff"]), **made), **tree)
        return plan if "" in {created, plan.created} or plan.created == created else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def delete_plan(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _plain(thing: Any) -> Any:
    if isinstance(thing, tuple):
        return [_plain(one) for one in thing]
    if hasattr(type(thing), "__dataclass_fields__"):
        return {slot.name: _plain(getattr(thing, slot.name)) for slot in fields(thing)}
    return dict(thing) if hasattr(thing, "keys") else thing


def _frozen(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in tree.items()}
