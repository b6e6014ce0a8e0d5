"""``local:`` paths: relative to the file they are written in, also in a document's front matter."""

from __future__ import annotations

import os.path
import shlex

_PREFIX = "local:"


class LocalPathError(ValueError):
    """A ``local:`` path that cannot be one; the message is Lectic's own."""


def resolve_local(text: str, directory: str) -> str:
    """``text`` with its leading ``local:./x`` made absolute; anything else unchanged.

    The path stays one word of the command, whatever its directories are called. Quotes round the whole
    text mean that all of it is the path.
    """
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'"
    inner = text[1:-1] if quoted else text
    if inner.startswith("exec:local:"):
        raise LocalPathError("local: does not compose with exec:")
    if not inner.startswith(_PREFIX) or "\n" in inner.strip():
        return text
    path = inner.removeprefix(_PREFIX)
    if path.startswith("file:"):
        raise LocalPathError("use file:local:./... instead of local:file:...")
    if not path.startswith(("./", "../")):
        raise LocalPathError("local: paths must start with ./ or ../")
    word, space, rest = (path, "", "") if quoted else _first_word(path)
    return shlex.quote(os.path.normpath(os.path.join(directory, word))) + space + rest


def _first_word(text: str) -> tuple[str, str, str]:
    for index, char in enumerate(text):
        if char.isspace():
            return text[:index], char, text[index + 1 :]
    return text, "", ""
