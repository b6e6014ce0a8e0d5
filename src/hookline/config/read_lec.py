"""The YAML front matter of a conversation file: from a first line ``---`` to the next ``---`` or ``...``."""

from __future__ import annotations

import re

from hookline.config.read_yaml import read as read_yaml
from hookline.config.syntax import Document
from hookline.problem import Problem

_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_OPENING = re.compile(r"---[ \t]*\r?(?:\n|\Z)")


def read(path: str, text: str) -> Document:
    """A conversation without front matter configures nothing, and that is fine."""
    opening = _OPENING.match(text)
    if not opening:
        return Document(tree={})
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        unclosed = Problem(file=path, line=1, finding="the front matter is not closed", fix='end it with a line "---"')
        return Document(tree=None, problems=(unclosed,))
    return read_yaml(path, text[opening.end() : closing.start()], first_line=2)
