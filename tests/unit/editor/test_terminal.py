"""A person at a real terminal, also when the question comes out of a hook, which has no terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

SEEDS = Path(__file__).parents[2] / "seeds" / "lectic"
APPROVE = ("editor", "approve", "--title", "Allow it?", "--message", "rm x")


class Terminal:
    """``hookline`` on a terminal of its own; the test is the person in front of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.child = 0
        self.screen = -1
        self.seen = b""

    def run(self, *words: str, raw: bool = False, program: tuple[str, ...] = ("-m", "hookline")) -> None:
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8", "TERM": "xterm"}
        self.child, self.screen = pty.fork()
        if self.child == 0:  # pragma: no cover  another process
            try:
                if raw:
                    tty.setraw(0)
                os.chdir(self.folder)
                os.execve(sys.executable, [sys.executable, *program, *words], environ)
            finally:
                os._exit(99)

    def wait_for(self, text: bytes, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            self._read()

    def type(self, keys: bytes) -> None:
        os.write(self.screen, keys)

    def end(self, seconds: float = 60) -> int:
        """The exit code; everything that is written meanwhile is read."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read()
            done, status = os.waitpid(self.child, os.WNOHANG)
            if done:
                self.child = 0
                self._read()
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(self.seen)

    def _read(self) -> None:
        try:
            if select.select([self.screen], [], [], 0.1)[0]:
                self.seen += os.read(self.screen, 65536)
        except OSError:  # Linux says so when the other end is closed
            time.sleep(0.01)

    def close(self) -> None:
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
        if self.screen >= 0:
            os.close(self.screen)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("typed", "code"), [(b"y\n", 0), (b"YES\n", 0), (b"n\n", 1), (b"\n", 1), (b"yup\n", 1), (b"\x04", 1)]
)
def test_only_yes_allows(terminal: Terminal, typed: bytes, code: int) -> None:
    terminal.run(*APPROVE)
    terminal.wait_for(b"Allow? [y/N]")
    terminal.type(typed)
    assert terminal.end() == code
    assert b"rm x" in terminal.seen


def test_what_was_typed_before_the_question_is_no_answer(terminal: Terminal) -> None:
    slow = "import sys,time,runpy; sys.argv[0]='hookline'; print('ready', flush=True); time.sleep(0.3); runpy.run_module('hookline')"
    terminal.run(*APPROVE, "--timeout", "500ms", program=("-c", slow))
    terminal.wait_for(b"ready")
    terminal.type(b"y\n")
    assert terminal.end() == 1
    assert b"nobody answered within 0.5 s" in terminal.seen


def test_nobody_at_the_terminal_is_a_refusal_after_a_time(terminal: Terminal) -> None:
    terminal.run(*APPROVE, "--timeout", "300ms")
    assert terminal.end() == 1


def test_a_terminal_in_raw_mode_belongs_to_somebody_else(terminal: Terminal) -> None:
    terminal.run(*APPROVE, raw=True)
    assert terminal.end() == 1
    assert b"a full-screen program uses the terminal" in terminal.seen
    assert b"Allow? [y/N]" not in terminal.seen


def test_nothing_in_the_message_moves_the_cursor(terminal: Terminal) -> None:
    terminal.run("editor", "approve", "--title", "a\x1b[2Jb", "--message", "c\x1b]0;x\x07\rd")
    terminal.wait_for(b"Allow? [y/N]")
    terminal.type(b"n\n")
    terminal.end()
    assert b"\x1b" not in terminal.seen
    assert b"\x07" not in terminal.seen


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1)])
def test_the_documented_lectic_hook_asks_at_the_terminal_as_it_is_written(
    terminal: Terminal, typed: bytes, code: int
) -> None:
    (terminal.folder / "lectic.yaml").write_text((SEEDS / "editor-approve.yaml").read_text())
    data = '{"tool_name": "Bash", "tool_input": {"command": "ls"}}'
    terminal.run("fire", "PreToolUse", "--dialect", "lectic", "--config", "lectic.yaml", "--data", data)
    terminal.wait_for(b"Allow? [y/N]")
    terminal.type(typed)
    assert terminal.end() == code
    assert b'Args:\r\n{"command":"ls"}' in terminal.seen


def test_progress_is_a_line(terminal: Terminal) -> None:
    terminal.run("editor", "progress", "report", "--token", "t", "--title", "Work", "--percentage", "49.6")
    assert terminal.end() == 0
    assert b"Work: 50%" in terminal.seen


def test_the_terminal_is_left_as_it_was(terminal: Terminal) -> None:
    terminal.run(*APPROVE)
    terminal.wait_for(b"Allow? [y/N]")
    before = termios.tcgetattr(terminal.screen)
    terminal.type(b"y\n")
    terminal.end()
    assert termios.tcgetattr(terminal.screen) == before
