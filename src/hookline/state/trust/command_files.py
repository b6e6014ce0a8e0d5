"""Which words of a command may name files or programs. Generous: a word too many costs one look at the disk."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: What a path looks like inside anything else: ``--config=./a.toml``, ``$(pwd)/hooks/x.sh``, ``. ./env.sh;``
_FRAGMENT = re.compile(r"[A-Za-z0-9_.~+@%,/-]{2,4096}")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)[^}]*\}|([A-Za-z_]\w*))")
#: Where output goes is not what is run, and would make a hook that keeps a log untrust itself.
_REDIRECT = re.compile(r"""[0-9&]?>{1,2}[|&]?[ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\s;|&<>()]+)""")
_SEPARATORS = frozenset({";", ";;", "|", "||", "|&", "&", "&&", "(", ")", "{", "}", "\n", "!"})
_PREFIXES = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "exec", "env", "sudo", "time", "command", "nohup", "nice"}
)
_BUILTINS = frozenset({
    ".", ":", "[", "[[", "alias", "bg", "bind", "break", "builtin", "case", "cd", "continue", "declare", "dirs",
    "disown", "do", "done", "echo", "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "false", "fc",
    "fg", "fi", "for", "function", "getopts", "hash", "help", "history", "if", "in", "jobs", "kill", "let", "local",
    "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set",
    "shift", "shopt", "source", "suspend", "test", "then", "time", "times", "trap", "true", "type", "typeset",
    "ulimit", "umask", "unalias", "unset", "until", "wait", "while", "{", "}", "!", "]",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """``paths`` may name files, ``modules`` Python modules, ``programs`` are what is called by name."""

    paths: tuple[str, ...]
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def of_argv(argv: Sequence[str], environ: Mapping[str, str], root: str) -> Words:
    """A program and its arguments; an argument may itself be shell source (``bash -c``)."""
    return Words(
        paths=_unique(_paths(argv, environ, root)),
        programs=tuple(argv[:1]),
        modules=tuple(after for word, after in pairwise(argv) if word == "-m"),
    )


def of_shell(text: str, environ: Mapping[str, str], root: str) -> Words:
    """Shell source, or a line of words. No parser of shell, so it rather finds a word too many than one too few."""
    written = tuple(found.strip("\"'") for found in _REDIRECT.findall(text))
    text = _REDIRECT.sub(" ", text)
    words = _split(text)
    return Words(
        paths=_unique(_paths([*words, text], environ, root)),
        programs=_unique(_programs(text)),
        modules=tuple(after for word, after in pairwise(words) if word == "-m"),
        written=tuple(word for word in written if not word.startswith("/dev/") and not word.isdigit()),
    )


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # an apostrophe in a comment, a here-document
        return text.split()


def _paths(words: Iterable[str], environ: Mapping[str, str], root: str) -> Iterable[str]:
    for word in words:
        for form in (word, _expanded(word, environ, root), _VARIABLE.sub("", word)):
            if 0 < len(form) < 4096 and "\n" not in form and "\0" not in form:
                yield form
            yield from _FRAGMENT.findall(form)


def _expanded(word: str, environ: Mapping[str, str], root: str) -> str:
    """Variables of the caller; a project directory that only the agent will set is the project's root."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return root if name.endswith("PROJECT_DIR") or name == "HOOKLINE_PROJECT" else environ.get(name, "")

    word = _VARIABLE.sub(value, word)
    home = environ.get("HOME", "")
    return os.path.join(home, word[2:]) if home and word.startswith("~/") else word


def _programs(text: str) -> Iterable[str]:
    """The words in command position, as far as they can be told without a shell."""
    for line in text.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&()")
        lexer.whitespace_split = True
        expecting = True
        try:
            for token in lexer:
                if token in _SEPARATORS or token in _PREFIXES:
                    expecting = True
                elif expecting and not re.match(r"\w+=", token):
                    expecting = False
                    if token not in _BUILTINS:
                        yield token
        except ValueError:
            continue


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
