"""What was tried with which agent and what came of it: kept by the tests, published in docs/reference/agents.json."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from tests.e2e import agents, install

from hookline import __version__

#: The rows of the published matrix: name -> the claim. Every one is tried by a test that names it in ``@proves``.
CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "tool events": "PreToolUse and PostToolUse arrive, and a hook without an opinion lets the tool run",
        "session events": "SessionStart, UserPromptSubmit and Stop arrive",
        "deny": "a deny blocks the tool, and its reason is in the next model request",
        "pack": "a hook of a pack that was published for another agent blocks the tool, and its reason is in the next model request",
        "rewrite": "a rewritten input is what runs",
        "session context": "text from SessionStart is in the model request",
        "prompt context": "text from UserPromptSubmit is in the model request",
        "result context": "text from PostToolUse is in the model request",
        "prompt refused": "a denied prompt never reaches the model",
        "stop": "a refused Stop makes the agent continue, once",
        "permission granted": "a hook grants a permission request",
        "permission refused": "a hook denies a permission request, and the model gets the reason",
        "message": "a message for the user is printed in a run without a terminal",
        "terminal": "at a terminal: text from SessionStart and from the prompt is in the model request, and a refused Stop makes the agent continue",
        "hook missing": "fail closed: the hook's program is missing",
        "hook not executable": "fail closed: the hook's program is not executable",
        "hook crashes": "fail closed: the hook exits with an error",
        "hook killed": "fail closed: the hook is killed by a signal",
        "hook talks nonsense": "fail closed: the hook prints an incomplete answer",
        "hook hangs": "fail closed: the hook does not finish by its deadline",
        "daemon dead": "fail closed: the daemon is killed, between two events and in the middle of one",
        "hookline broken": "fail closed: hookline itself exits with an error, is killed, or is not executable",
        "hookline gone": "fail closed: hookline itself is missing",
        "ignored": "with on_failure = ignore, the call goes ahead and the record shows the failure",
        "gone, no guard": "without a guard, a missing hookline does not stop the agent",
        "registered twice": "registered for the user and for the project, hooks run once per event",
        "tool failure": "PostToolUseFailure is fired for a failed command",
        "assistant_final": "a Lectic hook on assistant_final runs at the end of the answer",
        "run_end": "a Lectic hook on run_end runs at the end of the run",
        "managed policy": "a policy of the machine's owner refuses a tool, whatever a person and a repository switch off",
        "output": "an output that a hook redacts is what the model reads",
        "rewrite shown": "without a terminal, a rewritten input is printed as it ran",
        "subagent": "a deny holds for a tool call of a subagent",
        "other shells": "a deny holds for a command that another tool than the shell runs",
        "MCP": "a tool of an MCP server is guarded as mcp__server__tool",
        "resumed": "a deny holds in a resumed session",
        "compaction": "what SessionStart told the model is told again after a compaction",
        "two agents": "two agents at once in one project: a deny holds for both, and each is on record under its own name",
        "undeploy": "undeploy restores the agent's files byte for byte, and no hook runs any more",
    }
)

#: Agent -> capability -> cell.
Found: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]
Test = TypeVar("Test", bound=Callable[..., None])


def proves(*names: str) -> Callable[[Test], Test]:
    """Names what a test tries; whatever it does not take back holds when it passes."""
    unknown = set(names) - CAPABILITIES.keys()
    assert not unknown, unknown

    def marked(test: Test) -> Test:
        test.proves = names  # type: ignore[attr-defined]  # read by the fixture world
        return test

    return marked


def cells(properties: Iterable[tuple[str, Any]], outcome: str, why: str) -> dict[str, dict[str, str]]:
    """One test's part of the matrix: ``result`` is yes, no, failed or untested; a note says more."""
    told: dict[str, dict[str, str]] = {}
    for kind, value in properties:
        if kind == "tries":
            told |= {name: {"result": "failed", "note": ""} for name in value}
        elif kind == "found":
            name, result, note = value
            told[name] = {"result": result, "note": note}
    for cell in told.values():
        if cell["result"] == "failed" and outcome == "passed":
            cell["result"] = "yes"
        elif cell["result"] == "failed" and outcome == "skipped":
            cell |= {"result": "untested", "note": why}
    return told


def new_fields(properties: Iterable[tuple[str, Any]]) -> dict[str, list[str]]:
    """Native event -> fields of its payload that no recorded payload has."""
    return {event: names for kind, value in properties if kind == "new fields" for event, names in value.items()}


def document(found: Found, before: Mapping[str, Any], today: str) -> dict[str, Any]:
    """What was known before of the same versions, and what was tried now in its place; every cell has its date."""
    known = {row["agent"]: row for row in before.get("agents", ())}
    rows = [_row(agent, known.get(agent.name, {}), found.get(agent.name, {}), today) for agent in agents.AGENTS]
    return {"capabilities": dict(CAPABILITIES), "agents": rows}


def _row(
    agent: agents.Agent, before: Mapping[str, Any], tried: Mapping[str, Mapping[str, str]], today: str
) -> dict[str, Any]:
    head = {
        "agent": agent.name, "version": install.PACKAGES[agent.package].version, "hookline": __version__,
        "system": f"{platform.system()} {platform.machine()}",
    }  # fmt: skip
    same = all(before.get(name) == value for name, value in head.items()) or not tried
    kept = before.get("capabilities", {}) if same else {}
    cells = {name: {"result": "untested", "note": "", "date": ""} for name in CAPABILITIES}
    cells |= {name: kept[name] for name in cells if name in kept}
    cells |= {name: {**cell, "date": today} for name, cell in tried.items() if name in cells}
    return {**(head if tried or not before else {name: before[name] for name in head}), "capabilities": cells}


def write(found: Found, path: str, fields: Mapping[str, Mapping[str, list[str]]]) -> None:
    file = Path(path)
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    told = document(found, before, datetime.now(UTC).date().isoformat())
    for row in told["agents"]:
        if fields.get(row["agent"]):
            row["new fields"] = fields[row["agent"]]
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.new")
    new.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(new, file)
