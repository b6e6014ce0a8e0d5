"""Insights: one file each, ``YYYY-MM/YYYY-MM-DD-<short id>-<n>.md``."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence

from hookline.core.files import read_text, replace_atomically
from hookline.memory.distill.answer import note_body
from hookline.memory.layout import make_private

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
