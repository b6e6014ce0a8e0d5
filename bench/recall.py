"""Whether search finds the note that answers a question: 420 notes of invented projects, 248 questions.

Only those count here that nothing was tuned with (``questions.txt`` and ``questions_more.txt`` say how they were made).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest.mock import patch

from measure import Row

from hookline.memory.context import memory_context
from hookline.memory.journal.files import append, journal_folder
from hookline.memory.journal.model import Change
from hookline.memory.layout import make_private
from hookline.memory.notes import index as indexing
from hookline.memory.notes import note_vectors
from hookline.memory.notes.search import parse_query, search
from hookline.memory.notes.sentence_model import load_model

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "questions")


class Question(NamedTuple):
    how: str
    text: str
    answers: frozenset[str]


def rows(folder: str, short: bool) -> Iterator[Row]:
    del short
    for weights in (True, False):
        with _index(os.path.join(folder, f"recall-{weights}"), weights=weights) as index:
            if weights and not load_model():
                continue
            found = recalled(index, kept_aside())
            more = recalled(index, questions("questions_more.txt"))
        mode = "with weights" if weights else "without weights"
        least = 0.55 if weights else 0.40
        for name, how, of, wanted in (
            ("", ("word", "name", "later"), more, 0.85),
            (" of words and names", ("word", "name"), found + more, 0.85),
            (" of paraphrases as people ask", ("later",), found + more, least),
            (" of paraphrases without a common word", ("meaning",), found, least),
        ):
            hits = [hit for question, hit in of if question.how in how]
            value = sum(hits) / len(hits)
            yield Row(
                what=f"recall@5{name}, {mode}", shown=f"{value:.2f} of {len(hits)}", value=1 - value, unit="missed",
                target=round(1 - wanted, 2),
            )  # fmt: skip


def recalled(index: indexing.NoteIndex, asked: list[Question]) -> list[tuple[Question, bool]]:
    return [
        (one, any(hit.entry in one.answers for hit in search(index, parse_query(one.text), limit=5))) for one in asked
    ]


def kept_aside() -> list[Question]:
    everything = questions()
    later = [one for one in everything if one.how == "later"]
    return [one for one in everything if one.how != "later"][1::2] + later[2::3]


def questions(name: str = "questions.txt") -> list[Question]:
    cells = [line.split("|") for line in _lines(name)]
    return [Question(how, text, frozenset(answers.split(","))) for how, text, answers in cells]


def _lines(name: str) -> list[str]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


@contextmanager
def _index(home: str, *, weights: bool) -> Generator[indexing.NoteIndex]:
    os.makedirs(home)
    here = memory_context(home, {"HOME": home})
    project = ""
    for line in _lines("notes.txt") + _lines("notes_more.txt"):
        if line.startswith("["):
            project = line.strip("[]")
            continue
        number, kind, text, detail = line.split("|")  # learnings have files of their own
        details = {"rationale" if kind == "decision" else "prevention": detail}
        data = {"kind": "note" if kind == "learning" else kind, "text": text, "project": project, "details": details}
        path = os.path.join(make_private(journal_folder(here.places, project)), "2026-01-01-bench.jsonl")
        append(
            path, Change(id=number, op="add", entry=number, at="2026-01-01T00:00:00.000Z", machine="bench", data=data)
        )
    model = patch.object(note_vectors, "load_model", load_model if weights else lambda: None)
    with model, indexing.open_index(here.places, str) as index:
        index.sync(here.places)
        index.vectors.embed_all(seconds=600)
        yield index
