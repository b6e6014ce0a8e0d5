"""What a new session gets from a project's memory: recent history and the handoff."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

from hookline.core.files import list_names, modification_time, open_without_waiting, read_text
from hookline.memory.inject.last_session import read_pointer
from hookline.memory.journal.model import text_key
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, LAST_SESSION, PRE_COMPACT_SUMMARY, Places
from hookline.memory.notes.entries import parse_entry, summary_line
from hookline.memory.notes.front_matter import split_front_matter
from hookline.memory.project import Project

#: Entries of each kind, and the bytes at the end of a file that are searched for them.
_ENTRIES = 3
_TAIL = 64 * 1024
_MAX_FILE = 1 << 20
#: Seconds that a transcript may grow after its handoff was written.
_FRESH = 300.0
_NO_PROVENANCE = "(legacy handoff — no provenance metadata, treat with caution)"


def recent_history(memories: Iterable[str]) -> str:
    """The last entries of both files; of all directories together, by time."""
    places = list(memories)
    parts: list[str] = []
    for title, name in (("Recent decisions:", DECISIONS), ("Recent failures:", FAILURES)):
        lines = [" ".join(f"- {summary_line(one)}".split()) for one in _last_entries(places, name)]
        parts += ["\n".join([title, *lines])] if lines else []
    return "\n".join(parts)


def _last_entries(memories: list[str], name: str) -> list[dict[str, object]]:
    """Of what still counts, from the last lines of each file. A line that is not an entry counts too: it was one."""
    lines = [line for folder in reversed(memories) for line in _last_lines(os.path.join(folder, name))]
    found = [entry for line in lines if (entry := parse_entry(line))]
    ended = {text_key(entry["summary"]) for entry in found if entry.get("status")}
    ended -= {text_key(entry["summary"]) for entry in found if entry.get("id") and not entry.get("status")}
    found = [entry for entry in found if not entry.get("status") and text_key(entry["summary"]) not in ended]
    found.sort(key=lambda entry: str(entry.get("ts", "")))
    return found[-_ENTRIES:]


def _last_lines(path: str) -> list[str]:
    """The last lines that are not marked as ended, and those that are among them."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            text = file.read(_TAIL).decode("utf-8", "replace")
    except OSError:
        return []
    lines = [line for line in text.split("\n") if line.strip()]
    whole = lines[1:] if size > _TAIL and len(lines) > _ENTRIES else lines
    current = [line for line in whole if '"superseded_by": ' not in line]
    return [line for line in whole if '"superseded_by": ' in line] + current[-_ENTRIES:]


#: The previous session, as far as it is known: its name, and when its transcript changed.
_Latest: TypeAlias = tuple[str, float]


def handoff_text(places: Places, project: Project, cwd: str) -> str:
    """``handoff.md``, with a warning if it is not of the last session, and ``pre-compact-summary.md``."""
    memories = places.memories(project, cwd)
    own = {places.memory(project), *(os.path.join(places.root, "memory", folder) for folder in project.earlier)}
    exported = max((modification_time(os.path.join(folder, LAST_SESSION)) for folder in own), default=0.0)
    # lazy-harness's handoff counts until a session of ours was exported: then it is not the last session's.
    there = [
        folder for folder in memories if folder in own or modification_time(os.path.join(folder, HANDOFF)) > exported
    ]
    path = _newest(there, HANDOFF)
    parts = []
    if text := (read_text(path, _MAX_FILE) or "").strip() if path else "":
        folder = os.path.dirname(path)
        latest = _latest(places, project) if folder in own else _newest_transcript(folder)
        parts.append(_with_warning(text, latest))
    path = _newest(memories, PRE_COMPACT_SUMMARY)
    lines = ((read_text(path, _MAX_FILE) or "") if path else "").splitlines()
    if summary := "\n".join(line for line in lines if not line.startswith("<!--")).strip():
        parts.append(f"Pre-compact context:\n{summary}")
    return "\n\n".join(parts)


def pending_items(places: Places, project: Project, cwd: str) -> str:
    """The open items of the last handoff."""
    path = _newest(places.memories(project, cwd), HANDOFF)
    text = (read_text(path, _MAX_FILE) or "") if path else ""
    return "\n".join(line for line in text.splitlines() if line.startswith(("- ", "> ")))[:2000]


def _newest(folders: Iterable[str], name: str) -> str:
    dated = [(modification_time(path), path) for folder in folders if (path := os.path.join(folder, name))]
    changed, path = max(dated, default=(0.0, ""))
    return path if changed else ""


def _latest(places: Places, project: Project) -> _Latest:
    pointer = read_pointer(places, project)
    changed = pointer.get("source_mtime", 0)
    return str(pointer.get("session", "")), float(changed) if isinstance(changed, int) else 0.0


def _newest_transcript(folder: str) -> _Latest:
    """lazy-harness's memory is beside the transcripts."""
    above = os.path.dirname(folder)
    names = [name for name in list_names(above) if name.endswith(".jsonl")]
    dated = [(modification_time(os.path.join(above, name)), name) for name in names]
    changed, name = max(dated, default=(0.0, ""))
    return name.removesuffix(".jsonl"), changed


def _with_warning(text: str, latest: _Latest) -> str:
    front, body = split_front_matter(text)
    if not front:
        return f"{_NO_PROVENANCE}\n{text}"
    body = body.strip()
    reason = _stale(front, latest)
    if not reason:
        return body
    warning = ("⚠️ Handoff may be stale.", reason, "Do NOT trust it: check it against the code and the last commits.")
    return "\n".join(warning) + f"\n\n--- stale content below ---\n{body}"


def _stale(front: dict[str, str], latest: _Latest) -> str:
    """Why the handoff is not of the end of the last session; "" if it is, or if that is unknown."""
    owner, (session, changed) = front.get("session_id", ""), latest
    if not session:
        return ""
    if owner != session:
        return f"It was written for session {owner[:8]}; a later session ({session[:8]}) is not in it."
    try:
        grown = changed - float(front.get("source_mtime", ""))
    except ValueError:
        return ""
    return f"Its session went on for {grown:.0f} s after it was written." if grown > _FRESH else ""
