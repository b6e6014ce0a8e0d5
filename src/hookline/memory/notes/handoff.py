"""A slim ``handoff.md``: written without a model, for a session that was too short to distil where nothing is open.

It never replaces a full one, which ``journal.views`` writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from hookline.core.files import read_text, replace_atomically
from hookline.memory.layout import make_private
from hookline.memory.notes.front_matter import front_matter

_SLIM = "# Handoff (slim)"
_PHRASES = """
a ahead all alright and bye continue cool do done exit fine go good great hello hey hi it keep looks make nice no now ok
okay on perfect please proceed quit so sounds sure thank thanks that this yeah yep yes you
"""
_NOTHING = frozenset(_PHRASES.split())


def write_slim(
    path: str, *, prompt: str, branch: str, files: Sequence[str], session: str, written: str, source_mtime: float
) -> bool:
    """Write it if there is a prompt and no full handoff; "ok, go on" replaces none at all. ``source_mtime`` is that of the
    transcript. Raises OSError."""
    before = read_text(path)
    if not prompt or (before is not None and (says_nothing(prompt) or not is_slim(before))):
        return False
    make_private(os.path.dirname(path))
    quoted = "".join(f"> {line}\n" for line in prompt.split("\n"))
    head = front_matter({"session_id": session, "written_at": written, "source_mtime": round(source_mtime)})
    parts = [
        f"{head}\n{_SLIM}\n\nThe last session was too short to distil.\n",
        f"\n- Written at: {written}\n",
        f"- Branch: {branch}\n" if branch else "",
        f"\n## Last user prompt\n\n{quoted}",
        "\n## Files touched\n\n" + "".join(f"- {file}\n" for file in files) if files else "",
    ]
    replace_atomically(path, "".join(parts))
    return True


def says_nothing(prompt: str) -> bool:
    """Whether it is "ok, go on": words that are about no work at all."""
    words = re.findall(r"\w+", prompt.casefold())
    return len(words) < 8 and _NOTHING.issuperset(words)


def is_slim(text: str) -> bool:
    return any(line.strip() == _SLIM for line in text[:2000].split("\n"))
