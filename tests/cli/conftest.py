"""A project of one's own, and the real command in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conversation import serve, stage

__all__ = ["serve", "stage"]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Project:
    """A directory with a home, a state and a repository of its own."""

    path: Path
    home: Path

    def write(self, name: str, text: str, *, mode: int = 0o644) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def run(self, *words: str, stdin: str = "", cwd: Path | None = None, **environ: str) -> Result:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **environ}
        done = subprocess.run(
            [sys.executable, "-m", "hookline", *words],
            cwd=cwd or self.path, env=clean, input=stdin, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def fire(self, event: str, data: Any = None, *words: str, **environ: str) -> Result:
        return self.run(
            "fire", event, "--data", json.dumps(data or {}), "--json", *words, cwd=None, stdin="", **environ
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    path, home = tmp_path / "a project", tmp_path / "home"
    path.mkdir()
    home.mkdir()
    (path / ".git").mkdir()
    return Project(path, home)
