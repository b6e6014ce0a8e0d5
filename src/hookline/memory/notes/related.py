"""Related words: what a note and a question mean, if they say it in other words.

``related_words.txt`` has groups of words that people use for one another. Each group is a word of the index, and a note has
those of its words, so that a search for one member of a group finds the others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from hookline.core.files import read_text
from hookline.memory.notes.words import topic_words

#: Groups that a word may stand for: the more it has, the less it says.
_MOST = 4
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ied", "ies", "ed", "es", "s", "ly", "e")


def concepts(text: str) -> list[str]:
    """The groups of a text, in order, each once."""
    known = _groups()
    return list(dict.fromkeys(group for word in topic_words(text) for group in known.get(stem(word), ())))


def stem(word: str) -> str:
    """Rougher than Porter's, which only the index has."""
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) > 2), "")
    return word[: len(word) - len(ending)]


def groups() -> list[str]:
    text = read_text(os.path.join(os.path.dirname(__file__), "related_words.txt")) or ""
    return [line for line in text.splitlines() if not line.startswith("#")]


@cache
def _groups() -> Mapping[str, tuple[str, ...]]:
    """A word's own group, which it begins, comes before others."""
    own: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for number, line in enumerate(groups()):
        first, *rest = (stem(word) for word in line.split())
        own.setdefault(first, []).append(f"zq{number}")
        for word in rest:
            others.setdefault(word, []).append(f"zq{number}")
    return {word: tuple((own.get(word, []) + others.get(word, []))[:_MOST]) for word in {**own, **others}}
