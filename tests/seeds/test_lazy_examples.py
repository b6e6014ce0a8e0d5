"""Every example of lazy-harness's document, run as it stands, from the places the document names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent / "lazy"


class Harness:
    """A home directory with ``.config/lazy-harness/config.toml`` and its ``hooks/``."""

    def __init__(self, tmp: Path, config: str) -> None:
        self.cwd, self.home = tmp / "project", tmp / "home"
        self.config = self.home / ".config" / "lazy-harness"
        (self.config / "hooks").mkdir(parents=True)
        self.cwd.mkdir()
        shutil.copy(EXAMPLES / config, self.config / "config.toml")
        shutil.copy(EXAMPLES / "my_hook.txt", self.config / "hooks" / "my_hook.py")
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "HOOKLINE_STATE_DIR": str(tmp / "state"),
            "HOOKLINE_CONFIG_DIR": str(tmp / "config"),
            "HOOKLINE_TRUST": "all",
            "HOOKLINE_DAEMON": "off",
        }

    def run(self, *words: str) -> tuple[int, dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, "-m", "hookline", *words, "--dialect", "lazy", "--json"],
            cwd=self.cwd, env=self.environ, capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        assert done.stdout.startswith("{"), done.stderr
        return done.returncode, json.loads(done.stdout)


def test_the_documents_own_hook_says_hello_at_the_start_of_a_session(tmp_path: Path) -> None:
    harness = Harness(tmp_path, "my_hook.toml")
    code, told = harness.run("fire", "session_start", "--data", '{"source": "startup"}')
    assert code == 0
    assert [one["text"] for one in told["context"] if one["hook"] == "my_hook"] == ["Hello from my_hook"]


def test_every_name_of_the_declaration_is_known(tmp_path: Path) -> None:
    harness = Harness(tmp_path, "declaration.toml")
    code, told = harness.run("check")
    assert code == 0
    assert [problem for problem in told["problems"] if problem["severity"] == "error"] == []


def test_an_unknown_name_is_reported_with_the_places_that_were_searched(tmp_path: Path) -> None:
    harness = Harness(tmp_path, "my_hook.toml")
    (harness.config / "hooks" / "my_hook.py").unlink()
    code, told = harness.run("check")
    assert code == 78
    problem = next(one for one in told["problems"] if one["severity"] == "error")
    assert problem["pointer"] == "$.hooks.session_start.scripts[1]"
    assert "my_hook" in problem["finding"]
    assert str(harness.config / "hooks") in problem["finding"]


def test_the_settings_that_the_document_wires_by_hand_run_at_the_session_s_end(tmp_path: Path) -> None:
    harness = Harness(tmp_path, "declaration.toml")
    program = harness.home / ".local" / "bin" / "lh"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\ncat > "$HOME/seen.json"\necho "$@" > "$HOME/seen.txt"\n')
    program.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "fire", "SessionEnd", "--dialect", "claude", "--config",
         str(EXAMPLES / "settings.json"), "--data", '{"reason": "clear"}', "--json"],
        cwd=harness.cwd, env=harness.environ, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (harness.home / "seen.txt").read_text() == "hook session-end\n"
    assert json.loads((harness.home / "seen.json").read_text())["reason"] == "clear"
