"""The first line of ``pre-compact-summary.md``: a comment that says when it was made, and of which session."""

from __future__ import annotations

import json


def summary_header(moment: str, session: str) -> str:
    """Nothing in a session's name can end the comment."""
    name = json.dumps(session).replace("-->", "--\\u003e")
    return f"<!-- generated {moment} session {name} -->"


def summary_session(line: str) -> str:
    """Whose it is; "" where the line does not say it, as lazy-harness's does not."""
    told = line.partition(" session ")[2].removesuffix("-->").strip()
    try:
        session = json.loads(told) if told else ""
    except ValueError:
        return ""
    return session if isinstance(session, str) else ""
