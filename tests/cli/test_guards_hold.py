"""A guard that looks right is one: nothing that a caller sends or removes switches it off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GUARD = """#!/bin/sh
# Refuses, and repeats the command in its reason.
jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: .tool_input.command}}'
"""
SETTINGS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./guard.sh"}]}]}}
FILES = {
    "run": "[[hook]]\nname = 'guard'\non = 'PreToolUse'\nrun = './guard.sh'\n",
    "source": "[[source]]\ndialect = 'claude'\npath = 'settings.json'\n",
}


def write(project: Any, how: str, guard: str = GUARD, more: str = "") -> None:
    project.write("guard.sh", guard, mode=0o755)
    project.write("settings.json", json.dumps(SETTINGS))
    project.write("hooks.toml", FILES[how] + more)


def asked(project: Any, command: str = "ls", *, cwd: str = "") -> dict[str, Any]:
    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": cwd or str(project.path),
        "tool_name": "Bash", "tool_input": {"command": command},
    }  # fmt: skip
    result = project.run("hook", "--agent", "claude", "--config", "hooks.toml", stdin=json.dumps(payload))
    return json.loads(result.out)["hookSpecificOutput"] if result.out else {}


@pytest.mark.parametrize("how", FILES)
def test_padding_does_not_switch_a_guard_off(project: Any, how: str) -> None:
    write(project, how)
    assert asked(project, "rm x #" + "x" * 1_100_000)["permissionDecision"] == "deny"


@pytest.mark.parametrize("how", FILES)
def test_a_working_directory_that_is_gone_does_not_switch_a_guard_off(project: Any, how: str) -> None:
    write(project, how)
    assert asked(project, cwd=f"{project.path}/gone/deeper")["permissionDecision"] == "deny"


def test_a_refusal_by_failure_says_what_failed_and_how_to_go_on(project: Any) -> None:
    write(project, "run", "#!/bin/sh\necho broken >&2\nexit 3\n")
    assert asked(project)["permissionDecisionReason"] == (
        "hook failed: exit code 3: broken (the hook 'guard'; its owner can switch it off for an hour: "
        "hookline hooks off guard --for 1h)"
    )


@pytest.mark.parametrize(("more", "decision"), [("", None), ("on_failure = 'deny'\n", "deny")])
def test_a_source_keeps_its_document_unless_it_is_hardened(project: Any, more: str, decision: str | None) -> None:
    write(project, "source", "#!/bin/sh\nexit 3\n", more)
    assert asked(project).get("permissionDecision") == decision


@pytest.mark.parametrize("word", ["silent", "talk", "{}"])
def test_a_hook_without_an_opinion_has_none(project: Any, word: str) -> None:
    write(project, "run", f"#!/bin/sh\necho '{word}'\n")
    assert asked(project) == {}


def test_hooks_that_listen_and_do_not_match_are_counted(project: Any) -> None:
    project.write(
        "hooks.toml", "".join(FILES["run"].replace("guard'", f"{name}'", 1) + "match = 'Edit'\n" for name in "abcd")
    )
    shown = project.run("fire", "PreToolUse", "--data", '{"tool_name": "Bash"}', "--config", "hooks.toml").out
    assert "none of the 4 hooks that listen matches" in shown
    assert "none listens" in project.run("fire", "Stop", "--config", "hooks.toml").out


def test_a_path_in_a_hook_means_the_same_wherever_it_is_fired(project: Any) -> None:
    project.write("answers.json", json.dumps([{"json": {"ok": False, "reason": "the model says no"}}] * 9))
    text = "[[hook]]\nname = 'judge'\non = 'PreToolUse'\nprompt = 'Is it safe?'\nmodel = '{}'\n"
    (project.path / "below").mkdir()
    for model, table in (("script:answers.json", ""), ("mine", "[models]\nmine = 'script:answers.json'\n")):
        project.write("hooks.toml", text.format(model) + table)
        for cwd in (project.path, project.path / "below", Path("/")):
            fired = project.run(
                "fire",
                "PreToolUse",
                "--data",
                '{"tool_name": "Bash"}',
                "--json",
                "--config",
                f"{project.path}/hooks.toml",
                cwd=cwd,
            )
            assert (fired.json["effect"], fired.json["reason"]) == ("deny", "the model says no"), (cwd, fired)


def test_a_patch_is_refused_for_one_of_its_files(project: Any) -> None:
    guard = '#!/bin/sh\ncase "$(jq -r .tool_input.file_path)" in */.env) echo secret >&2; exit 2 ;; esac\n'
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Add File: .env\n+A=1\n*** End Patch\n"
    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(project.path), "tool_name": "apply_patch",
        "tool_input": {"command": patch},
    }  # fmt: skip
    for how in FILES:
        write(project, how, guard)
        result = project.run("hook", "--agent", "codex", "--config", "hooks.toml", stdin=json.dumps(payload))
        assert result.json["hookSpecificOutput"]["permissionDecisionReason"] == "secret"


def test_explain_shows_what_is_mapped_and_what_is_not(project: Any) -> None:
    data = json.dumps({"tool_name": "write", "tool_input": {"filePath": "/a", "content": "x", "odd": 1}})
    shown = project.run("explain", "PreToolUse", "--agent", "opencode", "--data", data).out
    assert "tool_input of write: file_path (filePath); content (content)" in shown
    assert "not mapped, as the agent sends it: odd" in shown
    assert "run_shell_command: command" in project.run("explain", "PreToolUse", "--agent", "gemini-cli").out


@pytest.mark.parametrize("other", [["--home", "EMPTY", "--config-dir", "EMPTY"], []])
def test_a_decision_without_guards_that_somebody_asks_for_by_hand_is_not_given_to_the_agent(
    project: Any, other: list[str]
) -> None:
    own = project.home / ".config/hookline"
    own.mkdir(parents=True)
    guard = '[ "$NOT_NOW" ] && exit 0; echo no >&2; exit 2'
    (own / "hookline.toml").write_text(f"[[hook]]\nname = 'guard'\non = 'PreToolUse'\nshell = '{guard}'\n")
    empty = project.home / "empty"
    empty.mkdir()
    sent = json.dumps({
        "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": "ls"},
        "session_id": "s", "cwd": str(project.path),
    })  # fmt: skip
    words = ["hook", "--agent", "gemini-cli", "--cold", "--registration"]
    state = ["--state-dir", f"{project.home}/.local/state/hookline"]
    there = [str(empty) if word == "EMPTY" else word for word in other]
    project.run(*words, "forged", *there, *(state if other else []), stdin=sent, NOT_NOW="1")
    assert project.run(*words, "user/gemini-cli", stdin=sent).json == {"decision": "deny", "reason": "no"}
