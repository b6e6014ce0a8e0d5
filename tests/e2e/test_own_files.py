"""Hooks of an agent's own files, which are sources of hookline's too: the real agent runs them, and hookline does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.world import World

#: Agent -> its dialect and its file, from the home directory and from the project.
OWN = {"claude-code": ("claude", ".claude/settings.json"), "qwen-code": ("qwen", ".qwen/settings.json")}


def add_hook(file: Path, word: str) -> None:
    """Beside what the file has already."""
    tree = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    hook = {"type": "command", "command": f"echo {word} >> counted.txt"}
    tree.setdefault("hooks", {}).setdefault("PreToolUse", []).append({"matcher": ".*", "hooks": [hook]})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(tree), encoding="utf-8")


@pytest.mark.gate
def test_hooks_of_the_agents_own_files_run_once_though_they_are_sources(world: World) -> None:
    if world.agent.name not in OWN:
        pytest.skip("the other agents' own files are tried in tests/cli/test_own_files.py")
    dialect, file = OWN[world.agent.name]
    add_hook(world.home / file, "own")
    add_hook(world.project / file, "project")
    mine = world.home / ".config/hookline/hookline.toml"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text(f'[[source]]\ndialect = "{dialect}"\npath = "~/{file}"\n', encoding="utf-8")
    third = '\n[[hook]]\nname = "third"\non = "PreToolUse"\nshell = "echo third >> counted.txt"\n'
    world.hooks(f'[[source]]\ndialect = "{dialect}"\npath = "../{file}"\n{third}')
    session = world.run(environ=world.agent.project_environ)
    assert world.has("proof.txt"), session
    assert sorted(world.lines("counted.txt")) == ["own", "project", "third"], session
