"""The page about teams, done by two people with a home each: one shares, the other clones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.test_pages import FENCE, ROOT

PAGE = (ROOT / "docs/how-to/share-with-your-team.md").read_text("utf-8")
BLOCKS = [found[1] for found in FENCE.findall(PAGE) if found[0] == "sh"]
HOOKS = next(found[1] for found in FENCE.findall(PAGE) if found[0] == "toml")
#: What each agent calls the event before a shell command, and its payload.
_CLAUDES: tuple[str, dict[str, object]] = (
    "PreToolUse",
    {"tool_name": "Bash", "tool_input": {"command": "git push --force"}},
)
AGENTS: dict[str, tuple[str, dict[str, object]]] = {
    "claude-code": _CLAUDES,
    "codex": _CLAUDES,
    "qwen-code": ("PreToolUse", {**_CLAUDES[1], "tool_name": "run_shell_command"}),
    "gemini-cli": ("BeforeTool", {**_CLAUDES[1], "tool_name": "run_shell_command"}),
    "opencode": (
        "tool.execute.before",
        {"input": {"tool": "bash", "sessionID": "1"}, "output": {"args": {"command": "git push --force"}}},
    ),
}


class Person:
    def __init__(self, folder: Path) -> None:
        self.home, self.repository = folder, folder / "repository"
        folder.mkdir()
        tools = folder / "bin"
        tools.mkdir()
        (tools / "hookline").write_text(f'#!/bin/sh\nexec {sys.executable} -m hookline "$@"\n')
        (tools / "hookline").chmod(0o700)
        self.environ = {"HOME": str(folder), "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin", "HOOKLINE_DAEMON": "off"}

    def run(self, *command: str, stdin: str = "", path: str = "") -> subprocess.CompletedProcess[str]:
        environ = {**self.environ, **({"PATH": path} if path else {})}
        return subprocess.run(
            command,
            cwd=self.repository,
            env=environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def type(self, block: str) -> str:
        shown = ""
        for line in block.splitlines():
            done = self.run("sh", "-c", line + (" --yes" if line == "hookline trust" else ""))
            assert done.returncode == 0, (line, done)
            shown += done.stdout
        return shown

    def event(self, agent: str, name: str, **fields: object) -> subprocess.CompletedProcess[str]:
        payload = {"session_id": f"{agent}-1", "cwd": str(self.repository), "hook_event_name": name, **fields}
        return self.run("hookline", "hook", "--agent", agent, "--event", name, stdin=json.dumps(payload))


@pytest.fixture
def people(tmp_path: Path) -> tuple[Person, Person]:
    first, colleague = Person(tmp_path / "first"), Person(tmp_path / "colleague")
    (first.repository / ".hookline").mkdir(parents=True)
    (first.repository / ".hookline/hookline.toml").write_text(HOOKS)
    assert "Wrote .hookline/.gitignore" in first.type(BLOCKS[0])
    identity = ("-c", "user.name=first", "-c", "user.email=first@example.org")
    assert first.run("git", *identity, "commit", "-qm", "Share hooks").returncode == 0
    colleague.repository.parent.mkdir(exist_ok=True)
    subprocess.run(
        ["git", "clone", "-q", str(first.repository), str(colleague.repository)],
        check=True,
        env={**os.environ, **colleague.environ},
    )
    return first, colleague


@pytest.mark.parametrize("agent", AGENTS)
def test_a_colleague_is_told_in_the_agent_and_then_the_hooks_guard(people: tuple[Person, Person], agent: str) -> None:
    _, colleague = people
    name, push = AGENTS[agent]
    started = colleague.event(agent, "SessionStart", source="startup")
    assert "hookline.toml: not approved" in started.stdout
    assert "hookline trust" in started.stdout
    assert "Force pushes" not in (before := colleague.event(agent, name, **push)).stdout + before.stderr
    colleague.type(BLOCKS[1])
    assert "Force pushes" in (after := colleague.event(agent, name, **push)).stdout + after.stderr


def test_without_hookline_the_registered_line_refuses_and_names_the_command_that_installs_it(
    people: tuple[Person, Person],
) -> None:
    _, colleague = people
    settings = json.loads((colleague.repository / ".claude/settings.json").read_text("utf-8"))
    line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    refused = colleague.run("sh", "-c", line, stdin="{}", path="/usr/bin:/bin")
    assert refused.returncode == 2
    assert "install it again (pip install hookline; from a clone: pip install CLONE)" in refused.stderr
    assert "install it again (pip install hookline; from a clone: pip install CLONE)" in PAGE


def test_the_file_of_one_person_is_not_committed(people: tuple[Person, Person]) -> None:
    first, colleague = people
    (colleague.repository / ".hookline/local.toml").write_text('[[hook]]\nname = "no-force-push"\nenabled = false\n')
    assert colleague.run("git", "status", "--short").stdout == ""
    assert colleague.type(BLOCKS[-1]) == ".hookline/local.toml\n"
    committed = first.run("git", "ls-files").stdout.split()
    assert committed == [".claude/settings.json", ".hookline/.gitignore", ".hookline/hookline.toml"]


def test_a_hook_that_changes_in_a_pull_refuses_until_it_is_approved_again(people: tuple[Person, Person]) -> None:
    _, colleague = people
    colleague.type(BLOCKS[1])
    file = colleague.repository / ".hookline/hookline.toml"
    file.write_text(file.read_text().replace("a review", "two reviews"))
    harmless = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    refused = colleague.event("claude-code", "PreToolUse", **harmless)
    assert "hookline trust" in refused.stdout + refused.stderr
    assert '"deny"' in refused.stdout or refused.returncode == 2
    colleague.type("hookline trust")
    assert "deny" not in colleague.event("claude-code", "PreToolUse", **harmless).stdout
