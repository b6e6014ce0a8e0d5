"""Prove a guard: an agent's own event for a dangerous command, through the entry that was registered with the agent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core.agents import Agent, find_agent
from hookline.core.paths import Paths
from hookline.deploy.installed import RegisteredHook, find_registrations
from hookline.dialects.event_lookup import native_events
from hookline.doctor.probe_events import World, agent_event, call_entry, probe_all

#: It is only asked about.
PROBED = "rm -rf ~"
_EVENT = "PreToolUse"
#: The session and the call of a trial, which is no agent's doing.
TRIAL = "hookline-init"


def probe_guard(row: Mapping[str, Any], policy: str, paths: Paths) -> dict[str, Any]:
    """``row`` is an agent's file of ``hookline deploy``. ``refused`` is None where the guard was not reached."""
    agent = find_agent(row["agent"])
    assert agent is not None, "it was registered"
    native = native_events(agent)[_EVENT]
    entry = next((one for one in find_registrations(row["path"]) if one.event == native), None)
    if row["findings"] or entry is None:
        return _probe(None, next(iter(row["findings"]), f"{_EVENT} is not registered in {row['path']}"))
    # As a probe of the doctor, it leaves no daemon running.
    world = World(cwd=os.getcwd(), environ={"HOOKLINE_DAEMON": "if running", **os.environ}, state=paths.state)
    return _watched(agent, entry, world) if policy == "watch" else _refused(agent, entry, world)


def _probe(refused: bool | None, answer: str) -> dict[str, Any]:
    return {"command": PROBED, "refused": refused, "answer": answer}


def _refused(agent: Agent, entry: RegisteredHook, world: World) -> dict[str, Any]:
    data = {
        "tool_name": "Bash", "tool_input": {"command": PROBED, "description": "hookline init tries its guard"},
        "tool_use_id": TRIAL, "session_id": TRIAL,
    }  # fmt: skip
    printed, code = call_entry(agent, entry, agent_event(_EVENT, agent, world, data), world)
    reason = next((text for text in _texts(printed) if f"{PROBED}" in text), "")
    if reason:
        return _probe(True, reason)
    told = " ".join(printed.split())[:300]
    return _probe(False if code == "0" and not told else None, told or f"no refusal (exit code {code})")


def _watched(agent: Agent, entry: RegisteredHook, world: World) -> dict[str, Any]:
    """Nothing is refused, so the entry itself is asked whether the guard would be called."""
    (one,) = probe_all(agent, [entry], world)
    why = one.error or one.hooks.get("guard", "no guard is called")
    if why:
        return _probe(None, why)
    return _probe(False, "what it would refuse is recorded from now on: hookline guard report")


def _texts(printed: str) -> Iterator[str]:
    """What a person or a model reads of an answer: the texts of its JSON, or its lines."""
    for line in printed.splitlines():
        try:
            yield from _leaves(json.loads(line))
        except ValueError:
            yield line


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    for one in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _leaves(one)
