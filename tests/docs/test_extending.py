"""What docs/how-to/extend.md says: another package can bring dialects, runners and built-in hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PACKAGE = '''
from dataclasses import dataclass, replace

from hookline.dialects.native import DIALECT as NATIVE
from hookline.core.result import RunResult, Reply


@dataclass(frozen=True)
class Ticket:
    """An action of another package."""


class TicketRunner:
    def run(self, job):
        return RunResult(stdout="a ticket is open")

    def start(self, job):
        return RunResult()

    def close(self):
        pass


class Acme:
    name = "acme"

    def __getattr__(self, name):
        return getattr(NATIVE, name)

    def parse(self, layers, lookup):
        parsed = NATIVE.parse(layers, lookup)
        return replace(parsed, specs=tuple(replace(spec, dialect="acme", action=Ticket()) for spec in parsed.specs))

    def reply_in(self, spec, event, raw):
        return Reply(effect="deny", reason=raw.stdout)


DIALECT = Acme()


def context(event):
    return {"hookSpecificOutput": {"additionalContext": "from another package"}}
'''
ENTRY_POINTS = """
[hookline.dialects]
acme = hookline_acme:DIALECT

[hookline.runners]
Ticket = hookline_acme:TicketRunner

[hookline.builtins]
acme-context = hookline_acme:context
"""


@pytest.fixture
def fire(tmp_path):
    site = tmp_path / "site"
    about = site / "hookline_acme-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hookline-acme\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (site / "hookline_acme.py").write_text(PACKAGE, encoding="utf-8")

    def run(event: str, dialect: str, text: str):
        config = tmp_path / "hooks.toml"
        config.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "hookline", "fire", event, "--dialect", dialect, "--config", str(config), "--json"],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(site)},
            cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        return json.loads(done.stdout)

    return run


def test_a_dialect_and_a_runner_of_another_package_work(fire):
    told = fire("PreToolUse", "acme", '[[hook]]\nname = "t"\non = "PreToolUse"\nrun = "true"\n')
    assert (told["effect"], told["reason"]) == ("deny", "a ticket is open")


def test_a_built_in_hook_of_another_package_can_be_named(fire):
    told = fire("SessionStart", "lazy", '[hooks.session_start]\nscripts = ["acme-context"]\n')
    assert [one["text"] for one in told["context"]] == ["from another package"]
