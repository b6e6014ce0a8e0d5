"""Hooks that another system has in the project: what hookline says of them."""

from __future__ import annotations

import json

LETTA = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo hi"}]}]}}
GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "exit 2"\n'


def test_hooks_that_run_for_one_system_only_are_named_with_the_way_to_run_them_everywhere(project):
    file = project.write(".letta/settings.json", json.dumps(LETTA))
    told = f"{file}: these hooks run for letta only; to see them: hookline list --dialect letta"
    assert told in project.run("list").err
    checked = project.run("check")
    assert (checked.code, "these hooks run for letta only" in checked.out) == (0, True)
    assert told in project.run("trust", "--yes").err
    project.write(".hookline/hookline.toml", '[[source]]\ndialect = "letta"\npath = ".letta/settings.json"\n')
    project.run("trust", "--yes")
    assert "letta only" not in project.run("list").err + project.run("check").out


def test_settings_without_hooks_are_not_mentioned(project):
    project.write(".claude/settings.json", '{"model": "opus"}')
    project.write(".hookline/hookline.toml", GUARD)
    assert "only" not in project.run("list").err + project.run("check").out + project.run("trust", "--yes").err


def test_no_agent_is_missed_for_the_hooks_of_another_system(project):
    project.run("deploy", "--agent", "claude", "--events", "PreToolUse")
    project.write(".letta/settings.json", json.dumps(LETTA))
    assert "does not call hookline" not in project.run("trust", "--yes").err


def test_init_shows_the_reason_of_its_trial_though_a_project_is_not_approved(project):
    project.write(".hookline/hookline.toml", GUARD)
    done = project.run("init", "--yes", "--agent", "claude", HOOKLINE_DAEMON="off")
    assert "claude-code refuses rm -rf ~: guard: rm -rf ~: files are deleted" in done.out


def test_a_file_that_only_calls_hookline_is_not_mentioned(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    project.run("deploy", "--agent", "claude", "--scope", "project")
    assert "for claude only" not in project.run("list").err + project.run("check").out


def test_a_lectic_file_is_mentioned_too(project):
    project.write("lectic.yaml", "hooks:\n  - on: user_message\n    do: echo hi\n")
    assert "lectic.yaml: these hooks run for lectic only" in project.run("list").err
