"""``decisions.jsonl`` and ``failures.jsonl``: one JSON object per line, without duplicates.

The file is replaced as a whole, under a lock: half a line would spoil the next one. Other lines in it are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.core.files import read_text, replace_atomically


def text_key(text: str) -> str:
    """Equal for texts that differ only in case, spacing, punctuation or Unicode form."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.sub(r"[^\w]+", " ", folded).strip()
    return hashlib.sha256((words or " ".join(folded.split())).encode("utf-8", "replace")).hexdigest()[:16]


def slug(text: str, limit: int = 50) -> str:
    """A file name from a text: ASCII letters, digits and hyphens, never empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    cut = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].strip("-")
    return cut or f"learning-{text_key(text)[:8]}"


def add(path: str, entries: Sequence[Mapping[str, Any]]) -> int:
    """Append the entries that are new; how many. Raises OSError and StateError if none was added."""
    if not entries:
        return 0
    from hookline.memory.dir_lock import lock_directory  # reading needs neither a lock nor a hash

    with lock_directory(os.path.dirname(path)):
        before = read_text(path, errors="surrogateescape")
        if before is None and os.path.exists(path):
            raise OSError(f"{path} cannot be read")
        before = before or ""
        if before and not before.endswith("\n"):
            before += "\n"
        known = {text_key(one["summary"]) for line in before.split("\n") if (one := parse_entry(line))}
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


def read(path: str, last: int = 0) -> list[dict[str, Any]]:
    """The ``last`` entries or all of them, oldest first. Other lines are skipped."""
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


def summary_line(entry: Mapping[str, Any]) -> str:
    """The summary, and how to prevent it if it is a failure."""
    prevention = entry.get("prevention")
    return f"{entry['summary']} → {prevention}" if isinstance(prevention, str) and prevention else str(entry["summary"])
