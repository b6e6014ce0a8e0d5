"""Split a command line into commands for hooks. An approximation: the shell expands the line later."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

_ENDS = frozenset({"|", "||", "&&", ";", "&", "|&", ";;", "(", ")", "\n"})
#: Reserved words before a command.
_RESERVED = frozenset(
    {"{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "time", "esac"}
)
#: Builtins that run the command after them; with an option other than ``-p`` they do something else.
_MODIFIERS = frozenset({"command", "builtin", "exec", "noglob", "nocorrect", "coproc"})
_REDIRECTS = frozenset({">", ">>", "<", "<<", "<<<", ">|", "&>", "&>>", ">&", "<&", "<>"})
_SIGNS = "|&;<>()\n"
_OPERATORS = re.compile(r"\|\||&&|;;|\|&|&>>|&>|>>|>\||>&|<<<|<<|<&|<>|[|&;<>()\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
#: A number or {name} right before a redirection is its descriptor, not a word: 2>&1. Quoted text is skipped.
_DESCRIPTOR = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<![^\s|;()])(\d+|\{[A-Za-z_]\w*\})(?=[<>])""", re.DOTALL)
_MARK = "\x1f"
_HERE = re.compile(r"(?<!<)<<(-?)[ \t]*(['\"]?)([A-Za-z0-9_.-]+)\2")


def commands(text: str, *, with_env: bool = False) -> list[dict[str, Any]]:
    """Every simple command in the text, with its redirections."""
    found: list[dict[str, Any]] = []
    current, descriptor = _empty(), ""
    # The bodies of here-documents are not commands.
    text = "\n".join(_command_lines(text)) if "<<" in text else text
    words = iter([*_words(_mark_descriptors(text)), ";"])
    for word in words:
        if len(word) > 1 and word[0] == word[-1] == _MARK:
            descriptor = word[1:-1]
        elif word in _ENDS:
            if current["command"] or current["redirects"]:
                found.append(current)
            current = _empty()
        elif word in _REDIRECTS:
            current["redirects"].append({"op": f"{descriptor}{word}", "path": next(words, "")})
            descriptor = ""
        elif current["command"] in _MODIFIERS and not current["args"] and (word == "-p" or not word.startswith("-")):
            current["command"] = word if word != "-p" else current["command"]
        elif current["command"]:
            current["args"].append(word)
        elif _ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            current["env"][name.removesuffix("+")] = value
        else:
            current["command"] = "" if word in _RESERVED else word
    return found if with_env else [{name: one[name] for name in ("command", "args", "redirects")} for one in found]


def one_command(text: str) -> tuple[str, list[str]]:
    """The first command and its words."""
    first = next(iter(commands(text)), None)
    return (first["command"], first["args"]) if first else (text, [])


def in_background(text: str) -> bool:
    return text.rstrip().endswith("&") and not text.rstrip().endswith("&&")


def _mark_descriptors(text: str) -> str:
    """Turn descriptors into separate words that no typed text looks like."""
    if _MARK in text:
        return text.replace(_MARK, " ")
    return _DESCRIPTOR.sub(lambda found: f"{_MARK}{found[1]}{_MARK}" if found[1] else found[0], text)


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text.replace("\\\n", ""), posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [piece for word in lexer for piece in _operators(word)]
    except ValueError:  # an open quote: the shell will ask for more or report it
        return text.split()


def _operators(word: str) -> list[str]:
    """Adjacent characters without a space are several operators: ``);(``."""
    return _OPERATORS.findall(word) if word and all(sign in _SIGNS for sign in word) else [word]


def _command_lines(text: str) -> Iterator[str]:
    waiting: list[tuple[bool, str]] = []
    for line in text.split("\n"):
        if waiting:
            indented, end = waiting[0]
            if (line.lstrip("\t") if indented else line) == end:
                waiting.pop(0)
            continue
        waiting = [(bool(dash), word) for dash, _quote, word in _HERE.findall(line)]
        yield line


def _empty() -> dict[str, Any]:
    return {"command": "", "args": [], "redirects": [], "env": {}}
