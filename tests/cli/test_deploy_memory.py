"""``hookline deploy --memory``: the MCP server in agents' own files, and out of them again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import Project

from hookline.core.agents import all_agents
from hookline.deploy.memory_server import NAME, plan_server

CLAUDE = '{\n  // mine\n  "numStartups": 3,\n  "mcpServers": {"other": {"command": "x"}}\n}\n'
CODEX = 'model = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x"\n\n[features]\nplugins = false\n'


def test_it_is_registered_once_and_undeploy_gives_the_bytes_back(project: Project) -> None:
    files = {project.home / ".claude.json": CLAUDE, project.home / ".codex/config.toml": CODEX}
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    words = ("deploy", "--memory", "--agent", "claude-code", "--agent", "codex")
    told = project.run(*words, "--json").json["memory"]
    assert [(row["agent"], row["changed"], row["refused"]) for row in told] == [
        ("claude-code", True, ""),
        ("codex", True, ""),
    ]
    assert "// mine" in (project.home / ".claude.json").read_text()
    codex = tomllib.loads((project.home / ".codex/config.toml").read_text())
    assert set(codex["mcp_servers"]) == {"other", NAME}
    line = [codex["mcp_servers"][NAME]["command"], *codex["mcp_servers"][NAME]["args"]]
    assert line[1:3] == ["-I", "-m"]
    skills = [project.home / folder / NAME / "SKILL.md" for folder in (".claude/skills", ".codex/skills")]
    assert all(skill.exists() for skill in skills)
    again = project.run(*words, "--json").json["memory"]
    assert [row["changed"] for row in again] == [False, False]
    assert project.run("undeploy").code == 0
    assert {path: path.read_text() for path in files} == files
    assert not any(skill.parent.exists() for skill in skills)


def test_the_registered_command_answers(project: Project) -> None:
    project.run("deploy", "--memory", "--agent", "claude-code")
    server = json.loads((project.home / ".claude.json").read_text())["mcpServers"][NAME]
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    done = subprocess.run(
        [server["command"], *server["args"]], cwd=project.path, env={"HOME": str(project.home), "PATH": "/usr/bin:/bin"},
        input=json.dumps(hello) + "\n", capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == NAME
    assert project.run("undeploy").code == 0
    assert not (project.home / ".claude.json").exists()


def test_what_fits_the_first_prompt_is_recalled_without_a_line_written_by_hand(project: Project) -> None:
    config = project.home / ".config/hookline/hookline.toml"
    config.parent.mkdir(parents=True)
    config.write_text('# mine\n[hooks.user_prompt_submit]\nscripts = [\n  "mine",  # first\n]\n')
    (config.parent / "hooks").mkdir()
    (config.parent / "hooks/mine.py").write_text("")
    project.run("memory", "add", "Use Postgres for the job queue")
    words = ("deploy", "--memory", "--agent", "claude-code", "--json")
    told = project.run(*words).json
    assert told["recall"] == {"path": str(config), "changed": True}
    assert "UserPromptSubmit" in told["agents"][0]["events"]
    assert config.read_text() == '# mine\n[hooks.user_prompt_submit]\nscripts = ["mine", "recall"]\n'
    assert project.run(*words).json["recall"]["changed"] is False
    settings = json.loads((project.home / ".claude/settings.json").read_text())
    line = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    prompt = {
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(project.path), "prompt": "Which job queue is it?",
    }  # fmt: skip
    done = subprocess.run(
        ["sh", "-c", line], cwd=project.path, env={"HOME": str(project.home), "PATH": "/usr/bin:/bin"},
        input=json.dumps(prompt), capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    assert "Use Postgres" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_a_file_that_cannot_be_read_is_left_alone(project: Project) -> None:
    file = project.home / ".claude.json"
    file.write_text("{ no json")
    told = project.run("deploy", "--memory", "--agent", "claude-code", "--json")
    assert told.code == 1
    assert ".claude.json" in told.json["memory"][0]["refused"]
    assert file.read_text() == "{ no json"


@pytest.mark.parametrize("data", [b'{"name": "J\xf6rg"}', b'{"a": 1}'.decode().encode("utf-16"), None])
def test_no_byte_of_a_file_that_is_no_text_is_changed(project: Project, data: bytes | None) -> None:
    """A letter in another encoding would be lost, and a pipe is another program's."""
    file = project.home / ".claude.json"
    file.write_bytes(data) if data is not None else os.mkfifo(file)
    for words in (("deploy", "--memory", "--agent", "claude-code"), ("undeploy", "--agent", "claude-code")):
        told = project.run(*words)
        assert (told.code, ".claude.json is not" in told.out + told.err) == (1, True)
        assert file.is_fifo() if data is None else file.read_bytes() == data


def test_a_file_keeps_its_mode(project: Project) -> None:
    file = project.home / ".claude.json"
    file.write_text('{"a": 1}')
    file.chmod(0o640)
    assert project.run("deploy", "--memory", "--agent", "claude-code").code == 0
    assert (NAME in file.read_text(), file.stat().st_mode & 0o777) == (True, 0o640)


def test_a_dry_run_writes_nothing(project: Project) -> None:
    told = project.run("deploy", "--memory", "--agent", "codex", "--dry-run")
    assert "would change" in told.out
    assert not (project.home / ".codex").exists()


@pytest.mark.parametrize("name", [agent.name for agent in all_agents().values() if agent.servers[0]])
@pytest.mark.parametrize("before", ["", "own"])
def test_every_agent_gets_an_entry_that_goes_again(name: str, before: str, tmp_path: Path) -> None:
    agent = all_agents()[name]
    path = tmp_path / agent.servers[0]
    own = "a = 1\n" if path.suffix == ".toml" else '{"a": 1}\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    if before:
        path.write_text(own)
    added = plan_server(agent, str(tmp_path), {})
    assert added.after is not None
    assert sys.executable in added.after
    path.write_text(added.after)
    assert not plan_server(agent, str(tmp_path), {}).changes
    removed = plan_server(agent, str(tmp_path), {}, remove=True).after
    assert removed == (own if before else None)
