"""A hook that could not do its job says why in words a person can act on."""

from __future__ import annotations

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
