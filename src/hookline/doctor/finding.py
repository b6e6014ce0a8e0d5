"""One line of the doctor's report, with the next command to type."""

from __future__ import annotations

from typing import Literal

from hookline.core._dataclass import dataclass

#: ``note`` is information; ``wrong`` keeps hooks from working.
Level = Literal["fine", "note", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    level: Level
    #: The subject: version, deployed, trust, probe, run, state, …
    about: str
    text: str
    #: The next command, or what to do; "" for nothing.
    next: str = ""

    def to_json(self) -> dict[str, str | None]:
        return {"level": self.level, "about": self.about, "text": self.text, "next": self.next or None}


def fine(about: str, text: str) -> Finding:
    return Finding(level="fine", about=about, text=text)


def note(about: str, text: str, then: str = "") -> Finding:
    return Finding(level="note", about=about, text=text, next=then)


def wrong(about: str, text: str, then: str = "") -> Finding:
    return Finding(level="wrong", about=about, text=text, next=then)
