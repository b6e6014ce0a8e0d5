"""A command line as text, seen as the commands a hook knows. A reading, not a parse: the shell expands it later."""

from __future__ import annotations

import shlex
from typing import Any

_ENDS = frozenset({"|", "||", "&&", ";", "&", "|&", ";;", "(", ")"})
#: Words that stand before a command and are none.
_RESERVED = frozenset(
    {"{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "time", "esac"}
)
_REDIRECTS = frozenset({">", ">>", "<", "<<", "<<<", ">|", "&>", "&>>", ">&", "<&", "<>"})


def commands(text: str) -> list[dict[str, Any]]:
    """Every simple command in the text, with its redirections; none when the text cannot be read."""
    found: list[dict[str, Any]] = []
    current = _empty()
    words = iter(_words(text))
    for word in words:
        if word in _ENDS:
            _take(found, current)
            current = _empty()
        elif word in _REDIRECTS:
            current["redirects"].append({"op": word, "path": next(words, "")})
        elif not current["command"]:
            current["command"] = "" if word in _RESERVED else word
        else:
            current["args"].append(word)
    _take(found, current)
    return found


def one_command(text: str) -> tuple[str, list[str]]:
    """The first command and its words."""
    first = next(iter(commands(text)), None)
    return (first["command"], first["args"]) if first else (text, [])


def in_background(text: str) -> bool:
    return text.rstrip().endswith("&") and not text.rstrip().endswith("&&")


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # an open quote: the shell will ask for more, or complain
        return text.split()


def _empty() -> dict[str, Any]:
    return {"command": "", "args": [], "redirects": []}


def _take(found: list[dict[str, Any]], command: dict[str, Any]) -> None:
    if command["command"] or command["redirects"]:
        found.append(command)
