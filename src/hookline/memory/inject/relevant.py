"""Notes that fit a session that begins.

What is it about? Nobody has said a word yet. So it is taken from the traces of the work: the branch's name, what the
last handoff left open, the files that are changed and the last commit's subject, in this order. A note is relevant if
it shares two telling words with them.
"""

from __future__ import annotations

import os
import re
import sqlite3
from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.memory.inject.injected import pending
from hookline.memory.layout import HANDOFF
from hookline.memory.notes import index, qmd
from hookline.memory.notes.note_files import scopes
from hookline.memory.notes.query import Query, telling, words_in
from hookline.memory.notes.search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.memory.context import Scene
    from hookline.memory.inject.git_facts import GitFacts
    from hookline.memory.notes.search import Hit

#: Words that a note must share with the work.
_SHARED = 2
#: Notes looked at for each that is told.
_CANDIDATES = 5
_LONGEST = 160
_OF_SUBJECT = re.compile(r"^[0-9a-f]{4,40} ")


def relevant(scene: Scene, facts: GitFacts | None = None, told: Sequence[str] = ()) -> str:
    """A line per note, at most ``scene.settings.context_inject.relevant_notes``; "" for none. ``told`` are the other
    sections: what stands there is not said again.

    Called while a person waits for a first prompt: nothing is indexed here, only looked up. May raise sqlite3.Error.
    """
    most = scene.settings.context_inject.relevant_notes
    query = about(scene, facts)
    if not query or most <= 0:
        return ""
    asked = qmd.asked(scene.event.environ, scene.here.cwd, query.words, most) if _with_qmd(scene) else None
    lines = [_line(hit) for hit in _hits(scene, query, "\n".join(told), most)]
    if asked is not None:
        lines += [line for line in qmd.answered(asked) if line not in lines]
    return "\n".join(lines[:most])


def about(scene: Scene, facts: GitFacts | None) -> Query:
    """The words that tell what is being worked on."""
    left = pending(scene.places, scene.project, scene.here.cwd)
    if facts is None:
        return telling([left])
    files = [os.path.splitext(os.path.basename(path))[0] for path in facts.changed]
    return telling([facts.branch, left, *files, _OF_SUBJECT.sub("", facts.commit)])


def _with_qmd(scene: Scene) -> bool:
    return scene.settings.knowledge.search_engine == "qmd"


def _hits(scene: Scene, query: Query, told: str, most: int) -> list[Hit]:
    if not index.exists(scene.places):
        return []
    try:
        with index.opened(scene.places, scene.clean) as opened:
            own = scopes(scene.project, scene.here.cwd)
            found = search(opened, query, scopes=own, limit=most * _CANDIDATES)
    except StateError as error:
        raise sqlite3.OperationalError(str(error)) from error
    wanted = min(_SHARED, len(query.parts))
    return [hit for hit in found if _shared(hit, query) >= wanted and not _is_told(hit, told)][:most]


def _shared(hit: Hit, query: Query) -> int:
    """How many of the words are in what would be told of it, or around: by their first letters, as stems are."""
    words = " ".join(words_in(f"{hit.title} {hit.text}".lower()))
    return sum(f" {word[:5]}" in f" {words}" for word in query.words)


def _is_told(hit: Hit, told: str) -> bool:
    return bool(hit.title) and (hit.title in told or hit.path.endswith(f"/{HANDOFF}"))


def _line(hit: Hit) -> str:
    day = f"{hit.date[:10]}: " if hit.date else ""
    text = " ".join(hit.title.split())
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    if hit.kind == "failure" and hit.text:
        text += f" → {hit.text}"
    where = f" ({hit.path})" if hit.kind in {"session", "learning"} else ""
    return f"- [{hit.kind}] {day}{text}{where}"
