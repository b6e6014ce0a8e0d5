"""Transcripts of our own chat. Unlike those of agents they are ours, so forgetting a session removes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

from hookline.core.files import list_names, read_text, replace_atomically
from hookline.transcripts import read

#: In the state directory: the lines typed into all chats.
HISTORY = "chat_history"


def chat_transcripts(folder: str) -> Iterator[tuple[str, str]]:
    """Each transcript and its session."""
    for project in list_names(folder):
        for name in list_names(os.path.join(folder, project)):
            if name.endswith(".jsonl"):
                yield os.path.join(folder, project, name), name.removesuffix(".jsonl")


def user_messages(path: str) -> set[str]:
    return {message.text.strip() for message in read(path, "hookline") if message.role == "user"}


def remove_from_history(path: str, typed: set[str]) -> None:
    """Remove lines from the input history. Raises OSError."""
    text = read_text(path)
    if not text or not typed:
        return
    entries = text.split("\n# ")
    inputs = ("\n".join(line[1:] for line in one.split("\n")[1:] if line.startswith("+")) for one in entries)
    kept = [entry for entry, line in zip(entries, inputs, strict=True) if line.strip() not in typed]
    if len(kept) < len(entries):
        replace_atomically(path, "\n# ".join(kept))


def mask_quotes(path: str, quotes: Iterable[str]) -> bool:
    """Overwrite quotes with asterisks, in place, because the chat may be running. Raises OSError."""
    found = False
    with open(path, "r+b") as file:
        content = file.read()
        for text in quotes:
            for written in {json.dumps(text)[1:-1].encode(), json.dumps(text, ensure_ascii=False)[1:-1].encode()}:
                place = content.find(written)
                while place >= 0:
                    file.seek(place)
                    file.write(b"*" * len(written))
                    place, found = content.find(written, place + len(written)), True
    return found
