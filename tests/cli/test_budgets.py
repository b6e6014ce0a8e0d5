"""Budgets and caches as a person meets them: written, checked, told, and kept by the daemon."""

from __future__ import annotations

import json

SLOW = """
[[hook]]
name = "slow"
on = "PostToolUse"
run = ["sleep", "0.02"]
budget = "1ms"
"""


def user(project, text):
    file = project.home / ".config" / "hookline" / "hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")


def fire(project, times):
    for _ in range(times):
        project.run("fire", "PostToolUse", "--data", '{"tool_name": "Bash"}')


def test_a_hook_over_its_budget_is_told_by_list_status_and_doctor(project):
    user(project, SLOW)
    fire(project, 5)
    row = json.loads(project.run("list", "--json").out)["hooks"][0]
    assert (row["budget_ms"], row["over_budget"]) == (1.0, "report")
    assert row["late"].startswith("over its budget of 1 ms")
    assert row["p95_ms"] > row["budget_ms"]
    assert "slow (PostToolUse) is over its budget" in project.run("list").out
    assert json.loads(project.run("status", "--json").out)["record"]["late"] == ["slow"]
    assert "over budget: 'slow'" in project.run("status").out
    assert "slow (PostToolUse) is over its budget" in project.run("doctor").out


def test_a_hook_within_its_budget_is_not(project):
    user(project, SLOW.replace("1ms", "1m"))
    fire(project, 5)
    assert json.loads(project.run("list", "--json").out)["hooks"][0]["late"] is None
    assert "over their budget" not in project.run("status").out


def test_what_is_skipped_for_its_cost_is_in_the_log_with_the_reason(project):
    user(project, SLOW + 'over_budget = "skip"\n')
    fire(project, 6)
    last = [json.loads(line) for line in project.run("log", "--json").out.splitlines()][-1]
    outcome = last["outcomes"][0]
    assert outcome["status"] == "skipped"
    assert "over its budget of 1 ms" in outcome["error"]
    assert "it is skipped" in project.run("list").out


def test_check_complains_of_a_guard_that_would_be_left_out(project):
    user(project, SLOW.replace("PostToolUse", "PreToolUse") + 'over_budget = "skip"\n')
    told = project.run("check")
    assert "a guard must not be lost" in told.out + told.err
    fire_guard = [project.run("fire", "PreToolUse", "--data", '{"tool_name": "Bash"}', "--json") for _ in range(6)]
    assert json.loads(fire_guard[-1].out)["outcomes"][0]["status"] == "replied"


def test_check_complains_of_what_has_no_meaning(project):
    user(
        project,
        '[[hook]]\nname = "x"\non = "Stop"\nrun = "true"\nover_budget = "skip"\ncache = "5s"\nmode = "background"\n',
    )
    told = project.run("check")
    said = told.out + told.err
    assert "over_budget without a budget" in said
    assert "cache has no effect" in said


def test_a_budget_must_be_a_duration(project):
    user(project, SLOW.replace('"1ms"', '"soon"'))
    assert "budget must be a duration" in (done := project.run("check")).out + done.err


def test_nothing_is_cached_without_a_daemon(project):
    user(project, '[[hook]]\nname = "x"\non = "PostToolUse"\nshell = "echo x >> $HOME/asked"\ncache = "1h"\n')
    fire(project, 2)
    assert (project.home / "asked").read_text() == "x\nx\n"


def test_what_a_hook_says_of_its_cost_is_not_lost_without_a_word(project):
    file = project.write("hooks.toml", SLOW + 'cache = "5s"\n')
    kept = project.run("convert", "--from", "native", "--to", "native", str(file))
    lost = project.run("convert", "--from", "native", "--to", "claude", str(file))
    assert ("budget = 0.001" in kept.out, "cache = 5.0" in kept.out, kept.code) == (True, True, 0)
    assert "budget and cache are not supported" in lost.err
