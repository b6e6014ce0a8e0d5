"""The files that a patch touches, in the form that agents write, and in that of diff and git."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hookline.guard.pattern import lazy_pattern

_HEADERS: Final = lazy_pattern(
    r"(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(?P<path>.+?)[ \t\r]*$"
    r"|^--- (?:a/)?(?P<old>[^\t\r\n]+)[^\n]*\n\+\+\+ (?:b/)?(?P<new>[^\t\r\n]+)|^(?:rename|copy) (?:from|to) (?P<moved>.+?)\r?$"
)


def patch_targets(text: str) -> Iterator[str]:
    """Each path as it is written; what is deleted or made anew too."""
    for found in _HEADERS.finditer(text):
        names = (found["path"], found["old"], found["new"], found["moved"])
        yield from (name for name in names if name and name != "/dev/null")
