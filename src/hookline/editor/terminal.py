"""The person's terminal, also from a hook, whose session has no terminal.

A hook's ancestors have one: the agent or the shell that fired the event. It is used only in canonical mode: in raw mode
a full-screen program owns it, and two readers would split the keys between them.
"""

from __future__ import annotations

import os
import select
import subprocess
import termios
import time
from collections.abc import Generator
from contextlib import contextmanager

from hookline.editor.question import Answer, PersonQuestion, Progress, UnavailableError

#: More than any real chain of processes; a loop in a broken /proc must end.
_MOST_ANCESTORS = 64


def ask(question: PersonQuestion) -> Answer:
    """Ask in one line; only y or yes allows."""
    with _open_terminal() as terminal:
        # Discard what was typed before the question.
        termios.tcflush(terminal, termios.TCIFLUSH)
        _write(terminal, f"\n{question.title}\n\n{question.message}\n\nAllow? [y/N] ")
        answer = _line(terminal, time.monotonic() + question.patience)
    return "allowed" if answer.strip().lower() in {"y", "yes"} else "refused"


def pick(question: PersonQuestion) -> str:
    """The number or the text of one option; "" for anything else."""
    listed = "".join(f"  {number}  {option}\n" for number, option in enumerate(question.options, 1))
    with _open_terminal() as terminal:
        termios.tcflush(terminal, termios.TCIFLUSH)
        _write(terminal, f"\n{question.title}\n\n{listed}\nWhich? ")
        answer = _line(terminal, time.monotonic() + question.patience).strip()
    names = {str(number): option for number, option in enumerate(question.options, 1)}
    return names.get(answer, answer if answer in question.options else "")


def tell(progress: Progress) -> None:
    with _open_terminal() as terminal:
        _write(terminal, f"{progress.line()}\n")


def _line(terminal: int, deadline: float) -> str:
    data = b""
    while not data.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            _write(terminal, "\n")
            raise TimeoutError
        piece = os.read(terminal, 1024)
        if not piece:
            return ""
        data += piece
    return data.decode("utf-8", "replace")


def _write(terminal: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(terminal, data) :]


@contextmanager
def _open_terminal() -> Generator[int]:
    path, own = _nearest()
    try:
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise UnavailableError(f"there is no terminal ({path}: {error.strerror})") from None
    try:
        if not termios.tcgetattr(terminal)[3] & termios.ICANON:
            raise UnavailableError("a full-screen program uses the terminal")
        # Job control would stop us at the first read; it ignores processes of other sessions.
        if own and os.tcgetpgrp(terminal) != os.getpgrp():
            raise UnavailableError("the terminal belongs to another job")
        yield terminal
    except TimeoutError:
        raise
    except (OSError, termios.error) as error:
        raise UnavailableError(f"the terminal does not work: {error}") from None
    finally:
        os.close(terminal)


def _nearest() -> tuple[str, bool]:
    """The terminal of the nearest ancestor that has one, and whether that is this process."""
    process = ours = os.getpid()
    for _ in range(_MOST_ANCESTORS):
        if process <= 1:
            break
        if found := _controlling(process):
            return found, process == ours
        process = _parent(process)
    raise UnavailableError("no parent process has a terminal")


def _controlling(process: int) -> str:
    """The path of a process's terminal; "" without one."""
    if (fields := _proc(process)) is not None:
        return _device(int(fields[4]))
    name = _ps(process, "tty=")
    return f"/dev/{name}" if name.strip("?-") else ""


def _parent(process: int) -> int:
    fields = _proc(process)
    parent = fields[1] if fields is not None else _ps(process, "ppid=")
    return int(parent) if parent.isdigit() else 0


def _proc(process: int) -> list[str] | None:
    """The fields after the name in /proc/PID/stat: state, parent, group, session, terminal."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def _device(number: int) -> str:
    """The device file of a terminal number, verified."""
    if not number:
        return ""
    major, minor = os.major(number), os.minor(number)
    path = f"/dev/pts/{minor + (major - 136) * 256}" if 136 <= major <= 143 else f"/dev/tty{minor}"
    try:
        return path if os.stat(path).st_rdev == number else ""
    except OSError:
        return ""


def _ps(process: int, what: str) -> str:
    """For systems without /proc."""
    try:
        done = subprocess.run(
            ["ps", "-o", what, "-p", str(process)], capture_output=True, text=True, timeout=2, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
