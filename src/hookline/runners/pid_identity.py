"""Which process a number means. The number alone names nobody, since it may have been given to another process; with the
moment at which that process began it does."""

from __future__ import annotations

import sys


def start_time(pid: int) -> str:
    """A word that no other process of this number has ("" where there is none)."""
    if sys.platform != "linux":
        import subprocess  # 10 ms that are needed nowhere else

        told = subprocess.run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return told.stdout.strip()
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def mark_process(pid: int) -> str:
    """This process, in words that still name it, or nobody, when they are read later."""
    return f"{pid} {start_time(pid)}"


def marked_pid(mark: str) -> int | None:
    """The process that was marked so, if it is still there."""
    number, _, then = mark.strip().partition(" ")
    if not number.isdecimal() or len(number) > 18 or int(number) <= 1:
        return None
    return int(number) if then and start_time(int(number)) == then else None
