"""Tables of programs as plain text, one file per field: what a program's words and options do, by its manual.

``[a b]`` opens the section of these programs, ``[a: x y]`` that of their sub-commands ``x`` and ``y``; ``#`` begins a
comment. Every other line is one that the reader of that file knows; a line that is indented belongs to the one above
it. The text is divided into sections when it is first needed, and a section is read when its program is first met.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple


class _Line(NamedTuple):
    """One line, and those below it that are indented."""

    text: str
    below: tuple[str, ...]


@cache
def sections(file: str) -> Mapping[str, str]:
    """Program, or ``program: sub-command``, to the text of its section."""
    found: dict[str, str] = {}
    # importlib.resources would import pathlib and more, which takes longer than all the tables.
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as opened:
        text = opened.read()
    for part in f"\n{text}".split("\n[")[1:]:
        header, _, body = part.partition("]")
        program, colon, subs = header.partition(":")
        commands = colon and " " not in program  # ":" is a program, too
        names = [f"{program}: {sub}" for sub in subs.split()] if commands else header.split()
        for name in names:  # a program may stand in several sections
            found[name] = found.get(name, "") + body + "\n"
    return MappingProxyType(found)


def lines(section: str) -> Iterator[_Line]:
    """The lines of a section."""
    text, below = "", list[str]()
    for line in section.splitlines():
        if not line or line.startswith("#"):
            continue
        if line[0] == " ":
            below.append(line.strip())
            continue
        if text:
            yield _Line(text, tuple(below))
        text, below = line, []
    if text:
        yield _Line(text, tuple(below))
