"""Text that somebody else wrote, made safe to look at: control characters are shown, not obeyed."""

from __future__ import annotations


def one_line(text: str, limit: int = 0) -> str:
    """A single line, cut where it is longer than ``limit``."""
    flat = "".join("⏎" if char == "\n" else char if char.isprintable() else "·" for char in text.rstrip())
    return flat if not limit or len(flat) <= limit else flat[: limit - 1] + "…"


def lines(text: str) -> str:
    """The same with its line breaks; nothing in it can move the cursor, hide or reorder other text."""
    return "".join(char if char == "\n" or char.isprintable() else "·" for char in text.expandtabs(4))
