"""Agents' transcripts of sessions, read as one kind of message.

One reader per agent; each gives a stream of ``TranscriptMessage`` and never holds a whole file. Bad input never raises:
what cannot be read is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.transcripts.message import About, Role, Tokens, TranscriptMessage
    from hookline.transcripts.paths import Homes, SessionFile, mtime, transcript_path
    from hookline.transcripts.reading import (
        about,
        detect,
        read,
        read_from,
        reader_class,
        sessions_in,
        tail,
        tool_result,
    )

__all__ = [
    "About", "Homes", "Role", "SessionFile", "Tokens", "TranscriptMessage", "about", "detect", "mtime", "read", "read_from",
    "reader_class", "sessions_in", "tail", "tool_result", "transcript_path",
]  # fmt: skip

# Imported on first use: most events read no transcript.
_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "About": "message", "TranscriptMessage": "message", "Role": "message", "Tokens": "message", "transcript_path": "paths",
        "mtime": "paths", "Homes": "paths", "SessionFile": "paths", "reader_class": "reading",
        "about": "reading", "detect": "reading", "read": "reading", "read_from": "reading", "tool_result": "reading",
        "tail": "reading", "sessions_in": "reading",
    }
)  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'hookline.transcripts' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"hookline.transcripts.{home}"), name)
