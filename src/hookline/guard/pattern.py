"""Names and regular expressions for tables; an expression is compiled when it is first used."""

from __future__ import annotations

from hookline.core.lazy_pattern import lazy_pattern

__all__ = ["lazy_pattern", "words"]


def words(text: str) -> frozenset[str]:
    """A table of names, as one line of text."""
    return frozenset(text.split())
