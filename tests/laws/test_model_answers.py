"""Whatever a model says: it is read or refused, and what is read can be written and read again."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.memory.distill import write_results
from hookline.memory.distill.answer import KINDS, UnreadableAnswerError, read_answer
from hookline.memory.layout import Places
from hookline.memory.notes import entries
from hookline.memory.notes.front_matter import split_front_matter

_TEXT = st.text(max_size=60)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)
_ENTRY = st.dictionaries(st.sampled_from(["summary", "title", "learning", "tags", "prevention", "context"]), _JSON)
_ANSWER = st.dictionaries(st.sampled_from(KINDS), _JSON | st.lists(_ENTRY, max_size=4))


@given(_TEXT, _JSON | _ANSWER, _TEXT)
@settings(max_examples=100)
def test_no_answer_raises_anything_else(before: str, value: object, after: str) -> None:
    text = before + json.dumps(value) + after
    for said in (text, text[: len(text) // 2], f"```json\n{text}\n```"):
        try:
            read_answer(said)
        except UnreadableAnswerError:
            continue


@given(_ANSWER)
@settings(max_examples=60)
def test_carrying_a_plan_out_twice_is_carrying_it_out_once(value: object) -> None:
    said = read_answer(json.dumps(value))
    with tempfile.TemporaryDirectory() as folder:
        plan = write_results.WritePlan(
            memory=os.path.join(folder, "memory/p-1"), learnings=os.path.join(folder, "learnings"), project="p", session="s",
            agent="claude-code", moment="2026-11-15T10:00:00+01:00", day="2026-11-15", source_mtime=5.0, results=said,
        )  # fmt: skip
        kept = os.path.join(folder, "plan")
        write_results.save_plan(kept, plan)
        again = write_results.load_plan(kept)
        assert again is not None
        assert (again.results.decisions, again.results.handoff) == (said.decisions, said.handoff)
        state, notes = os.path.join(folder, "state"), os.path.join(folder, "sessions")
        places = Places(root=folder, state=state, sessions=notes, learnings=plan.learnings)
        write_results.apply_plan(plan, places)
        before = _files(folder)
        write_results.apply_plan(again, places)
        assert _files(folder) == before
        for name, wanted in (("decisions.jsonl", said.decisions), ("failures.jsonl", said.failures)):
            assert len(entries.read(os.path.join(plan.memory, name))) <= len(wanted)
        for path in Path(plan.learnings).rglob("*.md"):
            assert path.parent.parent == Path(plan.learnings)
            title = split_front_matter(path.read_text())[0]["title"]
            assert title in {one.title for one in said.learnings}


def _files(folder: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for place, _folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found
