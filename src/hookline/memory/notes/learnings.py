"""Learnings: one file each, ``YYYY-MM/YYYY-MM-DD-<slug>.md``, identified by its title."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence

from hookline.core.files import read_text, replace_atomically
from hookline.memory.distill.answer import Learning, note_body
from hookline.memory.layout import make_private
from hookline.memory.notes.entries import slug, text_key
from hookline.memory.notes.front_matter import split_front_matter

_KEY = re.compile(r"^key: ([0-9a-f]{16})$", re.MULTILINE)


def add_insights(folder: str, insights: Sequence[str], *, day: str, session: str, short: str, project: str) -> int:
    """Write the new ones as ``YYYY-MM/YYYY-MM-DD-<short id>-<n>.md``; how many. Raises OSError."""
    known = set(_known(folder))
    hashes = {
        hashlib.sha256(" ".join(one.split()).encode("utf-8", "replace")).hexdigest()[:16]: one for one in insights
    }
    fresh = {key: text for key, text in hashes.items() if key not in known}
    number = 1
    for key, text in fresh.items():
        month = make_private(os.path.join(folder, day[:7]))
        head = f"---\ntype: insight\nkey: {key}\ndate: {day}\nsession_id: {_plain(session)}\nproject: {_plain(project)}\n---\n"
        while True:
            try:
                replace_atomically(
                    os.path.join(month, f"{day}-{short}-{number}.md"), f"{head}\n{note_body(text)}\n", exclusive=True
                )
                break
            except FileExistsError:
                number += 1
    return len(fresh)


def _known(folder: str) -> Iterator[str]:
    for place, _folders, names in os.walk(folder):
        for name in names:
            if name.endswith(".md") and (found := _KEY.search((read_text(os.path.join(place, name)) or "")[:1000])):
                yield found[1]


def _plain(text: str) -> str:
    return re.sub(r"[^\w .@/-]", "_", text)[:200]


#: Characters at the beginning of a file that contain its title.
_HEAD = 4096
#: Files of one day with the same slug and different titles.
_MAX_NAMESAKES = 20


def titles(folder: str) -> list[str]:
    """The titles of all learnings, newest path first. Files that begin with ``_review-`` are not learnings."""
    return [title for path in files(folder) if (title := read_title(path))]


def files(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders.sort(reverse=True)
        for name in sorted(names, reverse=True):
            if name.endswith(".md") and not name.startswith(("_review-", ".")):
                yield os.path.join(place, name)


def read_title(path: str) -> str:
    """The title in the front matter, or the first heading."""
    text = (read_text(path) or "")[:_HEAD]
    title = split_front_matter(text)[0].get("title", "")
    return title or next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), "")


def add(folder: str, learning: Learning, *, day: str, session: str, project: str, known: set[str]) -> str:
    """Write it, unless it is known; the path, or "". ``known`` has the keys of all titles, and gets this one.

    Raises OSError and StateError if it was not written.
    """
    key = text_key(learning.title)
    if key in known:
        return ""
    month = make_private(os.path.join(folder, day[:7]))
    text = _format(learning, day=day, session=session, project=project)
    for number in range(1, _MAX_NAMESAKES + 1):
        path = os.path.join(month, f"{day}-{slug(learning.title)}{'' if number == 1 else f'-{number}'}.md")
        try:
            replace_atomically(path, text, exclusive=True)
        except FileExistsError:
            continue
        known.add(key)
        return path
    return ""


def _format(learning: Learning, *, day: str, session: str, project: str) -> str:
    """Values of the front matter are JSON, which is valid YAML: no title can begin another field."""
    front = {
        "type": "learning", "title": learning.title, "date": day, "origin": project, "origin_session": session,
        "tags": list(learning.tags), "scope": learning.scope or "universal", "status": "active",
    }  # fmt: skip
    head = "".join(f"{key}: {_yaml(value)}\n" for key, value in front.items())
    context = f"\n## Context\n\n{learning.context}\n" if learning.context else ""
    return f"---\n{head}---\n\n# {learning.title}\n\n## Learning\n\n{learning.learning}\n{context}"


def _yaml(value: object) -> str:
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z_-]*|\d{4}-\d\d-\d\d", value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)
