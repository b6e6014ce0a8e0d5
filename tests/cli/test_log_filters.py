"""``hookline log`` shows whose event it was, and where; ``hooks run`` takes its data as ``fire`` does."""

from __future__ import annotations

import json
from typing import Any

import pytest

HOOK = """
[[hook]]
name = "echo"
on = ["PreToolUse", "Stop"]
shell = "cat"
inject = "context"
"""


@pytest.fixture
def recorded(project: Any) -> Any:
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[[hook]]\nname = "a"\non = "PreToolUse"\nshell = "true"\n')
    other = project.path.parent / "elsewhere"
    other.mkdir()
    for agent, cwd in (("claude-code", project.path), ("codex", project.path), ("codex", other)):
        sent = {
            "hook_event_name": "PreToolUse",
            "session_id": "s",
            "cwd": str(cwd),
            "tool_name": "Bash",
            "tool_input": {},
        }
        project.run("hook", "--agent", agent, stdin=json.dumps(sent), HOOKLINE_DAEMON="off")
    return project


def rows(project: Any, *words: str) -> list[tuple[str, str]]:
    found = [json.loads(line) for line in project.run("log", "--json", *words).out.splitlines()]
    return [(row["agent"], row["cwd"].rpartition("/")[2]) for row in found]


def test_events_are_filtered_by_agent_and_project(recorded: Any) -> None:
    assert rows(recorded, "--agent", "codex") == [("codex", "a project"), ("codex", "elsewhere")]
    assert rows(recorded, "--agent", "claude") == [("claude-code", "a project")]
    assert rows(recorded, "--project", ".") == [("claude-code", "a project"), ("codex", "a project")]
    assert rows(recorded, "--project", "../elsewhere", "--agent", "codex") == [("codex", "elsewhere")]
    assert rows(recorded, "--project", "../else") == []


def test_a_line_names_the_agent_and_the_project(recorded: Any) -> None:
    lines = [line for line in recorded.run("log").out.splitlines() if "PreToolUse" in line]
    assert ["claude-code" in line and "a project" in line for line in lines] == [True, False, False]
    assert "codex" in lines[2]
    assert "elsewhere" in lines[2]


def test_hooks_run_takes_data_as_fire_does(project: Any) -> None:
    project.write("h.toml", HOOK)
    words = ("hooks", "run", "echo", "--config", "h.toml", "--event", "PreToolUse", "--data")
    done = project.run(*words, '{"tool_name": "Bash", "tool_input": {"command": "ls -la"}}')
    assert "ls -la" in done.out
    project.write("data.json", '{"tool_name": "Bash", "tool_input": {"command": "pwd"}}')
    assert "pwd" in project.run(*words, "@data.json").out
    assert "whoami" in project.run(*words, "-", stdin='{"tool_name": "Bash", "tool_input": {"command": "whoami"}}').out
