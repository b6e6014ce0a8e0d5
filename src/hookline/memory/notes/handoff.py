"""``handoff.md``: what is pending when a session ends, for the next session.

The front matter of a full handoff names its session. A slim handoff is written without a model, for a session that was
too short to distil. It never replaces a full one.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence

from hookline.core._dataclass import dataclass
from hookline.core.files import read_text, replace_atomically
from hookline.memory.layout import make_private
from hookline.memory.notes.front_matter import split_front_matter

_SLIM = "# Handoff (slim)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The session, when the handoff was written, and the modification time of the transcript it was made from."""

    session: str
    written: str
    source_mtime: float


def write(path: str, items: Sequence[str], source: Provenance) -> str:
    """Overwrite it with the pending items, or delete it if there are none. "wrote", "deleted" or "". Raises OSError."""
    before = read_text(path)
    if before is not None and _is_newer(before, source):
        return ""
    if not items:
        if before is None:
            return ""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return "deleted"
    make_private(os.path.dirname(path))
    bullets = "".join(f"- {item}\n" for item in items)
    replace_atomically(path, f"{_front_matter(source)}\nPending for the next session:\n\n{bullets}")
    return "wrote"


def write_slim(path: str, *, prompt: str, branch: str, files: Sequence[str], source: Provenance) -> bool:
    """Write it if there is a prompt and no full handoff. Raises OSError."""
    before = read_text(path)
    if not prompt or (before is not None and not is_slim(before)):
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


def is_slim(text: str) -> bool:
    return any(line.strip() == _SLIM for line in text[:2000].split("\n"))


def _is_newer(text: str, source: Provenance) -> bool:
    """Whether a handoff of the same session was made from more of it: a late task must not replace it."""
    fields, _body = split_front_matter(text)
    try:
        return fields.get("session_id") == source.session and float(fields["source_mtime"]) > source.source_mtime + 1
    except (KeyError, ValueError):
        return False


def _front_matter(source: Provenance) -> str:
    quoted = json.dumps(source.session, ensure_ascii=False)
    session = source.session if source.session.replace("-", "").isalnum() else quoted
    return (
        f"---\nsession_id: {session}\nwritten_at: {source.written}\nsource_mtime: {round(source.source_mtime)}\n---\n"
    )
