"""Files that are made from the journal: ``handoff.md``, lazy-harness's two ``.jsonl`` files, and a Markdown note per entry.

People open the vault in an editor, follow its links and change notes. ``refresh`` first reads their edits back as changes,
then writes what is not current. A note says in its front matter what it looked like when it was written (``view``); if
it looks different now, a person edited it.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from hookline.core.files import list_names, read_text, replace_atomically, sweep
from hookline.memory.dir_lock import lock_directory
from hookline.memory.journal.files import Author, Journal
from hookline.memory.journal.legacy import line_id
from hookline.memory.journal.model import Entry, Kind, State, digest, text_key
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, Places, make_private
from hookline.memory.notes.entries import parse_entry
from hookline.memory.notes.front_matter import front_matter, split_front_matter

#: The directories of a project's memory with notes, by kind. Learnings are for all projects, and have one of their own.
FOLDERS: Mapping[str, str] = {"decision": "decisions", "failure": "failures"}
_LINES: Mapping[Kind, str] = {"decision": DECISIONS, "failure": FAILURES}
_LINKS = "## Links"
#: Texts of an entry in the order of a note, with their headings.
_PARTS = (
    ("rationale", "Why"), ("prevention", "Prevention"), ("root_cause", "Cause"), ("resolution", "Resolution"),
    ("alternatives", "Not chosen"), ("learning", "Learning"), ("context", "Context"),
)  # fmt: skip
_PERSON = Author(source="person")
#: What a person may write as the status of a note, and the change that it is.
_WRITTEN = {"retired": "retire", "deprecated": "retire", "closed": "close", "current": "reopen", "active": "reopen"}


#: The path of a note, and its text.
_Note: TypeAlias = tuple[str, str]


def refresh(places: Places, journal: Journal, name: str, session: str = "", until: float = 0.0) -> State:
    """Read edits back, then write every view that is not current; the state. ``name`` is the project's name; ``session``
    the one that was distilled last, from a transcript of the time ``until``. Raises OSError and StateError."""
    memory = make_private(journal.memory)
    notes = dict(_notes(places, memory))
    _read_back(journal, notes, os.path.join(memory, HANDOFF))
    state = journal.state()
    with lock_directory(memory):
        for kind, file in _LINES.items():
            _write_lines(os.path.join(memory, file), state, kind, name)
        write_handoff(os.path.join(memory, HANDOFF), state, session, until)
        paths = {id_: path for id_, (path, _text) in notes.items()}
        shown = [one for one in state.entries.values() if one.kind in {*FOLDERS, "learning"} and _is_ours(one)]
        for entry in shown:
            paths.setdefault(entry.id, _path(places, memory, entry))
        for folder in {memory, *map(os.path.dirname, paths.values())}:
            sweep(folder)
        for entry in shown:
            text = _render(entry, name, paths, state)
            if notes.get(entry.id, ("", ""))[1] != text:
                make_private(os.path.dirname(paths[entry.id]))
                replace_atomically(paths[entry.id], text, durable=False)
    return state


def _is_ours(entry: Entry) -> bool:
    """Whether a journal has it: what is only in a file of an earlier version stays there."""
    return bool(entry.changes[0].machine)


def _notes(places: Places, memory: str) -> Iterator[tuple[str, _Note]]:
    folders = [os.path.join(memory, name) for name in FOLDERS.values()]
    folders += [places.learnings, *(os.path.join(places.learnings, month) for month in list_names(places.learnings))]
    for folder in folders:
        for file in list_names(folder):
            if file.endswith(".md") and not file.startswith((".", "_review-")):
                path = os.path.join(folder, file)
                text = read_text(path, 1 << 20) or ""
                fields, _body = split_front_matter(text[:8192])
                title = text_key(fields.get("title", "")) if folder.startswith(places.learnings) else ""
                if id_ := fields.get("id") or (digest("learning", title)[:12] if title else ""):
                    yield id_, (path, text)


# ── a person's edits ─────────────────────────────────────────────────────────────────────────────────


def _read_back(journal: Journal, notes: Mapping[str, _Note], handoff: str) -> None:
    edited = {id_: text for id_, (_path, text) in notes.items() if _is_edited(text)}
    given = _bullets(handoff)
    if not edited and given is None:
        return
    state = journal.state()
    for id_, text in edited.items():
        if entry := state.entries.get(id_):
            _read_note(journal, entry, text)
    if given is not None:
        _read_bullets(journal, state, given)


def read_edit(journal: Journal, text: str) -> None:
    """The note of an entry as somebody else edited it, if they did. Raises OSError and StateError."""
    entry = journal.state().entries.get(split_front_matter(text[:8192])[0].get("id", "")) if _is_edited(text) else None
    if entry is not None:
        _read_note(journal, entry, text)


def _is_edited(text: str) -> bool:
    view = split_front_matter(text[:8192])[0].get("view")
    return bool(view) and _fingerprint(text) != view


def _fingerprint(text: str) -> str:
    return digest(re.sub(r"(?m)^view:.*\n", "", text, count=1).rstrip())


def _read_note(journal: Journal, entry: Entry, text: str) -> None:
    fields, body = split_front_matter(text)
    title, rest = _split_title(body.partition(f"\n{_LINKS}")[0])
    if title and (title != entry.text or rest != _body(entry)):
        journal.change("edit", entry, _PERSON, text=title, details={} if rest == _body(entry) else {"body": rest})
    op = _WRITTEN.get(fields.get("status", ""))
    if op is not None and (op == "reopen") != entry.is_current:
        journal.change(op, entry, _PERSON)  # type: ignore[arg-type]


def _split_title(body: str) -> tuple[str, str]:
    head, _line, rest = body.strip().partition("\n")
    return (head[2:].strip(), rest.strip()) if head.startswith("# ") else ("", body.strip())


def _bullets(path: str) -> tuple[set[str], list[str]] | None:
    """The keys of the items that our handoff has shown, and the items that are there now; None if it is not edited."""
    fields, body = split_front_matter(read_text(path, 1 << 20) or "")
    if not body.strip() or "# Handoff (slim)" in body[:2000]:
        return None
    there = [line[2:].strip() for line in body.splitlines() if line.startswith("- ")]
    shown = set(fields.get("items", "").split())
    return None if shown == {text_key(one) for one in there} else (shown, there)


def _read_bullets(journal: Journal, state: State, given: tuple[set[str], list[str]]) -> None:
    """A line that a person removed is closed, and one that was added is open. Without the list of what was shown, the file
    is an earlier version's: all of it is adopted."""
    shown, there = given
    keys = {text_key(text) for text in there}
    for entry in state.current("open"):
        if text_key(entry.text) in shown - keys:
            journal.change("close", entry, _PERSON, because="removed from the handoff by hand")
    for entry in state.entries.values():
        if entry.kind == "open" and not entry.is_current and text_key(entry.text) in keys - shown:
            journal.change("reopen", entry, _PERSON)
    for entry in state.current("open"):
        if not entry.changes[0].machine:  # only the file has it, and the file will be replaced
            journal.adopt(entry)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def _write_lines(path: str, state: State, kind: Kind, name: str) -> None:
    """Append new entries, and mark in place what no longer counts. Other lines stay as they are."""
    before = read_text(path, errors="surrogateescape") or ""
    lines = (before if before.endswith("\n") or not before else f"{before}\n").split("\n")
    known: set[str] = set()
    for place, line in enumerate(lines):
        parsed = parse_entry(line)
        entry = state.entries.get(line_id(kind, parsed)) if parsed else None
        if entry is not None and entry.changes[0].machine:
            known.add(entry.id)
            lines[place] = json.dumps(_line(entry, name), ensure_ascii=False)
    for entry in state.entries.values():
        if entry.kind == kind and entry.id not in known and entry.changes[0].machine:
            lines[-1:] = [json.dumps(_line(entry, name), ensure_ascii=False), ""]
    if (after := "\n".join(lines)) != before:
        replace_atomically(path, after)


def _line(entry: Entry, name: str) -> dict[str, Any]:
    line = {"ts": entry.created, **entry.details, "type": entry.kind, "summary": entry.text, "project": name}
    line |= {"session_id": entry.session, "agent": entry.agent, "id": entry.id}
    if not entry.is_current:
        line |= {"status": entry.status, "superseded_by": entry.successor}
    return line


def write_handoff(path: str, state: State, session: str = "", until: float = 0.0) -> None:
    """What is open, or no file. A slim handoff stays where nothing is open. Raises OSError."""
    items = state.current("open")
    before = read_text(path)
    if not items:
        if before is not None and "# Handoff (slim)" not in before[:2000]:
            with suppress(FileNotFoundError):
                os.unlink(path)
        return
    known, _body = split_front_matter(before or "")
    newest = items[-1]
    head = front_matter(
        {
            "session_id": session or known.get("session_id") or newest.session,
            "written_at": newest.created,
            "source_mtime": round(until) if until else int(float(known.get("source_mtime") or 0)),
            "items": " ".join(text_key(one.text) for one in items),
        }
    )
    text = f"{head}\nPending for the next session:\n\n" + "".join(f"- {one.text}\n" for one in items)
    if text != before:
        replace_atomically(path, text)


def _path(places: Places, memory: str, entry: Entry) -> str:
    day = entry.created[:10]
    name = f"{day}-{slug(entry.text)}"
    if entry.kind == "learning":
        path = os.path.join(places.learnings, day[:7], f"{name}.md")
        there = split_front_matter((read_text(path, 1 << 20) or "")[:8192])[0].get("id")
        # Another process may have written it since the notes were listed.
        return path if there == entry.id or not os.path.lexists(path) else f"{path[:-3]}-{entry.id[:4]}.md"
    return os.path.join(memory, FOLDERS[entry.kind], f"{name}-{entry.id[:4]}.md")


def _render(entry: Entry, project: str, paths: Mapping[str, str], state: State) -> str:
    """The note of an entry, with links to its session, its successor and what it replaced."""
    details, status = entry.details, entry.status
    fields: dict[str, Any] = {"id": entry.id, "type": entry.kind, "title": entry.text, "date": entry.created[:10]}
    if entry.kind == "learning":
        fields |= {"origin": project, "origin_session": entry.session, "scope": details.get("scope") or "universal"}
        status = "active" if entry.is_current else "deprecated"  # type: ignore[assignment]
    else:
        fields |= {"project": project, "session_id": entry.session, "agent": entry.agent}
    fields |= {"source": entry.source, "tags": details.get("tags") or [], "status": status}
    if entry.since:
        fields["since"] = entry.since[:10]
    links = [f"- Session: [[{details['session_note']}]]"] if details.get("session_note") else []
    links += [f"- Superseded by: [[{_name(paths, entry.successor)}]]"] if entry.successor else []
    earlier = [one.id for one in state.entries.values() if one.successor == entry.id and one.status == "superseded"]
    links += [f"- Supersedes: [[{_name(paths, one)}]]" for one in earlier]
    below = f"\n{_LINKS}\n\n" + "\n".join(links) + "\n" if links else ""
    text = f"{front_matter(fields)}\n# {entry.text}\n\n{_body(entry)}\n{below}"
    return text.replace("\n---\n", f"\nview: {_fingerprint(text)}\n---\n", 1)


def _name(paths: Mapping[str, str], id_: str) -> str:
    return os.path.basename(paths.get(id_, id_)).removesuffix(".md")


def _body(entry: Entry) -> str:
    if isinstance(body := entry.details.get("body"), str):
        return body
    parts = []
    for key, title in _PARTS:
        value = entry.details.get(key)
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
        parts += [f"## {title}\n\n{text}"] if text else []
    return "\n\n".join(parts)


def slug(text: str, limit: int = 50) -> str:
    """A file name from a text: ASCII letters, digits and hyphens, never empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    cut = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].strip("-")
    return cut or f"learning-{text_key(text)[:8]}"
