"""Write a model's results to the journal so that a kill in between loses and repeats nothing.

The answer is first saved as a plan beside the task. Applying a plan is idempotent: an entry is identified by its session
and its text, and what has ended is not ended again. The plan is deleted when the task has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, empty, field, fields
from hookline.core.files import read_text, replace_atomically
from hookline.memory.distill.answer import DecisionNote, Distilled, FailureNote, Learning
from hookline.memory.distill.rulings import Ruling
from hookline.memory.journal.files import Author, Journal
from hookline.memory.journal.views import refresh
from hookline.memory.project import find_project

if TYPE_CHECKING:
    from hookline.memory.journal.model import Kind, State
    from hookline.memory.layout import Places

_VERSION = 1


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
    #: Of the conversation (``Digest.state``).
    state: str = ""
    rulings: tuple[Ruling, ...] = ()
    cwd: str = ""
    #: The name of the session's own note, for links.
    session_note: str = ""
    #: When the task was queued: an earlier task may have had the same name.
    created: str = ""
    extra: Mapping[str, Any] = field(default_factory=empty)


def apply_plan(plan: WritePlan, places: Places) -> list[str]:
    """Write what is not written yet; what was written, for the log. Raises OSError and StateError; it can be repeated."""
    journal = Journal(places, find_project(plan.cwd), plan.cwd, memory=plan.memory)
    author = Author(source="distiller", agent=plan.agent, session=plan.session)
    before = journal.state()
    if before.distilled.get(plan.session, 0.0) > plan.source_mtime + 1:
        return []  # a later state of the session was distilled already
    wrote = [f"{count} {name}" for kind, name in _NAMES.items() if (count := _add(plan, journal, author, kind))]
    wrote += [f"{count} {what}" for what, count in _apply(plan, journal, author, before).items()]
    if before.distilled.get(plan.session) != plan.source_mtime or plan.state not in {"", *before.states}:
        journal.mark_distilled(author, plan.source_mtime, plan.state)
    refresh(places, journal, plan.project, plan.session, plan.source_mtime)
    return wrote


_NAMES: Mapping[Kind, str] = {
    "decision": "decisions", "failure": "failures", "learning": "learnings", "open": "open items"
}  # fmt: skip
_ENDED = {"supersede": "superseded", "close": "closed", "duplicate": "duplicates", "question": "for review"}


def _add(plan: WritePlan, journal: Journal, author: Author, kind: Kind) -> int:
    """How many were added."""
    known = set(journal.state().entries)
    for text, details in _new(plan, kind):
        linked = {**details, "session_note": plan.session_note} if plan.session_note else details
        everywhere = kind == "learning" and details.get("scope") != "project"
        journal.add(kind, text, author, details=linked, everywhere=everywhere)
    return len(journal.state().entries.keys() - known)


def _new(plan: WritePlan, kind: Kind) -> Iterator[tuple[str, dict[str, Any]]]:
    results = plan.results
    if kind == "open":
        yield from ((text, {}) for text in results.handoff)
    elif kind == "learning":
        for one in results.learnings:
            tree = _to_json(one)
            yield tree.pop("title"), tree
    else:
        for note in results.decisions if kind == "decision" else results.failures:
            tree = _to_json(note)
            # ``type`` is what lazy-harness writes: the kind of record. A model's own word for it is the category.
            category = tree.pop("type")
            yield tree.pop("summary"), {**tree, **({"category": category} if category not in {"", kind} else {})}


def _apply(plan: WritePlan, journal: Journal, author: Author, before: State) -> dict[str, int]:
    done: dict[str, int] = {}
    ids = {one.text: one.id for one in journal.state().current()}
    for ruling in plan.rulings:
        entry = before.entries.get(ruling.entry)
        if entry is None or not entry.is_current or (ruling.op == "question" and entry.question):
            continue
        data = {"because": ruling.because, "by": ids.get(ruling.by, ruling.by)}
        if ruling.op == "question":
            data["wants"] = ruling.wants
        elif data["by"] == entry.id:
            continue
        journal.change(ruling.op, entry, author, **data)
        name = _ENDED[ruling.op]
        done[name] = done.get(name, 0) + 1
    return done


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
        rulings = tuple(Ruling(**one) for one in tree.pop("rulings", ()))
        notes = tuple(results.get("notes", ()))
        plan = WritePlan(
            results=Distilled(handoff=tuple(results["handoff"]), notes=notes, **made), rulings=rulings, **tree
        )
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
