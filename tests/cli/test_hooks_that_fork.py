"""A Python hook whose child comes back: there is one answer, and one of us."""

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
    if os.fork() == 0:
        {child}
    return {{"effect": "deny", "reason": "said"}}
"""
CONFIG = '[[hook]]\nname = "guard"\non = "PreToolUse"\npython = "guard:judge"\non_failure = "deny"\n'


@pytest.mark.parametrize("child", ["pass", "raise ValueError", "raise SystemExit", "return None"])
@pytest.mark.timeout(100)
def test_a_child_that_comes_back_is_nobody(tmp_path: Path, child: str):
    folder, project = tmp_path / ".config" / "hookline", tmp_path / "project"
    folder.mkdir(parents=True)
    project.mkdir()
    (folder / "guard.py").write_text(HOOK.format(child=child))
    (folder / "hookline.toml").write_text(CONFIG)

    # To the end of all streams: a child that lives on would keep them open.
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "hookline", "hook", "--cold", "--agent", "claude-code"],
        input=json.dumps(PAYLOAD).encode(), cwd=project, capture_output=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )  # fmt: skip

    assert json.loads(told.stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "said"
    assert (told.returncode, told.stderr) == (0, b"")
