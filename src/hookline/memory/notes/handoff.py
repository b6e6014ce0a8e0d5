"""A slim ``handoff.md``: written without a model, for a session that was too short to distil where nothing is open.

It never replaces a full one, which ``journal.views`` writes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

from hookline.core._dataclass import dataclass
from hookline.core.files import read_text, replace_atomically
from hookline.memory.layout import make_private

_SLIM = "# Handoff (slim)"
_PHRASES = """
a ahead all alright and bye continue cool do done exit fine go good great hello hey hi it keep looks make nice no now ok
okay on perfect please proceed quit so sounds sure thank thanks that this yeah yep yes you
"""
_NOTHING = frozenset(_PHRASES.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The session, when the handoff was written, and the modification time of the transcript it was made from."""

    session: str
    written: str
    source_mtime: float


def write_slim(path: str, *, prompt: str, branch: str, files: Sequence[str], source: Provenance) -> bool:
    """Write it if there is a prompt and no full handoff; "ok, go on" replaces none at all. Raises OSError."""
    before = read_text(path)
    if not prompt or (before is not None and (says_nothing(prompt) or not is_slim(before))):
        return False
    make_private(os.path.dirname(path))
    quoted = "".join(f"> {line}\n" for line in prompt.split("\n"))
    parts = [
        f"{_front_matter(source)}\n{_SLIM}\n\nThe last session was too short to distil.\n",
        f"\n- Written at: {source.written}\n",
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


def _front_matter(source: Provenance) -> str:
    quoted = json.dumps(source.session, ensure_ascii=False)
    session = source.session if source.session.replace("-", "").isalnum() else quoted
    return (
        f"---\nsession_id: {session}\nwritten_at: {source.written}\nsource_mtime: {round(source.source_mtime)}\n---\n"
    )
