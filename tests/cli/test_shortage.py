"""A system that is short of something is no bug of ours, and opens no guard."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hookline.core.errors import shortage

if TYPE_CHECKING:
    from pathlib import Path

PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}).encode()
#: From here on nothing can be opened any more, not even a module.
NO_FILES = "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))"
NO_THREADS = """
def none(*_):
    raise RuntimeError("can't start new thread")
import _thread; _thread.start_new_thread = none
"""


def asked(home: Path, lack: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    program = f"import resource, sys\nfrom hookline.cli import main\n{lack}\nsys.exit(main(sys.argv[1:]))"
    line = [sys.executable, "-c", program, "hook", "--cold", "--agent", "claude-code", *words]
    return subprocess.run(
        line, input=PAYLOAD, cwd=home, env={"PATH": os.environ["PATH"], "HOME": str(home)}, capture_output=True,
        timeout=200, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(("lack", "scarce"), [(NO_FILES, b"open files"), (NO_THREADS, b"threads")])
def test_what_the_system_has_no_more_of_is_named(tmp_path: Path, lack: str, scarce: bytes):
    told = asked(tmp_path, lack)

    assert b"the system has run out of " + scarce in told.stderr
    assert (told.returncode, told.stdout, b"bug" in told.stderr) == (71, b"", False)


@pytest.mark.parametrize("lack", [NO_FILES, NO_THREADS])
@pytest.mark.parametrize("words", [("--on-failure", "deny"), ("--on-failure=deny",)])
def test_a_guard_is_not_opened_by_it(tmp_path: Path, lack: str, words: tuple[str, ...]):
    told = asked(tmp_path, lack, *words)

    assert (told.returncode, told.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("error", "scarce"),
    [
        (MemoryError(), "memory"),
        (OSError(errno.ENOMEM, "x"), "memory"),
        (OSError(errno.ENFILE, "x"), "open files"),
        (RuntimeError("can't start new thread"), "threads"),
        (RuntimeError("anything else"), ""),
        (OSError(errno.ENOENT, "x"), ""),
    ],
)
def test_only_a_shortage_is_one(error: Exception, scarce: str):
    assert f"run out of {scarce};" in shortage(error) if scarce else shortage(error) == ""
