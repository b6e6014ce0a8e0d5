"""The one likely name for a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable

#: So many names are still read; more are a page of the reference.
_FEW = 8


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known word that looks most like it; "" if none does."""
    from difflib import get_close_matches

    # In lower case, because a wrong capital is the most frequent mistake.
    lowered = {one.lower(): one for one in known}
    near = get_close_matches(word.lower()[:80], lowered, n=1, cutoff=cutoff)
    return lowered[near[0]] if near else ""


def suggest(word: str, known: Iterable[str]) -> str:
    """What to write instead: the nearest name, else all of them while they are few."""
    words = list(known)
    if near := nearest(word, words):
        return f"did you mean {near!r}?"
    return f"write one of {', '.join(words)}" if len(words) <= _FEW else "see the reference for the known names"
