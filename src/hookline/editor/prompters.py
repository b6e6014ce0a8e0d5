"""What all ways to a person have in common."""

from __future__ import annotations

from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.core.sanitize import lines

#: What became of a question. ``unavailable``: this way leads to nobody, another may.
Answer = Literal["allowed", "refused", "unavailable"]


class UnavailableError(Exception):
    """This way leads to nobody; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    title: str
    message: str
    #: Seconds that a person has.
    patience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """``step`` is begin, report or end; ``token`` says of what."""

    step: str
    token: str
    title: str = ""
    message: str = ""
    percentage: int | None = None

    def line(self) -> str:
        """For a place that has room for one line."""
        share = f"{self.percentage}%" if self.percentage is not None else ""
        parts = [part for part in (self.title, self.message, share) if part]
        return ": ".join(parts) or self.token


def shorten(text: str, limit: int = 4000) -> str:
    """Beginning and end of a text that no dialog has room for, and how much is missing: nobody shall believe to have
    seen all of it."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-limit // 4 :]
    return f"{head}\n\n… {len(text) - len(head) - len(tail)} characters are not shown …\n\n{tail}"


def readable(text: str) -> str:
    """What a person is shown: hooks write ``\\n`` for a line break, and nothing may move the cursor.

    A ``\\n`` inside double quotes stays as it is: there it is part of the JSON of a tool's arguments, and a model
    could otherwise draw lines of its own into the question that is asked about it.
    """
    shown: list[str] = []
    quoted = escaped = False
    for char in text:
        if escaped:
            escaped = False
            if char == "n" and not quoted:
                shown[-1] = "\n"
                continue
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        shown.append(char)
    return lines("".join(shown))
