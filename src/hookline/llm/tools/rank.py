"""Which texts fit a question best: BM25 over plain words, small enough to need no index."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
#: The usual constants: how fast repetition stops to count, and how much long texts are held back.
_SATURATION = 1.5
_LENGTH = 0.75


def _words(text: str) -> list[str]:
    """Lower case; ``camelCase`` and ``snake_case`` count as their parts too."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")
    return _WORD.findall(spaced.casefold())


def best(query: str, texts: Sequence[str], limit: int) -> list[int]:
    """Places of the texts that share a word with the question, best first; equal ones keep their order."""
    wanted = set(_words(query))
    counts = [Counter(word for word in _words(text) if word in wanted) for text in texts]
    lengths = [max(1, len(text)) for text in texts]
    mean = sum(lengths) / max(1, len(lengths))
    having = Counter(word for count in counts for word in count)
    weight = {word: math.log(1 + (len(texts) - number + 0.5) / (number + 0.5)) for word, number in having.items()}

    def score(place: int) -> float:
        drag = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[place] / mean)
        return sum(weight[word] * times * (_SATURATION + 1) / (times + drag) for word, times in counts[place].items())

    fitting = [place for place, count in enumerate(counts) if count]
    return sorted(fitting, key=lambda place: -score(place))[: max(1, limit)]
