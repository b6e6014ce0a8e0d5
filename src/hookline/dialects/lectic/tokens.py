"""One-line commands: split into words first, then variables are put in, and no shell sees any of it.

Quotes work as in a shell, also inside a word (``--text="Allow $TOOL_NAME?"`` is one word); a quote that is
never closed is an ordinary character, and there are no backslash escapes. Variables are put in outside
single quotes, once, and never split; an unset one stays as written. ``~/`` at the start of a word is the
home directory.

The code argument of a shell (``bash -c CODE``) is left as it is: that shell takes the variables from its
environment, so what a model or a user wrote never becomes shell source.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from hookline.core._dataclass import dataclass

_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")

#: ``bash-5.2`` and ``ksh93`` are shells too.
_VERSION = re.compile(r"[-.\d]*(\.exe)?$")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "yash", "fish", "csh", "tcsh"})
#: Programs that hand the argument of -c to a shell, with other arguments before it.
_SHELL_CALLERS = frozenset({"su", "runuser", "sg", "script", "flock"})
#: Long options of the shells above that take the next word.
_TAKES_WORD = frozenset({"--rcfile", "--init-file", "--init-command", "--emulate"})

_Quote = Literal["", "'", '"']


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A piece of a word, with the quotes around it."""

    text: str
    quote: _Quote = ""


_Word = tuple[_Part, ...]


def split(line: str) -> list[_Word]:
    """The words of a command line. Every quoted piece stays whole, even an empty one."""
    words: list[_Word] = []
    parts: list[_Part] = []
    position = 0
    while position < len(line):
        char = line[position]
        if char.isspace():
            if parts:
                words.append(tuple(parts))
                parts = []
            position += 1
            continue
        part, position = _part(line, position)
        parts.append(part)
    if parts:
        words.append(tuple(parts))
    return words


def _part(line: str, start: int) -> tuple[_Part, int]:
    quotes: tuple[_Quote, ...] = ("'", '"')
    for quote in quotes:
        end = line.find(quote, start + 1) if line[start] == quote else -1
        if end >= 0:
            return _Part(text=line[start + 1 : end], quote=quote), end + 1
    end = start + 1
    while end < len(line) and not line[end].isspace() and line[end] not in "\"'":
        end += 1
    return _Part(text=line[start:end]), end


def expand(text: str, environ: Mapping[str, str]) -> str:
    """``$NAME`` and ``${NAME}`` replaced once; an unset variable stays as written."""

    def value(found: re.Match[str]) -> str:
        return environ.get(found[1] or found[2], found[0])

    return _VARIABLE.sub(value, text)


def expand_argv(line: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The argument vector of a one-line command in this environment."""
    words = split(line)
    expanded = [_expanded(word, environ) for word in words]
    code = _code_positions(expanded)
    return tuple(_literal(words[i]) if i in code else text for i, text in enumerate(expanded))


def _expanded(word: _Word, environ: Mapping[str, str]) -> str:
    text = "".join(part.text if part.quote == "'" else expand(part.text, environ) for part in word)
    if word[0].quote == "" and word[0].text.startswith("~/") and environ.get("HOME"):
        return environ["HOME"].rstrip("/") + text[1:]
    return text


def _literal(word: _Word) -> str:
    return "".join(part.text for part in word)


def _code_positions(words: Sequence[str]) -> frozenset[int]:
    """Which words are source code for a shell, wherever in the command the shell is named."""
    found: set[int] = set()
    for index, word in enumerate(words):
        program = _VERSION.sub("", os.path.basename(word))
        if program in _SHELLS:
            found.update(_code_of_shell(words, index + 1))
        elif program in _SHELL_CALLERS:
            found.update(_values_of("c", "--command", words, index + 1))
        elif program == "env":
            # Splits its argument into a whole command, which may be a shell's.
            found.update(_values_of("S", "--split-string", words, index + 1))
    return frozenset(found)


def _code_of_shell(words: Sequence[str], start: int) -> tuple[int, ...]:
    """The first word after the options, if one of them was ``-c`` (also ``-ec``, ``-euo pipefail -c``)."""
    code = False
    position = start
    while position < len(words):
        word = words[position]
        if word.startswith("--command="):
            return (position,)
        if word == "--" or not word.startswith(("-", "+")) or word in {"-", "+"}:
            break
        code = code or _has_letter(word, "c") or word == "--command"
        takes_word = word in _TAKES_WORD or _has_letter(word, "o") or _has_letter(word, "O")
        position += 2 if takes_word else 1
    if position < len(words) and words[position] == "--":
        position += 1
    return (position,) if code and position < len(words) else ()


def _values_of(letter: str, long: str, words: Sequence[str], start: int) -> Iterator[int]:
    """The words that contain an option's values: the option itself, or the next word."""
    for at in range(start, len(words)):
        word = words[at]
        if word.startswith(f"{long}=") or (_has_letter(word, letter) and not word.endswith(letter)):
            yield at
        elif word == long or _has_letter(word, letter):
            yield at + 1


def _has_letter(option: str, letter: str) -> bool:
    """Whether a cluster of short options contains this one."""
    return len(option) > 1 and option[0] in "-+" and option[1] != "-" and letter in option[1:]
