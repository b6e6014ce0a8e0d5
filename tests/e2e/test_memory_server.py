"""Real agents ask memory: the scripted model calls the MCP tool, and its answer is in the next request."""

from __future__ import annotations

from typing import Any

import pytest
from tests.e2e import install
from tests.e2e.agents import AGENTS, PROMPT
from tests.e2e.world import World

FACT = "THE-TIMETABLE-IS-KEPT-IN-SQLITE"
ASKED = {"query": "timetable"}
#: What each calls the tool, in the request that offers it.
CALLS: dict[str, dict[str, Any]] = {
    "claude-code": {"name": "mcp__hookline-memory__search", "arguments": ASKED},
    "codex": {"name": "search", "namespace": "mcp__hookline_memory", "arguments": ASKED},
}


@pytest.mark.parametrize(
    "world", [one for one in AGENTS if one.name in CALLS], ids=lambda agent: agent.name, indirect=True
)
def test_an_agent_asks_memory_and_is_answered(world: World) -> None:
    world.hookline("memory", "add", FACT)
    world.hookline("deploy", "--memory", "--agent", world.agent.name)
    call = CALLS[world.agent.name]
    program = install.program(world.agent.package)
    assert program is not None
    run = world.agent.runs(str(program), False)[-1]
    # Agents connect while they ask for the first time: until the tool is offered, the model waits.
    waiting = [{**world.call("sleep 2"), "match": f'"name": "{world.agent.tool}"'} for _ in range(5)]
    offered = [{"tool": call, "match": f'"name": "{call.get("namespace") or call["name"]}"'}]
    steps = [*offered, *waiting]
    if world.agent.name == "claude-code":
        run = [str(program), "-p", PROMPT, "--allowedTools", call["name"], "Bash"]
    # Claude Code hides the tools of servers behind a search of its own, unless told otherwise.
    session = world.play([run], steps, {"ENABLE_TOOL_SEARCH": "false"})
    assert session.reached_the_model(FACT), session
    assert session.reached_the_model("<recalled-memory>"), session
    world.hookline("undeploy", "--agent", world.agent.name)
    assert "hookline-memory" not in (world.home / world.agent.servers[0]).read_text(encoding="utf-8")
