"""Releases come every week: what is new in a payload is listed, and nothing breaks by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.e2e.world import World
from tests.recording import differences

from hookline.core.agents import AGENTS, Agent

RECORDED = Path(__file__).resolve().parents[1] / "payloads"
PLUGINS = Path(__file__).resolve().parents[2] / "src" / "hookline" / "deploy" / "plugins"
ALL = """\
[[hook]]
name = "all"
on = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]
shell = "true"
"""


def test_fields_that_no_recorded_payload_has_are_listed(world: World) -> None:
    world.hooks(ALL)
    world.run()
    world.hookline("doctor", "--record", world.agent.name)
    bundle = (world.project / f"hookline-{world.agent.name}.json").read_text(encoding="utf-8")
    events = json.loads(bundle)["events"]
    assert events
    assert differences(bundle) == []
    known, ours = _known_fields(AGENTS[world.agent.name].dialect), _plugin_words(AGENTS[world.agent.name])
    new: dict[str, set[str]] = {}
    for one in events:
        # What was never recorded cannot be compared.
        if one["native_event"] in known:
            new.setdefault(one["native_event"], set()).update(set(one["payload"]) - known[one["native_event"]] - ours)
    world.found.append(("new fields", {event: sorted(names) for event, names in new.items() if names}))


def _plugin_words(agent: Agent) -> set[str]:
    """What a plugin of ours adds to a payload is not the agent's."""
    file = PLUGINS / f"{agent.dialect}.js"
    return set(re.findall(r"\w+", file.read_text(encoding="utf-8"))) if agent.form == "plugin" else set()


def _known_fields(dialect: str) -> dict[str, set[str]]:
    """Native event -> the fields of its recorded payloads."""
    found: dict[str, set[str]] = {}
    for file in (RECORDED / dialect).glob("*.json"):
        sent = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(sent, dict):
            found.setdefault(file.name.partition(".")[0], set()).update(sent)
    return found
