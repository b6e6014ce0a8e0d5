"""Notes that are relevant to a new session.

There is no prompt yet. So the topic comes from the state of the work: the branch's name, the open items of the last
handoff, the changed files and the last commit's subject, in this order. A note is relevant if it shares two keywords
with them.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence

from hookline.core.errors import StateError
from hookline.memory.context import HookContext
from hookline.memory.inject.git_facts import GitFacts
from hookline.memory.inject.project_memory import pending_items
from hookline.memory.layout import HANDOFF
from hookline.memory.notes import index, qmd
from hookline.memory.notes.note_files import Note, scopes
from hookline.memory.notes.search import Query, keyword_query, search, split_words

#: Keywords that a note must share.
_MIN_SHARED = 2
#: Candidates per note that is shown.
_CANDIDATES = 5
_MAX_TITLE = 160
_COMMIT_HASH = re.compile(r"^[0-9a-f]{4,40} ")


def relevant_notes(context: HookContext, facts: GitFacts | None = None, shown: Sequence[str] = ()) -> str:
    """One line per note; "" for none. Notes in ``shown``, the other sections, are not repeated.

    A person waits for the first prompt: nothing is indexed here, only searched. May raise sqlite3.Error.
    """
    most = context.settings.context_inject.relevant_notes
    query = _topic_query(context, facts)
    if not query or most <= 0:
        return ""
    process = (
        qmd.start_search(context.event.environ, context.here.cwd, query.words, most) if _with_qmd(context) else None
    )
    lines = [_line(hit) for hit in _hits(context, query, "\n".join(shown), most)]
    if process is not None:
        lines += [line for line in qmd.finish_search(process) if line not in lines]
    return "\n".join(lines[:most])


def _topic_query(context: HookContext, facts: GitFacts | None) -> Query:
    """The keywords of the current work."""
    left = pending_items(context.places, context.project, context.here.cwd)
    if facts is None:
        return keyword_query([left])
    files = [os.path.splitext(os.path.basename(path))[0] for path in facts.changed]
    return keyword_query([facts.branch, left, *files, _COMMIT_HASH.sub("", facts.commit)])


def _with_qmd(context: HookContext) -> bool:
    return context.settings.knowledge.search_engine == "qmd"


def _hits(context: HookContext, query: Query, shown: str, most: int) -> list[Note]:
    if not index.index_exists(context.places):
        return []
    try:
        with index.open_index(context.places, context.clean) as opened:
            own = scopes(context.project, context.here.cwd)
            found = search(opened, query, scopes=own, limit=most * _CANDIDATES, embed=0)
    except StateError as error:
        raise sqlite3.OperationalError(str(error)) from error
    wanted = min(_MIN_SHARED, len(query.parts))
    return [hit for hit in found if shared_words(hit, query) >= wanted and not _is_shown(hit, shown)][:most]


def shared_words(hit: Note, query: Query) -> int:
    """The number of keywords in the title and the snippet, compared by their first letters, like stems."""
    words = " ".join(split_words(f"{hit.title} {hit.text}".lower()))
    return sum(f" {word[:5]}" in f" {words}" for word in query.words)


def _is_shown(hit: Note, shown: str) -> bool:
    return bool(hit.title) and (hit.title in shown or hit.path.endswith(f"/{HANDOFF}"))


def _line(hit: Note) -> str:
    day = f"{hit.date[:10]}: " if hit.date else ""
    text = " ".join(hit.title.split())
    text = text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 1]}…"
    if hit.kind == "failure" and hit.text:
        text += f" → {hit.text}"
    where = f" ({hit.path})" if hit.kind in {"session", "learning"} else ""
    return f"- [{hit.kind}] {day}{text}{where}"
