#!/usr/bin/env python3
"""The branch and the state of the repository in the prompt: ``(main +2 !1 ?3 ↑1) ``.

It answers late (``async_apply``): the prompt appears at once, and is redrawn when git has answered.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import Any

from hookline.core.git import CONFIG, OPTIONS, STATUS, git_environ, read_config
from hookline.shell.plugins.protocol import modify, serve

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
        asked = _git(cwd, "", *CONFIG)
        filters, empty_tree = read_config(asked.stdout, asked.returncode)
        if filters:  # git would run them to compare files
            return _git(cwd, "", "symbolic-ref", "--short", "-q", "HEAD").stdout.strip()
        done = _git(cwd, empty_tree, *STATUS, "--porcelain=v2", "--branch")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return parse_status(done.stdout) if done.returncode == 0 else ""


def _git(cwd: str, empty_tree: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A repository must not run its own programs because the shell is in it."""
    return subprocess.run(
        ["git", *OPTIONS, *words], cwd=cwd, env=git_environ(os.environ, empty_tree), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", timeout=_GIT_TIMEOUT, check=False,
    )  # fmt: skip


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
