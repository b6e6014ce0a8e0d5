"""A home and a project of one's own, the real command in them, and plugins as people publish them."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hookline.cli import main

#: Refuses what has "forbidden" in it, in the words of Claude Code's hooks.
GUARD = '#!/bin/sh\nif grep -q forbidden; then echo "a pack refuses" >&2; exit 2; fi\n'
HOOK = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"'}
BEFORE_BASH = {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}


def plugin(name: str = "guarded", **more: str) -> dict[str, str]:
    """Path -> text of the usual plugin; files with a first line ``#!`` are programs."""
    manifest = {"name": name, "version": "1.0.0", "description": "refuses"}
    return {
        ".claude-plugin/plugin.json": json.dumps(manifest),
        "hooks/hooks.json": json.dumps({"hooks": BEFORE_BASH}),
        "hooks/guard.sh": GUARD,
        **more,
    }


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith(("#!", ": <<")) else 0o644)
    return folder


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Box:
    """Everything of one person."""

    home: Path
    project: Path
    call: Callable[..., Result]

    def __call__(self, *words: str, stdin: str = "") -> Result:
        return self.call(*words, stdin=stdin)

    @property
    def config(self) -> Path:
        return self.home / ".config/hookline/hookline.toml"

    @property
    def work(self) -> Path:
        """The working copy of the only pack."""
        (found,) = (self.home / ".local/share/hookline/packs").glob("*/work")
        return found

    def fire(self, command: str, **data: Any) -> Any:
        given = {"tool_name": "Bash", "tool_input": {"command": command}, **data}
        return self("fire", "PreToolUse", "--json", "--data", json.dumps(given)).json

    def effect(self, command: str = "forbidden") -> str:
        return str(self.fire(command)["effect"])


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Box:
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project / ".git"):
        folder.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("XDG_", "HOOKLINE_", "GIT_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOOKLINE_DAEMON", "off")
    monkeypatch.chdir(project)

    def call(*words: str, stdin: str = "") -> Result:
        capsys.readouterr()
        code = main(list(words))
        printed = capsys.readouterr()
        assert "bug in hookline" not in printed.err, printed.err
        return Result(code, printed.out, printed.err)

    return Box(home, project, call)


def git(folder: Path, *words: str) -> str:
    own = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
    }
    who = (
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@localhost",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "protocol.file.allow=always",
    )
    done = subprocess.run(["git", *who, *words], cwd=folder, env=own, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder: Path, files: Mapping[str, str], tag: str = "v1") -> str:
    """A commit of these files, with a tag; its id."""
    write(folder, files)
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "files")
    git(folder, "tag", "-a", "-m", tag, tag)
    git(folder, "update-server-info")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and its address on this machine."""
    root = tmp_path / "served"
    root.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name there
            pass

        def do_GET(self) -> None:
            if self.path.startswith("/moved/"):
                self.send_response(302)
                port = self.headers["Host"].rpartition(":")[2]
                self.send_header("Location", f"http://localhost:{port}/{self.path.removeprefix('/moved/')}")
                self.end_headers()
                return
            super().do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()
