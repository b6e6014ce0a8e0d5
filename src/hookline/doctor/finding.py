"""One line of the report: how it stands, and what to type next."""

from __future__ import annotations

from typing import Literal

from hookline.core._dataclass import dataclass

#: ``note`` is worth knowing and nothing is wrong; ``wrong`` keeps hooks from doing their work.
Level = Literal["fine", "note", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    level: Level
    #: What was looked at: version, deployed, trust, probe, run, state, …
    about: str
    text: str
    #: The command to type, or the thing to do; "" where there is nothing to do.
    next: str = ""

    def to_json(self) -> dict[str, str | None]:
        return {"level": self.level, "about": self.about, "text": self.text, "next": self.next or None}


def fine(about: str, text: str) -> Finding:
    return Finding(level="fine", about=about, text=text)


def note(about: str, text: str, then: str = "") -> Finding:
    return Finding(level="note", about=about, text=text, next=then)


def wrong(about: str, text: str, then: str = "") -> Finding:
    return Finding(level="wrong", about=about, text=text, next=then)
