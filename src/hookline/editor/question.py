"""A question to a person and its answer, as all prompters take and give them."""

from __future__ import annotations

from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.core.sanitize import lines

#: The answer to a question. ``unavailable``: nobody can be reached this way.
Answer = Literal["allowed", "refused", "unavailable"]


class UnavailableError(Exception):
    """Nobody can be reached this way; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQuestion:
    title: str
    message: str
    #: Seconds that a person has.
    patience: float
    #: To choose from, instead of yes and no.
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """``step`` is begin, report or end; ``token`` says of what."""

    step: str
    token: str
    title: str = ""
    message: str = ""
    percentage: int | None = None

    def line(self) -> str:
        """In one line."""
        share = f"{self.percentage}%" if self.percentage is not None else ""
        parts = [part for part in (self.title, self.message, share) if part]
        return ": ".join(parts) or self.token


def shorten(text: str, limit: int = 4000) -> str:
    """Beginning and end of a long text, and how much is missing, so that nobody takes it for the full text."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-limit // 4 :]
    return f"{head}\n\n… {len(text) - len(head) - len(tail)} characters are not shown …\n\n{tail}"


def readable(text: str) -> str:
    """Text for a person: hooks write ``\\n`` for a line break, and control characters become visible.

    A ``\\n`` inside double quotes stays: it is part of the JSON of a tool's arguments, and a model could otherwise
    insert lines of its own into the question.
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
