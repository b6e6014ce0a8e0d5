"""A program on the Claude Agent SDK, with the agent that it brings, against the scripted model: ``make sdk``."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.sdk import Hooks, claude_agent_hooks
from hookline.testing.model_server import ModelServer

sdk = pytest.importorskip("claude_agent_sdk", reason="the package brings 350 MB; make sdk installs it")
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelServer]:
    call = {"name": "Bash", "arguments": {"command": "echo original > proof; echo hunter2", "description": "write"}}
    with ModelServer([{"tool": call, "match": '"name": "Bash"'}, {"text": "done", "repeat": True}]) as running:
        monkeypatch.setenv("HOOKLINE_STATE_DIR", str(tmp_path / "state"))
        yield running


class Program:
    def __init__(self, server: ModelServer, tmp_path: Path, toml: str) -> None:
        self.project = tmp_path / "project"
        self.project.mkdir()
        file = tmp_path / "hookline.toml"
        file.write_text(toml)
        hooks = Hooks(config=[file], cwd=self.project, agent="claude-code")
        options = sdk.ClaudeAgentOptions(
            cwd=self.project, allowed_tools=["Bash"], hooks=claude_agent_hooks(hooks=hooks), model="claude-sonnet-4-5",
            env={
                **server.environ(), "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
            },
        )  # fmt: skip
        try:
            asyncio.run(self._run(options))
        finally:
            hooks.close()

    async def _run(self, options: Any) -> None:
        async for message in sdk.query(prompt="write the proof", options=options):
            self.last = message

    @property
    def proof(self) -> str:
        file = self.project / "proof"
        return file.read_text().strip() if file.exists() else ""


def _hook(event: str, shell: str, more: str = "") -> str:
    return f"[[hook]]\nname = 'h'\non = '{event}'\nshell = '''{shell}'''\n{more}\n"


def _asked(server: ModelServer) -> list[str]:
    return [request.text for request in server.requests if "write the proof" in request.text]


def test_a_hook_without_an_opinion_lets_the_tool_run(server: ModelServer, tmp_path: Path) -> None:
    assert Program(server, tmp_path, _hook("PreToolUse", "true")).proof == "original"
    assert "hunter2" in _asked(server)[-1]


def test_a_deny_keeps_the_tool_from_running(server: ModelServer, tmp_path: Path) -> None:
    assert Program(server, tmp_path, _hook("PreToolUse", "echo not on Fridays >&2; exit 2")).proof == ""
    assert "not on Fridays" in _asked(server)[-1]


def test_a_rewritten_input_is_what_runs(server: ModelServer, tmp_path: Path) -> None:
    rewrite = """echo '{"data": {"tool_input": {"command": "echo rewritten > proof"}}}'"""
    assert Program(server, tmp_path, _hook("PreToolUse", rewrite)).proof == "rewritten"


def test_a_redacted_output_is_all_that_the_model_reads(server: ModelServer, tmp_path: Path) -> None:
    redact = """sed 's/hunter2/redacted/g' | python3 -c '
import json, sys
print(json.dumps({"data": {"tool_output": json.load(sys.stdin)["data"]["tool_output"]}}))'"""
    assert Program(server, tmp_path, _hook("PostToolUse", redact)).proof == "original"
    assert "redacted" in _asked(server)[-1]
    assert "; echo hunter2" in _asked(server)[-1]
    assert _asked(server)[-1].replace("; echo hunter2", "").count("hunter2") == 0


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "PostToolUse"])
def test_text_of_hooks_reaches_the_model(event: str, server: ModelServer, tmp_path: Path) -> None:
    Program(server, tmp_path, _hook(event, "echo today is Friday", "inject = 'context'"))
    assert "today is Friday" in _asked(server)[-1]


def test_a_denied_prompt_never_reaches_the_model(server: ModelServer, tmp_path: Path) -> None:
    program = Program(server, tmp_path, _hook("UserPromptSubmit", "echo no prompts today >&2; exit 2"))
    assert (program.proof, _asked(server)) == ("", [])


def test_a_refused_stop_makes_the_agent_go_on(server: ModelServer, tmp_path: Path) -> None:
    once = "test -e stopped && exit 0; touch stopped; echo one more thing >&2; exit 2"
    Program(server, tmp_path, _hook("Stop", once))
    assert "one more thing" in _asked(server)[-1]


def test_a_guard_that_cannot_run_refuses(server: ModelServer, tmp_path: Path) -> None:
    guard = "[[hook]]\nname = 'guard'\non = 'PreToolUse'\nrun = './gone'\non_failure = 'deny'\n"
    assert Program(server, tmp_path, guard).proof == ""
    assert os.listdir(tmp_path / "state")


def test_a_guard_that_cannot_be_loaded_refuses(server: ModelServer, tmp_path: Path) -> None:
    assert Program(server, tmp_path, _hook("PreToolUse", "true", "on_failure = 'never'")).proof == ""
    assert "hookline failed" in _asked(server)[-1]


def test_the_example_of_the_manual_works(server: ModelServer, tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "agent-sdks.md").read_text()
    source = page.partition("`with_claude.py`")[2].partition("```python\n")[2].partition("```")[0]
    (tmp_path / "with_claude.py").write_text(source)
    environ = {
        **os.environ, **server.environ(), "HOME": str(tmp_path), "ANTHROPIC_MODEL": "claude-sonnet-4-5",
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }  # fmt: skip
    (tmp_path / "config" / "hookline").mkdir(parents=True)
    guard = _hook("PreToolUse", "echo a person pushes >&2; exit 2")
    (tmp_path / "config" / "hookline" / "hookline.toml").write_text(guard)
    done = subprocess.run([sys.executable, "with_claude.py"], cwd=tmp_path, env=environ, timeout=120, check=False)
    assert (done.returncode, (tmp_path / "proof").exists()) == (0, False)
    assert any("a person pushes" in request.text for request in server.requests)
