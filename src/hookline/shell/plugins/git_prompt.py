#!/usr/bin/env python3
"""The branch and the state of the repository in the prompt: ``(main +2 !1 ?3 ↑1) ``.

It answers late (``async_apply``): the prompt appears at once, and is redrawn when git has answered.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from hookline.shell.plugins.protocol import modify, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOOKS = [{"event": "prompt.render", "mode": "async_apply"}]

#: Seconds; in a slower repository the prompt stays unchanged.
_GIT_TIMEOUT = 3.0

_CYAN, _PLAIN = "\x1b[36m", "\x1b[0m"


def _reply(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    data = message["data"]
    state = git_state(data.get("cwd") or os.getcwd())
    return modify(prompt=f"{_CYAN}({state}){_PLAIN} {data.get('prompt', '')}") if state else None


def git_state(cwd: str) -> str:
    """``main +2 !1``: staged, changed and new files, and how far ahead and behind; "" outside a repository."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch"],
            cwd=cwd, capture_output=True, text=True, errors="replace", timeout=_GIT_TIMEOUT, check=False,
            # A repository must not run its own programs because the shell is in it.
            env={**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return parse_status(done.stdout) if done.returncode == 0 else ""


def parse_status(status: str) -> str:
    branch, commit = "", ""
    counts = dict.fromkeys("+!?x↑↓", 0)
    for line in status.splitlines():
        kind, _, rest = line.partition(" ")
        if line.startswith("# branch.head "):
            branch = line.removeprefix("# branch.head ")
        elif line.startswith("# branch.oid "):
            commit = line.removeprefix("# branch.oid ")[:7]
        elif line.startswith("# branch.ab "):
            ahead, behind = line.split()[2:4]
            counts["↑"], counts["↓"] = int(ahead), -int(behind)
        elif kind in {"1", "2"}:
            counts["+"] += rest[0] != "."
            counts["!"] += rest[1] != "."
        elif kind in {"?", "u"}:
            counts["?" if kind == "?" else "x"] += 1
    name = commit if branch == "(detached)" else branch
    return " ".join([name, *(f"{sign}{count}" for sign, count in counts.items() if count)])


if __name__ == "__main__":
    serve(_HOOKS, _reply)
