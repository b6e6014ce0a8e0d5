"""An installation that is upgraded in place: first the version before the house was rebuilt, then today's."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
#: The last commit before the modules moved.
BEFORE = "4dc766f"


@functools.cache
def archive() -> bytes | None:
    """The package as it was; None where the history does not reach back."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "archive", BEFORE, "src/hookline"], capture_output=True, check=False, timeout=60
    )
    return done.stdout if done.returncode == 0 else None


class Installation:
    """A machine with a home, a project and an environment of its own, in which one version is installed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.runtime, self.project = root / "home", root / "run", root / "project"
        for folder in (self.home, self.runtime, self.project):
            folder.mkdir(mode=0o700)
        (self.project / ".git").mkdir()
        self.site = root / "site"
        self.site.mkdir()
        venv.EnvBuilder(symlinks=True).create(root / "venv")
        self.python = root / "venv/bin/python"
        # The libraries of this environment, but not its hookline: a .pth that a .pth adds is not read.
        libraries = root / f"venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        (libraries / "compat.pth").write_text(f"{self.site}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        self.program = root / "venv/bin/hookline"
        self.program.write_text(
            f"#!{self.python}\nimport sys\nfrom hookline.cli import main\nsys.exit(main())\n", encoding="utf-8"
        )
        self.program.chmod(0o755)
        self.daemons: list[subprocess.Popen[bytes]] = []

    def install_before(self) -> None:
        packed = archive()
        if packed is None:
            pytest.skip(f"the history is too short: commit {BEFORE} is not in it")
        old = self.root / "old"
        old.mkdir()
        with tempfile.TemporaryFile() as file:
            file.write(packed)
            file.seek(0)
            with tarfile.open(fileobj=file) as tar:
                tar.extractall(old, filter="data")
        shutil.rmtree(self.site / "hookline", ignore_errors=True)
        shutil.copytree(old / "src/hookline", self.site / "hookline")

    def upgrade(self) -> None:
        """Today's package in the place of the other, as an installer lays it."""
        shutil.rmtree(self.site / "hookline")
        shutil.copytree(ROOT / "src/hookline", self.site / "hookline", ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, name: str, text: str, *, mode: int = 0o644) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def environ(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8", **more,
        }  # fmt: skip

    def call(self, line: list[str], stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            line, input=stdin, cwd=self.project, env=self.environ(**more), capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def hookline(self, *words: str, stdin: str = "") -> str:
        done = self.call([str(self.program), *words], stdin)
        assert done.returncode in {0, 1}, done
        return done.stdout

    def tree(self, *words: str) -> Any:
        return json.loads(self.hookline(*words, "--json"))

    def start_daemon(self) -> subprocess.Popen[bytes]:
        with open(self.root / "daemon.log", "ab") as log:
            daemon = subprocess.Popen(
                [str(self.program), "daemon", "run"],
                env=self.environ(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.daemons.append(daemon)
        return daemon

    def close(self) -> None:
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()


@pytest.fixture
def machine() -> Iterator[Installation]:
    """In a short directory: the name of a socket has a limit."""
    with tempfile.TemporaryDirectory(prefix="hkl-compat-") as folder:
        made = Installation(Path(folder).resolve())
        try:
            made.install_before()
            yield made
        finally:
            made.close()
