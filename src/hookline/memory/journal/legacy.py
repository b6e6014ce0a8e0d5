"""What earlier versions, lazy-harness and people left in files, as changes: nothing has to be moved.

Ids are made from the texts, so that they are the same whenever and wherever a file is read. What is in a journal already
is not read again: our own views have the entry's id.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.files import list_names, read_text
from hookline.memory.journal.model import Change, Kind, digest, text_key
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, NOTES, Places
from hookline.memory.notes.entries import parse_entry
from hookline.memory.notes.front_matter import split_front_matter

FILES: Mapping[str, Kind] = {DECISIONS: "decision", FAILURES: "failure", NOTES: "note"}
#: Fields of a line that are the entry's own, not details.
_OWN = frozenset({"ts", "type", "summary", "project", "session_id", "agent", "id", "status", "superseded_by"})


def legacy_changes(places: Places, memories: Sequence[str], known: Collection[str]) -> Iterator[Change]:
    """Of a project's directories. ``known``: ids of entries that a journal has."""
    for folder in memories:
        own = folder.startswith(os.path.join(places.root, "memory") + os.sep)
        project = os.path.basename(folder) if own else os.path.basename(memories[0])
        yield from legacy_changes_in(folder, project, known)
    yield from _learnings(places.learnings, known)


def legacy_changes_in(folder: str, project: str, known: Collection[str]) -> Iterator[Change]:
    """Of one directory."""
    for name, kind in FILES.items():
        for line in (read_text(os.path.join(folder, name)) or "").split("\n"):
            entry = parse_entry(line)
            if entry is not None and line_id(kind, entry) not in known:
                yield _from_line(kind, entry, project)
    yield from _handoff(os.path.join(folder, HANDOFF), project)


def line_id(kind: Kind, line: Mapping[str, Any]) -> str:
    """Of an entry that has no id of its own: from what the line has."""
    given = line.get("id")
    if isinstance(given, str) and given:
        return given
    return digest(kind, line.get("ts") or "", given, text_key(str(line["summary"])))[:12]


def _from_line(kind: Kind, line: Mapping[str, Any], project: str) -> Change:
    details = {key: value for key, value in line.items() if key not in _OWN}
    if isinstance(line.get("id"), int):
        details["number"] = line["id"]
    data = {"kind": kind, "text": str(line["summary"]), "project": project, "details": details}
    texts = [str(line.get(name) or "") for name in ("ts", "session_id", "agent")]
    return _add(line_id(kind, line), texts[0], texts[1], data, texts[2])


def _handoff(path: str, project: str) -> Iterator[Change]:
    """The bullets of a handoff that is not our view, and those that a person added to it."""
    fields, body = split_front_matter(read_text(path, 1 << 20) or "")
    if "# Handoff (slim)" in body[:2000]:
        return
    shown = set(fields.get("items", "").split())
    for line in body.splitlines():
        text = line[2:].strip() if line.startswith("- ") else ""
        key = text_key(text)
        if text and key not in shown:
            data = {"kind": "open", "text": text, "project": project, "details": {}}
            change = _add(digest("open", key)[:12], fields.get("written_at", ""), fields.get("session_id", ""), data)
            yield replace(change, source="person", session="") if shown else change


def _learnings(folder: str, known: Collection[str]) -> Iterator[Change]:
    for month in list_names(folder):
        below = os.path.join(folder, month)
        for path in [below] if month.endswith(".md") else [os.path.join(below, one) for one in list_names(below)]:
            name = os.path.basename(path)
            if not name.endswith(".md") or name.startswith(("_review-", ".")):
                continue
            fields, body = split_front_matter(read_text(path, 1 << 20) or "")
            if fields.get("id") in known:
                continue
            heading = next((line[2:].strip() for line in body.splitlines() if line.startswith("# ")), "")
            title = fields.get("title") or heading
            if title:
                yield from _learning(title, fields, body, name[:10])


def _learning(title: str, fields: Mapping[str, str], body: str, day: str) -> Iterator[Change]:
    id_ = digest("learning", text_key(title))[:12]
    moment, session = fields.get("date") or day, fields.get("origin_session", "")
    details = {"learning": body.strip(), "scope": fields.get("scope", ""), "origin": fields.get("origin", "")}
    yield _add(id_, moment, session, {"kind": "learning", "text": title, "project": "", "details": details})
    if fields.get("status") == "deprecated":
        reason = {"because": fields.get("deprecated_reason", ""), "by": fields.get("superseded_by", "")}
        yield Change(id=f"{id_}-status", op="retire", entry=id_, number=1, at=moment, data=reason)


def _add(id_: str, moment: str, session: str, data: Mapping[str, Any], agent: str = "") -> Change:
    return Change(
        id=id_, op="add", entry=id_, at=_utc(moment), source="agent" if data["kind"] == "note" else "distiller",
        session=session, agent=agent, data=data,
    )  # fmt: skip


def _utc(moment: str) -> str:
    try:
        return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    except (ValueError, OverflowError, OSError):
        return moment
