"""A policy of the machine's owner in the real programs: a person and a repository try to switch it off, and cannot."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e import world as worlds
from tests.e2e.results import proves
from tests.e2e.world import World

from hookline.core.agents import AGENTS

POLICY = """\
[[hook]]
name = "owner-says-no"
on = "PreToolUse"
match = "Bash"
run = ["./hooks/no.sh"]
on_failure = "deny"
"""
#: What a person writes into their own file and a repository into its: the same hook, switched off and changed.
OFF = '[[hook]]\nname = "owner-says-no"\non = "PreToolUse"\nenabled = false\nshell = "exit 0"\n'
REFUSAL = "refused by the owner of the machine"


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The agent on a machine with an /etc of its own, in which the policy is installed."""
    if os.geteuid() != 0:
        pytest.skip("only root can have an /etc of its own, and files in it that belong to root")
    if not AGENTS[world.agent.name].managed:
        world.lacks("managed policy", "no file in which the owner of a machine registers hooks is known")
        pytest.skip("it has no managed file")
    etc = world.home.parent / "etc"
    shutil.copytree("/etc", etc, symlinks=True)
    plain = worlds.alone()
    bind = ["sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(etc)]
    monkeypatch.setattr(worlds, "alone", lambda: [*plain, *bind])
    folder = world.home / "policy"
    (folder / "hooks").mkdir(parents=True)
    (folder / "policy.toml").write_text(f'name = "acme"\nversion = 1\nagents = ["{world.agent.name}"]\n')
    (folder / "hookline.toml").write_text(POLICY)
    script = folder / "hooks/no.sh"
    script.write_text(f"#!/bin/sh\necho '{REFUSAL}' >&2\nexit 2\n")
    script.chmod(0o755)
    home = str(world.home)
    world.hookline("policy", "keygen", f"{home}/owner.key")
    world.hookline("policy", "build", str(folder), "-o", f"{home}/policy.hkp", "--sign", f"{home}/owner.key")
    world.hookline("policy", "install", f"{home}/policy.hkp", "--key", f"{home}/owner.key.pub")
    return world


def refused(world: World, **variables: str) -> None:
    session = world.run(environ=variables)
    assert not world.has("proof.txt"), session
    assert session.reached_the_model(REFUSAL), session


def merge(path: Path, more: dict[str, object]) -> None:
    tree = json.loads(path.read_text(encoding="utf-8").removeprefix("// kept\n")) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**tree, **more}), encoding="utf-8")


@pytest.mark.gate
@proves("managed policy")
def test_neither_a_person_nor_a_repository_switches_a_policy_off(machine: World) -> None:
    """Files of the agent and of hookline, and the agent's environment, all at once."""
    elsewhere = {"HOOKLINE_STATE_DIR": "/tmp/other", "XDG_CONFIG_HOME": "/tmp/other", "HOOKLINE_NO_HOOKS": "1",
                 "HOOKLINE_DAEMON": "off", "HOOKLINE_CONFIG_DIR": "/tmp/other"}  # fmt: skip
    if machine.agent.name == "codex":
        config = machine.home / ".codex/config.toml"
        text = config.read_text(encoding="utf-8").replace(
            "[features]\n", "[features]\nhooks = false\ncodex_hooks = false\n"
        )
        config.write_text(f'{text}\n[shell_environment_policy]\ninherit = "none"\n', encoding="utf-8")
        machine.write(".codex/config.toml", "[features]\nhooks = false\n")
    else:
        off = {"disableAllHooks": True, "hooksConfig": {"enabled": False}, "hooks": {}}
        name = Path(machine.agent.registered_in).parent.name
        for file in (machine.home / name / "settings.json", machine.project / name / "settings.json"):
            merge(file, {**off, "env": elsewhere})
    own = machine.home / ".config/hookline/hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text(OFF, encoding="utf-8")
    machine.write(".hookline/hookline.toml", OFF)
    machine.hookline("trust", "--yes")
    refused(machine, **elsewhere)


@pytest.mark.gate
def test_a_policy_needs_no_registration_and_a_person_adds_hooks(machine: World) -> None:
    """Nothing is deployed in the person's own files; what they deploy besides runs too."""
    refused(machine)
    machine.hooks('[[hook]]\nname = "mine"\non = "PreToolUse"\nshell = "echo seen >> mine.txt"\n')
    refused(machine)
    assert machine.has("mine.txt")
    assert {"owner-says-no", "mine"} <= machine.outcomes().keys()
    machine.hookline("undeploy", "--agent", machine.agent.name)
    refused(machine)


#: Switches on the command line and variables that a person could start the agent with.
WAYS: dict[str, list[tuple[list[str], dict[str, str]]]] = {
    "claude-code": [
        (["--settings", '{"disableAllHooks": true}'], {}), (["--setting-sources", "project"], {}), (["--bare"], {}),
        (["--safe-mode"], {}), ([], {"CLAUDE_CODE_SIMPLE": "1"}), ([], {"CLAUDE_CONFIG_DIR": "/tmp/other"}),
    ],
    "codex": [(["--disable", "hooks"], {}), (["-c", "features.hooks=false"], {}), (["-c", "hooks={}"], {})],
}  # fmt: skip


@proves("managed policy")
def test_no_switch_of_the_agent_ends_a_policy(machine: World) -> None:
    runs = machine.agent.runs
    for words, variables in WAYS.get(machine.agent.name, [([], {})]):

        def with_switch(program: str, asks: bool, words: list[str] = words) -> list[list[str]]:
            return [[*one, *words] for one in runs(program, asks)]

        refused(replace(machine, agent=replace(machine.agent, runs=with_switch)), **variables)
    if gap := AGENTS[machine.agent.name].managed_gap:
        machine.holds("managed policy", f"but {gap}")
