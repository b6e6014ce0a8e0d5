"""Where the transcript of an event's session is: what the agent says, or else where it is known to keep it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def transcript_of(agent: str, data: Mapping[str, Any], home: str, environ: Mapping[str, str] | None = None) -> str:
    """A path at which there is a file, or "".

    Copilot names its transcript only when it stops, Letta and OpenCode never: theirs is found by the session.
    """
    for name in ("transcript_path", "transcriptPath"):
        told = data.get(name)
        if isinstance(told, str) and told:
            return told if os.path.isfile(told) else ""
    guess = ""
    if agent in {"copilot-cli", "copilot"}:
        guess = _copilot(_name(data, "session_id", "sessionId"), home, environ or {})
    elif agent in {"letta-code", "letta"}:
        guess = _letta(_name(data, "conversation_id"), _name(data, "agent_id"), home)
    elif agent == "opencode" and (session := _name(data, "session_id", "sessionID")):
        guess = opencode_database(home, environ or {})
        return f"{guess}#{session}" if os.path.isfile(guess) else ""
    return guess if guess and os.path.isfile(guess) else ""


def _copilot(session: str, home: str, environ: Mapping[str, str]) -> str:
    if not session or "/" in session or session.startswith("."):
        return ""
    return os.path.join(moved("COPILOT_HOME", environ, home, ".copilot"), "session-state", session, "events.jsonl")


def _letta(conversation: str, owner: str, home: str) -> str:
    """The folder is named after what is kept in it, in letters that every file system takes."""
    if not conversation:
        return ""
    import base64  # one agent's files are named so

    what = f"default:{owner}" if conversation == "default" else f"conversation:{conversation}"
    folder = base64.urlsafe_b64encode(what.encode("utf-8", "replace")).decode().rstrip("=")
    return os.path.join(letta_conversations(home), folder, "messages.jsonl")


def moved(variable: str, environ: Mapping[str, str], home: str, *usual: str) -> str:
    """An agent's own directory: where the variable says, else the usual one below home."""
    told = environ.get(variable, "")
    return told if os.path.isabs(told) else os.path.join(home, *usual)


def opencode_database(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(moved("XDG_DATA_HOME", environ, home, ".local", "share"), "opencode", "opencode.db")


def letta_conversations(home: str) -> str:
    """A folder for each conversation of its local backend, with a ``messages.jsonl``."""
    return os.path.join(home, ".letta", "lc-local-backend", "conversations")


def changed_at(path: str) -> float:
    """When it was last written to, also if it is one session in a database. Raises OSError."""
    database, mark, _session = path.rpartition("#")
    if not mark or os.path.lexists(path):
        return os.stat(path).st_mtime
    changed = os.stat(database).st_mtime
    try:
        return max(changed, os.stat(f"{database}-wal").st_mtime)
    except OSError:
        return changed


def _name(data: Mapping[str, Any], *fields: str) -> str:
    found = (data.get(field) for field in fields)
    return next((value for value in found if isinstance(value, str) and value), "")
