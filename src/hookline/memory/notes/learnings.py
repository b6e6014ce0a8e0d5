"""Learnings: a file each, ``YYYY-MM/YYYY-MM-DD-<slug>.md``, found again by its title."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from hookline.core.files import read_text, replace_atomically
from hookline.memory.layout import make_private
from hookline.memory.notes.normalize import slug, text_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.memory.distill.answer import Learning

#: Characters at the beginning of a file in which its title must stand.
_HEAD = 4096
#: Files of the same day with the same slug and other titles.
_NAMESAKES = 20
_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)


def titles(folder: str) -> list[str]:
    """Of all learnings, newest path first. Files that begin with ``_review-`` are no learnings."""
    return [title for path in files(folder) if (title := read_title(path))]


def files(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders.sort(reverse=True)
        for name in sorted(names, reverse=True):
            if name.endswith(".md") and not name.startswith(("_review-", ".")):
                yield os.path.join(place, name)


def read_title(path: str) -> str:
    """What its front matter says, or its first heading."""
    text = read_text(path) or ""
    found = _TITLE.search(text[:_HEAD]) if text.startswith("---") else None
    if found is None:
        return next((line[2:].strip() for line in text[:_HEAD].splitlines() if line.startswith("# ")), "")
    try:
        value = json.loads(found[1])
    except ValueError:
        return found[1].strip("'\"")
    return value if isinstance(value, str) else str(value)


def add(folder: str, learning: Learning, *, day: str, session: str, project: str, known: set[str]) -> str:
    """Write it, unless it is known; the path, or "". ``known`` holds the keys of the titles there are, and is added to.

    Raises OSError and StateError, and then it was not written.
    """
    key = text_key(learning.title)
    if key in known:
        return ""
    month = make_private(os.path.join(folder, day[:7]))
    text = _text_of(learning, day=day, session=session, project=project)
    for number in range(1, _NAMESAKES + 1):
        path = os.path.join(month, f"{day}-{slug(learning.title)}{'' if number == 1 else f'-{number}'}.md")
        try:
            replace_atomically(path, text, exclusive=True)
        except FileExistsError:
            continue
        known.add(key)
        return path
    return ""


def _text_of(learning: Learning, *, day: str, session: str, project: str) -> str:
    """Values of the front matter are JSON, which YAML reads: nothing in a title can begin another field."""
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
