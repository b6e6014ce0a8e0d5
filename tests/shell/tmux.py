"""A tmux server of its own with one window: what the terminal and the compared screens have in common."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Tmux:
    """Calling it runs a tmux command and gives what it printed. Whoever opens one closes it."""

    def __init__(self, root: Path, size: tuple[int, int], cwd: Path, words: list[str]) -> None:
        self._root = root
        # From the start, so that a shell which ends at once leaves its last words on the screen.
        (root / "tmux.conf").write_text("set -g remain-on-exit on\n")
        width, height = size
        begun = self._run(
            "-f", "tmux.conf", "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(cwd), *words
        )
        assert begun.returncode == 0, f"tmux did not start: {begun.stderr}"

    def __call__(self, *words: str) -> str:
        return self._run(*words).stdout

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
        # Named from its own folder, because the path of a socket has 107 characters at most, and folders of tests more.
        return subprocess.run(
            ["tmux", "-S", "tmux", *words], cwd=self._root, capture_output=True, text=True, check=False, env=environ
        )

    def screen(self) -> str:
        return "\n".join(line.rstrip() for line in self("capture-pane", "-p").splitlines()).rstrip()

    def processes(self) -> str:
        """What runs in the window and what each process waits for, to explain a screen that never came."""
        leader = self("display-message", "-p", "#{pane_pid}").strip()
        words = ["ps", "--sid", leader, "-o", "pid,ppid,stat,wchan:20,args"]
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    def close(self) -> None:
        self("kill-server")
