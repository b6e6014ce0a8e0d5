"""Which process is which, and what runs above it, from /proc. Elsewhere nothing is known, and callers must cope."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookline.core._dataclass import dataclass

#: Shells and small tools between an agent and the command that it registered.
_BETWEEN = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "busybox", "env", "timeout", "nice", "setsid"})
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A number is given out again; together with its start it names one process for ever."""

    pid: int
    began: int


def find_owner(caller: int) -> Process | None:
    """The nearest process above ``caller`` that is no shell; of a negative number, that very process."""
    if caller < 0:
        itself = _stat(-caller)
        return None if itself is None else Process(pid=-caller, began=itself[2])
    for pid, (name, _, began) in _above(caller):
        if name not in _BETWEEN and not _is_client(pid, name):
            return Process(pid=pid, began=began)
    return None


def _is_client(pid: int, name: str) -> bool:
    """A client of ours, which may wait for an ordinary run: a native one by its name, one in Python by its file."""
    return name.startswith("hook") or any(word.startswith(_OURS) for word in _arguments(pid)[:5])


def alive(process: Process) -> bool:
    seen = _stat(process.pid)
    return seen is not None and seen[2] == process.began


def ancestor_commands(pid: int) -> Iterator[tuple[str, ...]]:
    """The name and the arguments of every process above ``pid``, the nearest first."""
    return (words for _pid, words in ancestors(pid))


def ancestors(pid: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    for above, (name, _, _) in _above(pid):
        yield above, (name, *_arguments(above))


def reads_terminal(pid: int) -> bool | None:
    """Whether its standard input is a terminal; None if that is not known."""
    try:
        return os.readlink(f"/proc/{pid}/fd/0").startswith(("/dev/pts/", "/dev/tty", "/dev/console"))
    except OSError:
        return None


def command_words(pid: int) -> tuple[str, ...]:
    """The name and the arguments of one process; empty for one that is gone."""
    seen = _stat(pid)
    return () if seen is None else (seen[0], *_arguments(pid))


def can_see_ancestors() -> bool:
    return _stat(os.getpid()) is not None


def _above(pid: int) -> Iterator[tuple[int, tuple[str, int, int]]]:
    """All of them: whoever could hide behind a number of shells would."""
    known, seen = {pid}, _stat(pid, ended=True)
    while seen is not None and seen[1] > 1 and seen[1] not in known:  # a number may be given out again meanwhile
        parent, seen = seen[1], _stat(seen[1], ended=True)  # only the first thread of a parent has ended
        known.add(parent)
        if seen is not None:
            yield parent, seen


def _stat(pid: int, *, ended: bool = False) -> tuple[str, int, int] | None:
    """Name, parent and start; of a process that has ``ended`` only where that is wanted."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
        # A name may contain spaces and brackets, the numbers after it cannot.
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 1 :].split()
        return None if rest[0] in {"Z", "X"} and not ended else (name, int(rest[1]), int(rest[19]))
    except (OSError, ValueError, IndexError):
        return None


def _arguments(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(1 << 16).decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []
