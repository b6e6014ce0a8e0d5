"""What Gemini and Qwen share: parts of a content, counts of tokens, and what their shell tool says at its end."""

from __future__ import annotations

import re
from typing import Any

from hookline.transcripts.coerce import count, rows, table, words
from hookline.transcripts.message import Tokens

#: The last lines of a command's result, after whatever the command itself printed.
_EXITED = re.compile(
    r"\n(?:Exit Code: (-?\d+)|Signal: (\d+))\n(?:(?:Error|Signal|Background PIDs)[^\n]*\n)*Process Group PGID: [^\n]*\s*"
    r"(?:</untrusted_context>\s*)?\Z"
)


def shell_failed(text: str) -> bool:
    """The result of a command says that it did not end with 0: by itself, or by a signal."""
    found = _EXITED.search(text[-2000:])
    return found is not None and found[1] != "0"


def pieces(parts: Any) -> list[str]:
    """The texts of a content, without what the model only thought."""
    if isinstance(parts, str):
        return [parts]
    return [words(part.get("text")) for part in rows(parts) if part.get("thought") is not True]


def content_text(parts: Any) -> str:
    return "\n".join(text for text in pieces(parts) if text)


def answer(response: Any) -> tuple[str, bool]:
    """What a function gave back, and whether it failed."""
    given = table(response)
    error = given.get("error")
    text = words(error) or words(given.get("output"))
    return text, bool(error) or shell_failed(text)


def tokens(usage: dict[str, Any], names: tuple[str, str, str]) -> Tokens | None:
    """``names`` of what went in, what came out and what was cached."""
    if not usage:
        return None
    into, out, cached = (count(usage.get(name)) for name in names)
    return Tokens(input=into, output=out, cached=cached)
