"""The child's environment and arguments as values that the kernel accepts.

One string may be 128 KiB long and all of them together take a share of the stack. What is longer goes into a
private file: the variable then holds the path of that file, and ``NAME_FILE`` holds it too, so that a hook can
tell a path from a value.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.run.private import Workspace

#: Linux's MAX_ARG_STRLEN, the closing NUL included. Other systems have no such limit, only the total.
STRING_LIMIT = 128 * 1024
#: The kernel counts a pointer per string; the rest of the margin is for what it adds itself.
_POINTER = 8
_MARGIN = 16 * 1024
#: Values shorter than this are not worth a file when the total is over the budget.
_WORTH_A_FILE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What is handed to the kernel, and what a person should know about it."""

    argv: tuple[bytes, ...]
    environ: Mapping[bytes, bytes]
    notes: tuple[str, ...] = ()


def child_environ(caller: Mapping[str, str], unset: frozenset[str], laid_over: Mapping[str, str]) -> dict[str, str]:
    """The caller's whole environment, minus what does not apply, plus what the dialect sets."""
    kept = {name: value for name, value in caller.items() if name not in unset} if unset else caller
    return {**kept, **laid_over}


def pass_on(argv: Sequence[str], environ: Mapping[str, str], workspace: Workspace, *, budget: int = 0) -> Passed:
    """Encode everything; move what the kernel would refuse into files of ``workspace``."""
    notes: list[str] = []
    encoding = sys.getfilesystemencoding()
    try:
        words = [word.encode(encoding, "surrogateescape") for word in argv]
        variables = {
            name.encode(encoding, "surrogateescape"): value.encode(encoding, "surrogateescape")
            for name, value in environ.items()
        }
    except (UnicodeEncodeError, AttributeError):
        words = [_forced(word, encoding) for word in argv]
        variables = {_forced(name, encoding): _forced(value, encoding) for name, value in environ.items()}
        notes.append("characters that cannot be encoded were replaced in its environment or arguments")
    _without_nul(words, variables, notes)
    _by_file(words, variables, workspace, notes, budget or arg_budget())
    return Passed(argv=tuple(words), environ=variables, notes=tuple(notes))


def arg_budget() -> int:
    return int(os.sysconf("SC_ARG_MAX")) - _MARGIN


def _forced(text: object, encoding: str) -> bytes:
    return str(text).encode(encoding, "replace")


def _without_nul(words: list[bytes], variables: dict[bytes, bytes], notes: list[str]) -> None:
    """A NUL ends a string for the kernel, so it becomes U+FFFD; a name that is none is left out."""
    for index, word in enumerate(words):
        if b"\0" in word:
            words[index] = word.replace(b"\0", "\ufffd".encode())
            notes.append(f"NUL bytes were replaced in argument {index}")
    if b"\0" in b"".join(variables.values()):
        for name, value in variables.items():
            if b"\0" in value:
                variables[name] = value.replace(b"\0", "\ufffd".encode())
                notes.append(f"NUL bytes were replaced in {name.decode(errors='replace')}")
    names = b"".join(variables)
    if b"=" in names or b"\0" in names or b"" in variables:
        for name in [name for name in variables if not name or b"=" in name or b"\0" in name]:
            del variables[name]
            notes.append(f"a variable cannot be called {name.decode(errors='replace')!r}; it was left out")


def _by_file(
    words: list[bytes], variables: dict[bytes, bytes], workspace: Workspace, notes: list[str], budget: int
) -> None:
    total = _size(words, variables)
    # One look at the total spares looking at each of a few hundred ordinary strings.
    if total <= min(budget, STRING_LIMIT):
        return
    for index, word in enumerate(words):
        if len(word) >= STRING_LIMIT:
            words[index] = _file_argument(workspace, index, word, notes)
    for name, value in list(variables.items()):
        if len(name) + len(value) + 2 > STRING_LIMIT:
            _file_variable(workspace, variables, name, notes)
    while (total := _size(words, variables)) > budget:
        largest = max(variables, key=lambda name: len(variables[name]), default=b"")
        longest = max(range(1, len(words)), key=lambda index: len(words[index]), default=0)
        if longest and len(words[longest]) > len(variables.get(largest, b"")):
            if len(words[longest]) < _WORTH_A_FILE:
                return  # let the kernel judge; the error says what to do
            words[longest] = _file_argument(workspace, longest, words[longest], notes)
        elif len(variables.get(largest, b"")) < _WORTH_A_FILE:
            return
        else:
            _file_variable(workspace, variables, largest, notes)


def _size(words: list[bytes], variables: dict[bytes, bytes]) -> int:
    strings = sum(map(len, words)) + sum(map(len, variables)) + sum(map(len, variables.values()))
    return strings + len(words) * (_POINTER + 1) + len(variables) * (_POINTER + 2)


def _file_argument(workspace: Workspace, index: int, word: bytes, notes: list[str]) -> bytes:
    path = workspace.file(f"arg{index}", word)
    notes.append(f"argument {index} is too long ({len(word)} bytes) and was passed as a file")
    return os.fsencode(path)


def _file_variable(workspace: Workspace, variables: dict[bytes, bytes], name: bytes, notes: list[str]) -> None:
    shown = name.decode(errors="replace")
    safe = "".join(letter if letter.isalnum() else "_" for letter in shown)[:100]
    path = os.fsencode(workspace.file(safe, variables[name]))
    notes.append(f"{shown} is too long ({len(variables[name])} bytes) and was passed as a file")
    variables[name] = path
    variables[name + b"_FILE"] = path
