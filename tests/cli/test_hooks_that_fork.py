"""A Python hook whose child comes back, or that ends the process: there is one answer, and one of us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s", "tool_input": {}}
HOOK = """\
import os
def judge(event):
    {does}
    return {{"effect": "deny", "reason": "said"}}
"""
FORKS = """if os.fork() == 0:
        """
CONFIG = '[[hook]]\nname = "guard"\non = "PreToolUse"\npython = "guard:judge"\non_failure = "deny"\n'


def asked(home: Path, does: str) -> str:
    """The reason of the refusal."""
    folder, project = home / ".config" / "hookline", home / "project"
    folder.mkdir(parents=True)
    project.mkdir()
    (folder / "guard.py").write_text(HOOK.format(does=does))
    (folder / "hookline.toml").write_text(CONFIG)
    # To the end of all streams: a child that lives on would keep them open.
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "hookline", "hook", "--cold", "--agent", "claude-code"],
        input=json.dumps(PAYLOAD).encode(), cwd=project, capture_output=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (0, b"")
    return str(json.loads(told.stdout)["hookSpecificOutput"]["permissionDecisionReason"])


@pytest.mark.timeout(100)
@pytest.mark.parametrize("child", ["pass", "raise ValueError", "raise SystemExit", "return None", "os._exit(0)"])
def test_a_child_that_comes_back_is_nobody(tmp_path: Path, child: str):
    assert asked(tmp_path, FORKS + child) == "said"


@pytest.mark.timeout(100)
def test_a_hook_that_ends_the_process_has_failed(tmp_path: Path):
    assert asked(tmp_path, "os._exit(0)").startswith("hook failed: raised SystemExit: os._exit(0) (")
