"""The YAML front matter of a conversation file: from a first line ``---`` to the next ``---`` or ``...``."""

from __future__ import annotations

import re

from hookline.config.syntax import Document
from hookline.config.syntax.yaml import read as read_yaml
from hookline.core.problem import Problem

_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_OPENING = re.compile(r"---[ \t]*\r?(?:\n|\Z)")


def split(text: str) -> tuple[str, str] | None:
    """The front matter's YAML and the text after it: one rule for both. None when it is not closed."""
    opening = _OPENING.match(text)
    if not opening:
        return "", text
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        return None
    return text[opening.end() : closing.start()], text[closing.end() :]


def read(path: str, text: str) -> Document:
    """A conversation without front matter configures nothing, and that is fine."""
    found = split(text)
    if found is None:
        unclosed = Problem(file=path, line=1, finding="the front matter is not closed", fix='end it with a line "---"')
        return Document(tree=None, problems=(unclosed,))
    return read_yaml(path, found[0], first_line=2) if found[0].strip() else Document(tree={})
