"""``ragsearch``: passages of the project's own text files and notes that fit a question. No network, no index."""

from __future__ import annotations

import math
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.llm.tools import ToolPlace, make_tool

#: Bounds of one search: a hook agent has a deadline, and a home directory is a project to some.
_MOST_FILES = 2000
_LARGEST_FILE = 256 << 10
_LARGEST_TOTAL = 16 << 20
_PASSAGE_LINES = 20
_LONGEST_PASSAGE = 1200

_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build", "vendor"})
_SECRET = (
    ".pem", ".key", ".p12", ".pfx", ".keystore", "id_rsa", "id_ed25519", "id_ecdsa", "credentials.json", "secrets.json",
)  # fmt: skip

_WORD = re.compile(r"\w+")
#: The usual constants: how fast repetition stops to count, and how much long texts are held back.
_SATURATION = 1.5
_LENGTH = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    file: str
    line: int
    text: str


class RagSearch:
    """Hidden files, links and files that usually hold keys are not looked at."""

    name = "ragsearch"

    def __init__(self, place: ToolPlace) -> None:
        self._place = place

    @property
    def functions(self) -> Sequence[Callable[..., Any]]:
        return (self.ragsearch,)

    def ragsearch(self, query: str, limit: int = 5) -> str:
        """Find passages in the text files of this project and in its notes, best first.

        Args:
            query: words to look for.
            limit: how many passages at most.
        """
        memory: Any = make_tool("memory", self._place)
        notes = enumerate(memory.notes(), start=1)
        passages = [_Passage(file="memory", line=number, text=note.text) for number, note in notes]
        passages += self._passages()
        found = best(query, [passage.text for passage in passages], min(limit, 20))
        shown = (f"{passages[place].file}:{passages[place].line}\n{passages[place].text}" for place in found)
        return "\n\n".join(shown) or "nothing matches"

    def _passages(self) -> Iterator[_Passage]:
        read = 0
        for path in self._files():
            text = _text_of(path)
            read += len(text)
            if read > _LARGEST_TOTAL:
                return
            lines = text.splitlines()
            for start in range(0, len(lines), _PASSAGE_LINES):
                part = "\n".join(lines[start : start + _PASSAGE_LINES])[:_LONGEST_PASSAGE]
                if part.strip():
                    yield _Passage(file=os.path.relpath(path, self._place.project), line=start + 1, text=part)

    def _files(self) -> Iterator[str]:
        seen = 0
        for folder, folders, files in os.walk(self._place.project):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
            for name in sorted(files):
                if name.startswith(".") or name.lower().endswith(_SECRET):
                    continue
                seen += 1
                if seen > _MOST_FILES:
                    return
                yield os.path.join(folder, name)


def _text_of(path: str) -> str:
    """The text of a regular file that is not too large; "" for everything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if status.st_size > _LARGEST_FILE or not stat.S_ISREG(status.st_mode):
            return ""
        content = file.read(_LARGEST_FILE)
    return "" if b"\0" in content else content.decode("utf-8", "replace")


def _words(text: str) -> list[str]:
    """Lower case; ``camelCase`` and ``snake_case`` count as their parts too."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).replace("_", " ")
    return _WORD.findall(spaced.casefold())


def best(query: str, texts: Sequence[str], limit: int) -> list[int]:
    """BM25 over plain words, small enough to need no index: places of the texts that share a word with the question, best first; equal ones keep their order."""
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
