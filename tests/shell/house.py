"""A home of its own for one shell: lash's files in it, and a plugin that hears everything and answers by rules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.core.event import EVENTS

HERE = Path(__file__).parent
SHELL_EVENTS = [name for name, kind in EVENTS.items() if kind.family == "shell" and not name.startswith("plugin.")]
BIN = Path(sys.executable).parent


def deny(event: str, reason: str = "no", /, *, data: dict[str, Any] | None = None, **when: Any) -> dict[str, Any]:
    return {"event": event, "if": when, "answer": {"action": "deny", "reason": reason, "data": data or {}}}


def modify(event: str, data: dict[str, Any], /, *, delay: float = 0, **when: Any) -> dict[str, Any]:
    return {"event": event, "if": when, "answer": {"action": "modify", "data": data}, "delay": delay}


@dataclass
class Result:
    code: int
    out: str
    err: str


@dataclass
class House:
    """Where a shell lives. ``events`` are the names it hears; ``rules`` what the plugin answers."""

    root: Path
    answers: list[dict[str, Any]] = field(default_factory=list)
    hook_config: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home = self.root / "home"
        self.lash = self.home / ".lash"
        self.work = self.root / "work"
        self.lash.mkdir(parents=True)
        self.work.mkdir()
        self.plugin = self.root / "listener.py"
        shutil.copy(HERE / "plugins" / "listener.py", self.plugin)
        self.plugin.chmod(0o755)
        self.heard_file = self.root / "heard.jsonl"

    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        return {
            **kept, "HOME": str(self.home), "PATH": f"{BIN}:{os.environ['PATH']}", "HOOKLINE_DAEMON": "off",
            "TERM": "xterm-256color", "XONSH_HISTORY_BACKEND": "json", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip

    def listen(self, *events: str, mode: str = "blocking") -> House:
        """The plugin hears these events; all of the shell's when none is named."""
        self.hook_config = [{"event": event, "mode": mode} for event in events or SHELL_EVENTS]
        return self

    def write(self) -> None:
        rules = {"hook_config": self.hook_config, "answers": self.answers}
        (self.root / "rules.json").write_text(json.dumps(rules))
        # The handshake is remembered by the plugin's content; another set of hooks is another plugin.
        digest = f"\n# {json.dumps(self.hook_config)}\n"
        text = (HERE / "plugins" / "listener.py").read_text().replace("/usr/bin/env python3", sys.executable)
        self.plugin.write_text(text + digest)
        (self.lash / "plugins.conf").write_text(f"[plugins]\nlistener = {self.plugin}\n" if self.hook_config else "")

    def shell(self, text: str, *, timeout: float = 100, argv: list[str] | None = None) -> Result:
        self.write()
        words = argv or [str(BIN / "hookline"), "shell", "-c", text]
        done = subprocess.run(
            words, cwd=self.work, env=self.environ(), capture_output=True, text=True, timeout=timeout,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Result(done.returncode, done.stdout, done.stderr)

    def heard(self, *names: str) -> list[tuple[str, dict[str, Any]]]:
        """What the plugin was told, in order; only these events when some are named."""
        if not self.heard_file.exists():
            return []
        found = [json.loads(line) for line in self.heard_file.read_text().splitlines()]
        return [(one["event"], one["data"]) for one in found if not names or one["event"] in names]

    def told(self, name: str) -> list[dict[str, Any]]:
        return [data for _event, data in self.heard(name)]

    def log(self) -> list[dict[str, Any]]:
        done = subprocess.run(
            [str(BIN / "hookline"), "log", "--json", "--last", "500"], cwd=self.work, env=self.environ(),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        text = done.stdout.strip()
        return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
