"""A pack in the real programs: a plugin that was published for one agent refuses in each of them."""

from __future__ import annotations

import json

import pytest
from tests.e2e.results import proves
from tests.e2e.world import World

HOOK = {"type": "command", "command": '"${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"'}
GUARD = '#!/bin/sh\nif grep -q proof.txt; then echo "a pack refuses" >&2; exit 2; fi\n'


@pytest.mark.gate
@proves("pack")
def test_a_packs_hook_blocks(world: World) -> None:
    folder = world.home / "plugin"
    (folder / "hooks").mkdir(parents=True)
    (folder / "plugin.json").write_text(json.dumps({"name": "guarded"}), encoding="utf-8")
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}
    (folder / "hooks/hooks.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    (folder / "hooks/guard.sh").write_text(GUARD, encoding="utf-8")
    (folder / "hooks/guard.sh").chmod(0o755)
    world.hookline("add", str(folder), "--yes")
    world.hookline("deploy", "--agent", world.agent.name, "--approve", *world._door())
    session = world.run(world.call("echo hello > proof.txt"))
    assert world.lines("proof.txt") == [], session
    assert session.reached_the_model("a pack refuses"), session
    refused = [one for one in world.log() if one["event"] == "PreToolUse" and one["effect"] == "deny"]
    assert refused, session
