"""Whether an agent would run what is registered, as far as its own files tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.core.agents import all_agents
from hookline.deploy.agent_trust import TrustContext, trust_checks
from hookline.deploy.requirements import AgentFile


def states(tmp_path: Path, agent: str, scope: Any = "user", **files: Any) -> list[str]:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    project.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        file = home / name.replace("__", "/").replace("_json", ".json").replace("dot", ".").replace("_toml", ".toml")
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        file.write_text(text.replace("PROJECT", str(project)))
    target = all_agents()[agent]
    path = target.config_path(scope, str(project), str(home), {})
    assert path is not None
    found = trust_checks(
        AgentFile(agent=target, scope=scope, path=path), TrustContext(project=str(project), home=str(home), environ={})
    )
    return [one.state for one in found]


def test_gemini_runs_no_hook_in_a_folder_that_it_does_not_trust(tmp_path: Path) -> None:
    assert states(tmp_path, "gemini-cli") == ["untrusted"]
    assert states(tmp_path, "gemini-cli", dotgemini__trustedFolders_json={"PROJECT": "TRUST_FOLDER"}) == ["trusted"]
    assert states(tmp_path, "gemini-cli", dotgemini__trustedFolders_json={"PROJECT": "DO_NOT_TRUST"}) == ["untrusted"]
    assert states(tmp_path, "gemini-cli", dotgemini__trustedFolders_json={"PROJECT/x": "TRUST_PARENT"}) == ["trusted"]
    settings = {"security": {"folderTrust": {"enabled": False}}}
    assert states(tmp_path, "gemini-cli", dotgemini__settings_json=settings) == ["trusted"]


@pytest.mark.parametrize(
    ("agent", "file", "content"),
    [
        ("claude-code", "dotclaude__settings_json", {"disableAllHooks": True}),
        ("qwen-code", "dotqwen__settings_json", {"disableAllHooks": True}),
        ("gemini-cli", "dotgemini__settings_json", {"hooksConfig": {"enabled": False}}),
        ("letta-code", "dotletta__settings_json", {"hooks": {"disabled": True}}),
        ("copilot-cli", "dotcopilot__hooks__hookline_json", {"disableAllHooks": True}),
        ("codex", "dotcodex__config_toml", "[features]\nhooks = false\n"),
    ],
)
def test_a_switch_that_turns_all_hooks_off_is_found(tmp_path: Path, agent: str, file: str, content: Any) -> None:
    assert "untrusted" in states(tmp_path, agent, **{file: content})


def test_claude_asks_for_a_folder_that_it_does_not_know(tmp_path: Path) -> None:
    assert states(tmp_path, "claude-code", "project") == ["unknown"]
    known = {"projects": {"PROJECT": {"hasTrustDialogAccepted": True}}}
    assert states(tmp_path, "claude-code", "project", dotclaude_json=known) == ["trusted"]


def test_codex_reads_a_projects_hooks_only_where_it_trusts_it(tmp_path: Path) -> None:
    assert states(tmp_path, "codex", "project")[0] == "untrusted"
    config = '[projects."PROJECT"]\ntrust_level = "trusted"\n'
    assert states(tmp_path, "codex", "project", dotcodex__config_toml=config)[0] == "trusted"
    assert states(tmp_path, "codex", dotcodex__config_toml="[") == ["untrusted"]


def test_files_that_cannot_be_read_say_nothing(tmp_path: Path) -> None:
    assert states(tmp_path, "letta-code", dotletta__settings_json="{") == []
    assert states(tmp_path, "opencode") == []
