"""Which calls may run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.permissions import Mode, Permissions, parse_rule
from hookline.core.errors import UsageError


def _judge(mode: Mode, name: str, need: Any, given: dict[str, Any], cwd: str, *rules: str) -> str:
    return Permissions(mode=mode, rules=[parse_rule(rule) for rule in rules]).judge(name, need, given, cwd)


@pytest.mark.parametrize(
    ("mode", "bash", "edit", "read"),
    [
        ("ask", "ask", "ask", "allow"),
        ("accept-edits", "ask", "allow", "allow"),
        ("allow", "deny", "deny", "allow"),
        ("all", "allow", "allow", "allow"),
    ],
)
def test_what_each_mode_lets_through(mode: Mode, bash: str, edit: str, read: str, tmp_path: Path) -> None:
    cwd = str(tmp_path)
    assert _judge(mode, "Bash", "run", {"command": "ls"}, cwd) == bash
    assert _judge(mode, "Write", "edit", {"file_path": "a"}, cwd) == edit
    assert _judge(mode, "Read", "read", {"file_path": "a"}, cwd) == read


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "sub/../../x", "~/x", "link/x", "a\0b"])
def test_nothing_outside_the_working_directory_is_free(path: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    assert _judge("accept-edits", "Read", "read", {"file_path": path}, str(tmp_path)) == "ask"
    assert _judge("accept-edits", "Write", "edit", {"file_path": path}, str(tmp_path)) == "ask"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".hookline/hookline.toml", "sub/.envrc", ".github/x.yml"])
def test_what_other_programs_run_is_never_changed_unseen(path: str, tmp_path: Path) -> None:
    assert _judge("accept-edits", "Write", "edit", {"file_path": path}, str(tmp_path)) == "ask"
    assert _judge("accept-edits", "Read", "read", {"file_path": path}, str(tmp_path)) == "allow"


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../../*", "~/*"])
def test_a_pattern_that_climbs_out_is_not_free(pattern: str, tmp_path: Path) -> None:
    assert _judge("ask", "Glob", "read", {"pattern": pattern}, str(tmp_path)) == "ask"


@pytest.mark.parametrize("command", ["git status", "git", "git log --oneline"])
def test_a_rule_covers_the_commands_it_names(command: str, tmp_path: Path) -> None:
    assert _judge("ask", "Bash", "run", {"command": command}, str(tmp_path), "Bash(git *)") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm x",
        "git status && rm x",
        "git $(rm x)",
        "git `rm x`",
        "git status\nrm x",
        "git x > y",
        "gitx",
        "sudo git x",
    ],
)
def test_no_rule_covers_a_second_command(command: str, tmp_path: Path) -> None:
    assert _judge("ask", "Bash", "run", {"command": command}, str(tmp_path), "Bash(git *)") == "ask"


def test_the_very_same_text_is_covered_whatever_it_holds(tmp_path: Path) -> None:
    assert _judge("ask", "Bash", "run", {"command": "a | b"}, str(tmp_path), "Bash(a | b)") == "allow"


def test_rules_on_paths_follow_links(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "out").symlink_to("/etc")
    cwd = os.fspath(tmp_path)
    assert _judge("ask", "Edit", "edit", {"file_path": "src/a.py"}, cwd, "Edit(src/**)") == "allow"
    assert _judge("ask", "Edit", "edit", {"file_path": "src/out/passwd"}, cwd, "Edit(src/**)") == "ask"
    assert _judge("ask", "Write", "edit", {"file_path": "src/a.py"}, cwd, "Edit(src/**)") == "ask"


def test_a_rule_without_a_pattern_covers_every_call(tmp_path: Path) -> None:
    assert _judge("allow", "mcp__a__b", "run", {}, str(tmp_path), "mcp__a__*") == "allow"


def test_what_is_no_rule_is_said() -> None:
    with pytest.raises(UsageError, match="is not a rule"):
        parse_rule("Bash(")
