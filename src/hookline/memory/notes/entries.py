"""``decisions.jsonl`` and ``failures.jsonl``: one JSON object per line, without duplicates.

The file is replaced as a whole, under a lock: half a line would spoil the next one. Other lines in it are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from hookline.core.files import read_text, replace_atomically


def forget(path: str, session: str) -> int:
    """Remove a session's entries; how many. Raises OSError and StateError if none was removed."""
    from hookline.memory.dir_lock import lock_directory

    if not os.path.exists(path):
        return 0
    with lock_directory(os.path.dirname(path)):
        # A line may contain other kinds of line breaks and invalid UTF-8: what is not ours is kept as it is.
        lines = (read_text(path, errors="surrogateescape") or "").split("\n")
        kept = [line for line in lines if (parse_entry(line) or {}).get("session_id") != session]
        if len(kept) < len(lines):
            replace_atomically(path, "\n".join(kept))
        return len(lines) - len(kept)


def read(path: str) -> list[dict[str, Any]]:
    """All entries, oldest first. Other lines are skipped."""
    return [entry for line in (read_text(path) or "").split("\n") if (entry := parse_entry(line))]


def parse_entry(line: str) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("summary"), str) else None


def summary_line(entry: Mapping[str, Any]) -> str:
    """The summary, and how to prevent it if it is a failure."""
    prevention = entry.get("prevention")
    return f"{entry['summary']} → {prevention}" if isinstance(prevention, str) and prevention else str(entry["summary"])
