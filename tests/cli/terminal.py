"""A real terminal for a program under test: a pty, what came out of it, and keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

READY = "[[ready]]"
_FORWARD = re.compile(r"\x1b\[([0-9]*)C")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>78]")


class Terminal:
    """The program is the leader of a session whose controlling terminal is ours: closing it hangs it up."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        name = os.ttyname(slave)
        self.child = subprocess.Popen(
            argv, cwd=cwd, env={"TERM": "xterm", **environ}, stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(name, os.O_RDWR)),  # noqa: PLW1509  # makes it the controlling terminal
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, text: str, seconds: float = 80) -> str:
        """Everything that came up to and including ``text``, which is then forgotten."""
        limit = time.monotonic() + seconds
        while text not in self.seen:
            left = limit - time.monotonic()
            assert left > 0, f"{text!r} never came; the screen shows:\n{self.seen}"
            if select.select([self.master], [], [], min(left, 0.5))[0]:
                self._read()
            elif self.child.poll() is not None:
                raise AssertionError(f"it ended without {text!r}; the screen shows:\n{self.seen}")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def ready(self) -> None:
        """The program waits for a line."""
        self.wait_for(READY)

    def _read(self) -> None:
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody has it open any more
            data = b""
        if b"\x1b[6n" in data:  # where is the cursor?
            os.write(self.master, b"\x1b[1;1R")
        # A line editor that wants a line asks for pasted text in brackets, and jumps over what is blank.
        text = data.decode(errors="replace").replace("\x1b[?2004h", READY)
        text = _FORWARD.sub(lambda found: " " * int(found[1] or 1), text)
        self.seen += _ESCAPES.sub("", text)

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def ended(self, seconds: float = 80) -> int:
        """The exit code; what it still writes is read, so that it cannot block."""
        limit = time.monotonic() + seconds
        while self.child.poll() is None:
            assert time.monotonic() < limit, f"it does not end; the screen shows:\n{self.seen}"
            if self.master >= 0 and select.select([self.master], [], [], 0.05)[0]:
                self._read()
            elif self.master < 0:
                time.sleep(0.02)
        return self.child.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        if self.master >= 0:
            os.close(self.master)
