"""A hook that could not do its job says why in words a person can act on."""

from __future__ import annotations

import sys

import pytest

HOOK = '[[hook]]\nname = "guard"\non = "PreToolUse"\n'


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ('run = "./gone.sh"', "does not exist"),
        ('run = "no-such-program-here"', "not found in PATH"),
        ('prompt = "Is it safe?"\nmodel = "haiku"', "ANTHROPIC_API_KEY"),
        ('python = "nowhere:guard"', "nowhere"),
    ],
)
def test_the_reason_of_a_failure_is_the_runners(project, action, reason):
    project.write("hooks.toml", f"{HOOK}{action}\n")
    outcome = project.run("fire", "PreToolUse", "--config", "hooks.toml", "--json").json["outcomes"][0]
    assert outcome["status"] == "failed"
    assert reason in outcome["error"]


def test_an_answer_that_was_too_long_says_so(project):
    answer = """'{"context": "' + 'x' * 3000000 + '"}'"""
    project.write("long.py", f"print({answer})\n")
    project.write("l.toml", f'[[hook]]\nname = "l"\non = "Stop"\nrun = ["{sys.executable}", "long.py"]\n')
    outcome = project.fire("Stop", {}, "--config", "l.toml").json["outcomes"][0]
    assert (outcome["status"], "bytes" in outcome["error"]) == ("failed", True)


def test_a_dialect_of_another_package_that_cannot_be_loaded_is_its_own_fault(project):
    project.write("thing-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
    project.write("thing-1.dist-info/entry_points.txt", "[hookline.dialects]\ngone = nowhere:x\nfive = thing:five\n")
    project.write("thing.py", "five = 5\n")
    for dialect, said in (("gone", "nowhere"), ("five", "is not a dialect")):
        result = project.run("check", "--dialect", dialect, PYTHONPATH=str(project.path))
        assert (result.code, said in result.err) == (78, True)
