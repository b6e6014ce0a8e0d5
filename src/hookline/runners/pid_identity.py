"""Identify a process. A pid alone is not enough, since it may have been reused; together with the
start time of the process it is."""

from __future__ import annotations

import sys


def start_time(pid: int) -> str:
    """The start time, which no other process with this pid has; "" if there is no such process."""
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
    """A text that identifies this process, also when it is read later."""
    return f"{pid} {start_time(pid)}"


def pid_from_mark(mark: str) -> int | None:
    """The pid in the mark, if that process still runs."""
    number, _, then = mark.strip().partition(" ")
    if not number.isdecimal() or len(number) > 18 or int(number) <= 1:
        return None
    return int(number) if then and start_time(int(number)) == then else None
