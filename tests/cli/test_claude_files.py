"""A project's Claude Code file in the hands of the real command."""

from __future__ import annotations

import json
import os
from typing import Any

from tests.patience import eventually


def write(project: Any, event: str, **hook: Any) -> None:
    tree = {"hooks": {event: [{"hooks": [{"type": "command", **hook}]}]}}
    project.write(".claude/settings.json", json.dumps(tree))


def test_an_async_hook_is_not_waited_for_without_the_daemon(project: Any) -> None:
    pipe = project.path / "pipe"
    os.mkfifo(pipe)
    write(project, "PreToolUse", command="read -r line < pipe; echo $line > done", **{"async": True})
    sent = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    words = ("hook", "--agent", "codex", "--dialect", "claude", "--config", ".claude/settings.json")
    answer = project.run(*words, stdin=json.dumps(sent), HOOKLINE_DAEMON="off")
    assert (answer.code, answer.out) == (0, "")
    pipe.write_text("heard\n")  # the hook waits for it, and nobody waited for the hook
    assert eventually((project.path / "done").exists)


def test_an_async_hook_that_nobody_waits_for_is_ended_when_its_time_is_up(project: Any) -> None:
    write(project, "PreToolUse", command="echo $$ > pid; sleep 1000", timeout=1, **{"async": True})
    project.fire("PreToolUse", {"tool_name": "Bash"}, "--dialect", "claude", "--config", ".claude/settings.json")
    pid = project.path / "pid"
    assert eventually(lambda: pid.exists() and pid.read_text())
    assert eventually(lambda: not os.path.exists(f"/proc/{pid.read_text().strip()}"))


def test_hooks_in_the_front_matter_of_a_skill_or_an_agent_are_reported(project: Any) -> None:
    write(project, "PreToolUse", command="true")
    project.write(".claude/skills/deploy/SKILL.md", "---\nname: deploy\nhooks:\n  PreToolUse: []\n---\nText\n")
    project.write(".claude/skills/plain/SKILL.md", "---\nname: plain\n---\nhooks:\n")
    project.write(".claude/agents/reviewer.md", "---\nname: reviewer\nhooks: {}\n---\n")
    problems = project.run("check", ".claude/settings.json", "--json").json["problems"]
    files = [os.path.relpath(one["file"], project.path) for one in problems]
    assert files == [".claude/skills/deploy/SKILL.md", ".claude/agents/reviewer.md"]
    assert {one["severity"] for one in problems} == {"warning"}


def test_what_only_claude_code_does_is_reported_by_check(project: Any) -> None:
    write(project, "PreToolUse", command="true", statusMessage="Checking", once=True)
    problems = project.run("check", ".claude/settings.json", "--json").json["problems"]
    assert [one["pointer"].rpartition(".")[2] for one in problems] == ["statusMessage", "once"]


def test_no_agent_is_said_to_lack_an_event_of_the_hooks_that_it_runs_itself(project: Any) -> None:
    """Gemini CLI needs an entry for the hooks of Claude Code's file; Claude Code runs them without one."""
    own = project.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[hook]]\nname = "own"\non = "PreToolUse"\nshell = "true"\non_failure = "deny"\n')
    project.run("deploy", "--agent", "claude-code", "--agent", "gemini-cli")
    write(project, "PostToolUse", command="true")
    project.write(".hookline/hookline.toml", '[[source]]\ndialect = "claude"\n')
    project.run("trust", "--yes")
    found = [one["finding"] for one in project.run("check", "--json").json["problems"]]
    assert found == ["Gemini CLI does not call hookline for PostToolUse (hook true)"]
