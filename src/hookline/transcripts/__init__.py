"""What agents wrote down of a session, read as one kind of message.

One reader per agent; each gives a stream of ``Message`` and never holds a whole file.
"""

from __future__ import annotations

from hookline.transcripts.message import About, Message, Role, Tokens
from hookline.transcripts.place import transcript_of
from hookline.transcripts.reading import about, detect, read, read_from, result_of, tail

__all__ = [
    "About", "Message", "Role", "Tokens", "about", "detect", "read", "read_from", "result_of", "tail", "transcript_of",
]  # fmt: skip
