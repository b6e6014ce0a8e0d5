"""``handoff.md``: what is pending when a session ends, for the next one.

A full handoff says whose it is in its front matter. A slim one is what can be told of a session without a model; it
never takes the place of a full one.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.files import read_text, replace_atomically
from hookline.memory.layout import make_private

if TYPE_CHECKING:
    from collections.abc import Sequence

_SLIM = "# Handoff (slim)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Of which session, written when, from a transcript of which age."""

    session: str
    written: str
    source_mtime: float


def write(path: str, items: Sequence[str], whose: Provenance) -> str:
    """Overwrite it with the pending items, or delete it if there are none. "wrote", "deleted" or "". Raises OSError."""
    before = read_text(path)
    if before is not None and _newer(before, whose):
        return ""
    if not items:
        if before is None:
            return ""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return "deleted"
    make_private(os.path.dirname(path))
    bullets = "".join(f"- {item}\n" for item in items)
    replace_atomically(path, f"{_front(whose)}\nPending for the next session:\n\n{bullets}")
    return "wrote"


def write_slim(path: str, *, prompt: str, branch: str, files: Sequence[str], whose: Provenance) -> bool:
    """Where there is no handoff or a slim one, and something was asked. Raises OSError."""
    before = read_text(path)
    if not prompt or (before is not None and not is_slim(before)):
        return False
    make_private(os.path.dirname(path))
    quoted = "".join(f"> {line}\n" for line in prompt.split("\n"))
    parts = [
        f"{_front(whose)}\n{_SLIM}\n\nThe last session was too short to distil.\n\n- Written at: {whose.written}\n",
        f"- Branch: {branch}\n" if branch else "",
        f"\n## Last user prompt\n\n{quoted}",
        "\n## Files touched\n\n" + "".join(f"- {file}\n" for file in files) if files else "",
    ]
    replace_atomically(path, "".join(parts))
    return True


def is_slim(text: str) -> bool:
    return any(line.strip() == _SLIM for line in text[:2000].split("\n"))


def parse_front_matter(text: str) -> dict[str, str]:
    """The fields of a front matter; empty where there is none."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1:20]:
        if line.strip() == "---":
            return found
        key, colon, value = line.partition(":")
        if colon:
            found[key.strip()] = value.strip().strip('"')
    return {}


def strip_front_matter(text: str) -> str:
    """What follows a front matter."""
    lines = text.split("\n")
    end = next((number for number, line in enumerate(lines[1:20], 1) if line.strip() == "---"), 0)
    return "\n".join(lines[end + 1 :]).strip()


def _newer(text: str, whose: Provenance) -> bool:
    """A handoff of the same session that was made of more of it: a task that comes late must not take it back."""
    front = parse_front_matter(text)
    try:
        return front.get("session_id") == whose.session and float(front["source_mtime"]) > whose.source_mtime + 1
    except (KeyError, ValueError):
        return False


def _front(whose: Provenance) -> str:
    session = json.dumps(whose.session, ensure_ascii=False)
    plain = whose.session if whose.session.replace("-", "").isalnum() else session
    return f"---\nsession_id: {plain}\nwritten_at: {whose.written}\nsource_mtime: {round(whose.source_mtime)}\n---\n"
