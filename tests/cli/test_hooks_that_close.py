"""A Python hook that closes what is not its own: an answer is told, or it is a failure that is seen."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s"}
HOOK = """\
import os, sys
def judge(event):
    {does}
    return {{"effect": "deny", "reason": "said"}}
"""
CONFIG = '[[hook]]\nname = "guard"\non = "PreToolUse"\npython = "guard:judge"\non_failure = "deny"\n'


def asked(home: Path, does: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    folder = home / ".config" / "hookline"
    folder.mkdir(parents=True)
    (folder / "guard.py").write_text(HOOK.format(does=does))
    (folder / "hookline.toml").write_text(CONFIG)
    project = home / "project"
    project.mkdir()
    line = [sys.executable, "-m", "hookline", "hook", "--cold", "--agent", "claude-code", *words]
    return subprocess.run(
        line, input=json.dumps({**PAYLOAD, "tool_input": {}}).encode(), cwd=project, capture_output=True, timeout=200,
        env={"PATH": os.environ["PATH"], "HOME": str(home)}, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "does", ["os.close(1)", "sys.stdout.close()", "sys.stdout = None", "os.dup2(os.open(os.devnull, 1), 1)"]
)
def test_the_answer_does_not_need_what_hooks_print_to(tmp_path: Path, does: str):
    told = asked(tmp_path, does)

    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "said"
    assert (told.returncode, told.stderr) == (0, b"")


@pytest.mark.parametrize("does", ["os.closerange(3, 64)", "os.closerange(0, 64)"])
@pytest.mark.parametrize(("words", "code"), [(("--on-failure", "deny"), 2), ((), 74)])
def test_where_nobody_can_be_told_any_more_the_exit_code_says_so(
    tmp_path: Path, does: str, words: tuple[str, ...], code: int
):
    told = asked(tmp_path, does, *words)

    assert (told.returncode, told.stdout) == (code, b"")


def test_the_answer_does_not_land_in_a_file_of_ours(tmp_path: Path):
    asked(tmp_path, "os.closerange(3, 64)")

    store = tmp_path / ".local" / "state" / "hookline" / "hookline.db"
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
