"""``decisions.jsonl`` and ``failures.jsonl``: one JSON object per line, each said once.

The file is replaced as a whole, under a lock: a line half written is a line that spoils the next one. What is in it
and is no entry of ours stays as it is.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hookline.core.files import read_text, replace_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def add(path: str, entries: Sequence[Mapping[str, Any]]) -> int:
    """Append those that the file does not have yet; how many. Raises OSError and StateError, and then none was added."""
    if not entries:
        return 0
    from hookline.memory.dir_lock import lock_directory  # who only reads needs neither a lock nor a hash
    from hookline.memory.notes.normalize import text_key

    with lock_directory(os.path.dirname(path)):
        before = read_text(path, errors="surrogateescape")
        if before is None and os.path.exists(path):
            raise OSError(f"{path} cannot be read")
        before = before or ""
        if before and not before.endswith("\n"):
            before += "\n"
        known = {text_key(summary) for line in before.split("\n") if (summary := _summary_in(line))}
        fresh: list[str] = []
        for entry in entries:
            key = text_key(str(entry["summary"]))
            if key not in known:
                known.add(key)
                fresh.append(json.dumps(entry, ensure_ascii=False))
        if fresh:
            replace_atomically(path, before + "".join(f"{one}\n" for one in fresh))
        return len(fresh)


def forget(path: str, session: str) -> int:
    """Take out what a session left; how many entries. Raises OSError and StateError, and then all are still there."""
    from hookline.memory.dir_lock import lock_directory

    if not os.path.exists(path):
        return 0
    with lock_directory(os.path.dirname(path)):
        # A line may hold any other kind of line break, and bytes that are no UTF-8: those of others stay as they are.
        lines = (read_text(path, errors="surrogateescape") or "").split("\n")
        kept = [line for line in lines if (parse_entry(line) or {}).get("session_id") != session]
        if len(kept) < len(lines):
            replace_atomically(path, "\n".join(kept))
        return len(lines) - len(kept)


def read(path: str, last: int = 0) -> list[dict[str, Any]]:
    """The entries, oldest first; the ``last`` of them, or all. Lines that are none are passed over."""
    lines = (read_text(path) or "").split("\n")
    if not last:
        return [entry for line in lines if (entry := parse_entry(line))]
    found: list[dict[str, Any]] = []
    for line in reversed(lines):
        if entry := parse_entry(line):
            found.append(entry)
            if len(found) == last:
                break
    return found[::-1]


def parse_entry(line: str) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("summary"), str) else None


def _summary_in(line: str) -> str:
    entry = parse_entry(line)
    return "" if entry is None else str(entry["summary"])
