"""A source that is the agent's own file: the agent runs its hooks, and hookline runs them for all others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PAYLOAD = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}


def settings(file: Path, log: Path) -> Path:
    """A hook that leaves a mark."""
    hook = {"type": "command", "command": f"echo ran >> '{log}'"}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}), encoding="utf-8")
    return file


def own_source(project, file: str, dialect: str = "claude") -> None:
    """In the person's own configuration."""
    where = project.home / ".config" / "hookline" / "hookline.toml"
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(f'[[source]]\ndialect = "{dialect}"\npath = "{file}"\n', encoding="utf-8")


def ran(project, agent: str, log: Path, **environ: str) -> bool:
    log.unlink(missing_ok=True)
    payload = json.dumps({**PAYLOAD, "cwd": str(project.path)})
    done = project.run("hook", "--agent", agent, "--event", "PreToolUse", "--cold", stdin=payload, **environ)
    assert done.code == 0, done.err
    return log.exists()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_hooks_of_the_persons_own_file_are_left_to_its_agent_and_run_for_the_others(project, log):
    settings(project.home / ".claude" / "settings.json", log)
    own_source(project, "~/.claude/settings.json")
    assert not ran(project, "claude-code", log)
    assert ran(project, "codex", log)
    assert ran(project, "qwen-code", log)


@pytest.mark.parametrize(
    ("agent", "dialect", "file"),
    [
        ("claude-code", "claude", ".claude/settings.json"), ("letta-code", "letta", ".letta/settings.json"),
        ("qwen-code", "qwen", ".qwen/settings.json"), ("codex", "codex", ".codex/hooks.json"),
    ],
)  # fmt: skip
def test_every_agent_runs_its_own_file_itself(project, log, agent, dialect, file):
    settings(project.home / file, log)
    own_source(project, f"~/{file}", dialect)
    assert not ran(project, agent, log)
    assert ran(project, "copilot-cli", log)


def test_a_source_without_a_path_is_the_same_file(project, log):
    settings(project.home / ".claude" / "settings.json", log)
    own_source(project, "~/.claude/settings.json")
    where = project.home / ".config" / "hookline" / "hookline.toml"
    where.write_text('[[source]]\ndialect = "claude"\n', encoding="utf-8")
    assert not ran(project, "claude-code", log)
    assert ran(project, "codex", log)


def test_a_link_to_it_is_the_same_file(project, log):
    settings(project.home / ".claude" / "settings.json", log)
    (project.home / "hooks.json").symlink_to(project.home / ".claude" / "settings.json")
    own_source(project, "~/hooks.json")
    assert not ran(project, "claude-code", log)


def test_a_projects_file_is_left_to_its_agent_where_that_was_started_in_it(project, log):
    settings(project.path / ".claude" / "settings.json", log)
    project.write(".hookline/hookline.toml", '[[source]]\ndialect = "claude"\npath = "../.claude/settings.json"\n')
    assert project.run("trust", "--yes").code == 0
    assert not ran(project, "claude-code", log)
    assert not ran(project, "claude-code", log, CLAUDE_PROJECT_DIR=str(project.path))
    assert ran(project, "claude-code", log, CLAUDE_PROJECT_DIR=str(project.home))
    assert ran(project, "codex", log)


def test_a_file_that_the_agent_does_not_read_runs_for_it_too(project, log):
    settings(project.home / "guards" / "settings.json", log)
    own_source(project, "~/guards/settings.json")
    assert ran(project, "claude-code", log)


def test_no_variable_makes_a_guard_of_ones_own_pass_for_the_agents(project, log):
    """A repository's settings can set variables for the hooks of its agent."""
    guards = settings(project.home / "guards" / "settings.json", log).parent
    own_source(project, "~/guards/settings.json")
    assert ran(project, "claude-code", log, CLAUDE_CONFIG_DIR=str(guards))
    inner = settings(project.home / "other" / ".claude" / "settings.json", log)
    own_source(project, str(inner))
    assert ran(project, "claude-code", log, CLAUDE_PROJECT_DIR=str(project.home / "other"))


def test_where_the_agent_reads_another_directory_the_usual_file_is_not_left_to_it(project, log):
    settings(project.home / ".claude" / "settings.json", log)
    own_source(project, "~/.claude/settings.json")
    assert ran(project, "claude-code", log, CLAUDE_CONFIG_DIR=str(project.home / "work"))


def test_what_is_left_to_the_agent_is_said_where_one_looks(project, log):
    file = settings(project.home / ".claude" / "settings.json", log)
    own_source(project, "~/.claude/settings.json")
    (hook,) = project.run("explain", "PreToolUse", "--agent", "claude-code", "--json").json["hooks"]
    assert hook["why_not"] == f"claude-code runs it itself, from {file}"
    (hook,) = project.run("explain", "PreToolUse", "--agent", "codex", "--json").json["hooks"]
    assert hook["would_run"]
    ran(project, "claude-code", log)
    (outcome,) = json.loads(project.run("log", "--json").out)["outcomes"]
    assert (outcome["status"], "runs it itself" in outcome["error"]) == ("skipped", True)


def test_a_file_that_is_named_on_the_command_line_runs_whoever_asks(project, log):
    file = settings(project.home / ".claude" / "settings.json", log)
    words = ("hook", "--agent", "claude-code", "--event", "PreToolUse", "--cold", "--dialect", "claude", "--config")
    assert project.run(*words, str(file), stdin=json.dumps(PAYLOAD)).code == 0
    assert log.exists()
