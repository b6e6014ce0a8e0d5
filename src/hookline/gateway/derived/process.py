"""Which process an agent is, and whether it still runs. Where the system does not tell, nobody knows."""

from __future__ import annotations

from hookline.core._dataclass import dataclass

#: What stands between an agent and the command that it registered.
_BETWEEN = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "busybox", "env", "timeout", "nice", "setsid"})
_DEEP = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A number alone is given out again; with the moment at which it began it is one process for ever."""

    pid: int
    began: int


def find_owner(caller: int) -> Process | None:
    """The nearest process above ``caller`` that is no shell; of a negative number, that very process."""
    if caller < 0:
        itself = _stat(-caller)
        return None if itself is None else Process(pid=-caller, began=itself[2])
    seen = _stat(caller)
    for _ in range(_DEEP):
        if seen is None or seen[1] <= 1:
            return None
        above = _stat(seen[1])
        if above is None:
            return None
        if above[0] not in _BETWEEN and not above[0].startswith("hook"):  # and no client of ours
            return Process(pid=seen[1], began=above[2])
        seen = above
    return None


def alive(process: Process) -> bool:
    seen = _stat(process.pid)
    return seen is not None and seen[2] == process.began


def _stat(pid: int) -> tuple[str, int, int] | None:
    """Name, parent and beginning."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
        # A name may hold spaces and brackets, the numbers after it cannot. A process that has ended and is not yet
        # buried is dead.
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 1 :].split()
        return None if rest[0] in {"Z", "X"} else (name, int(rest[1]), int(rest[19]))
    except (OSError, ValueError, IndexError):
        return None
