"""Subagents, MCP servers, resumed sessions, two agents at once: whoever calls a tool, the hooks decide."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.e2e import agents, install
from tests.e2e.agents import PROMPT, SUBTASK
from tests.e2e.results import proves
from tests.e2e.test_real_agents import DENY, REWRITE, REWRITER, WATCH, proof
from tests.e2e.world import Session, World

from hookline.core.agents import AGENTS
from hookline.core.tool_names import RUNNERS

REASON = "NOT-TODAY: ask a person"
DENIER = f"#!/bin/sh\necho '{REASON}' >&2\nexit 2\n"
REDACT = """\
[[hook]]
name = "redact"
on = "PostToolUse"
match = "Bash"
shell = '''echo '{"data": {"tool_output": "KEPT-BACK"}}' '''
"""
NO_SERVER = """\
[[hook]]
name = "server"
on = "PreToolUse"
match = { tool_name = "mcp__t__echo", "tool_input.text" = "forbidden" }
shell = "echo 'NOT-THIS-SERVER' >&2; exit 2"
"""
SERVER = Path(__file__).with_name("mcp_server.py")


def deny(world: World) -> None:
    world.write("hooks/deny.sh", DENIER)
    world.hooks(DENY)


@proves("output")
def test_a_redacted_output_is_what_the_model_reads(world: World) -> None:
    world.hooks(REDACT)
    session = world.run(world.call("echo sec''ret-word > proof.txt; cat proof.txt"))
    assert proof(world) == ["secret-word"], session
    if world.expects("output"):
        assert session.reached_the_model("KEPT-BACK"), session
        assert not session.reached_the_model("secret-word"), session
    else:
        assert session.reached_the_model("secret-word"), session
        noted = [str(record["ignored"]) for record in world.log() if record["event"] == "PostToolUse"]
        assert all("was left out: change of tool_output" in text for text in noted), noted
        assert noted or world.agent.name == "kimi-code", (
            "Kimi Code alone waits for no such hook, and ends it when it ends"
        )


@proves("rewrite shown")
def test_a_rewritten_input_is_printed(world: World) -> None:
    world.write("hooks/rewrite.py", REWRITER)
    world.hooks(REWRITE)
    session = world.run()
    assert session.printed("echo REWRITTEN") == world.expects("rewrite shown"), session


@proves("subagent")
def test_a_deny_holds_in_a_subagent(world: World) -> None:
    if not world.agent.subagent:
        assert not world.expects("subagent")
        return
    deny(world)
    offers = f'"name": "{world.agent.tool}"'  # some also ask for a title
    session = world.run(
        {"tool": world.agent.subagent, "match": offers, "unless": SUBTASK},
        {**world.call(), "match": offers, "unless": PROMPT},
        # Some agents do not wait for a subagent, and end it when they end.
        {"text": "All done.", "match": SUBTASK, "unless": REASON, "until": REASON},
    )
    assert any(SUBTASK in one and PROMPT not in one for one in session.requests), session
    held = world.expects("subagent")
    assert proof(world) == ([] if held else ["hello"])
    assert any(REASON in one and PROMPT not in one for one in session.requests) == held, session


@proves("other shells")
def test_a_deny_holds_for_what_another_tool_runs(world: World) -> None:
    deny(world)
    steps = [{"tool": world.agent.runner, "match": f'"name": "{world.agent.tool}"'}] if world.agent.runner else []
    session = world.run(*steps)
    assert proof(world) == []
    assert session.reached_the_model(REASON), session
    if not world.expects("other shells"):
        # What else it offers now, if this fails, is no longer what the matrix says.
        assert RUNNERS.keys() & set(session.tools) == ({"write_stdin"} & {*session.tools}), session.tools


@proves("MCP")
def test_a_tool_of_a_server_is_guarded_under_its_common_name(world: World) -> None:
    if not world.agent.servers[0]:
        assert not world.expects("MCP")
        session = world.run()
        assert not [name for name in session.tools if "mcp" in name.lower()], session.tools
        assert session.reached_the_model("MCP servers with available tools: None"), session
        return
    agents.server_config(world.agent, world.home, [sys.executable, str(SERVER)])
    world.hooks(NO_SERVER + WATCH)
    # Some agents show the model a search instead of the tool, and take a call of it all the same.
    name = AGENTS[world.agent.name].tool_name("mcp__t__echo")
    offers = f'"name": "{world.agent.tool}"'
    call = world.agent.server_call or (lambda text: {"name": name, "arguments": {"text": text}})
    calls = [{"tool": call(text), "match": offers} for text in ("forbidden", "welcome")]
    session = with_server(world, *calls)
    assert session.reached_the_model("mcp says welcome"), session
    assert session.reached_the_model("NOT-THIS-SERVER"), session
    assert not session.reached_the_model("mcp says forbidden"), session


def with_server(world: World, *steps: dict[str, Any]) -> Session:
    program = str(install.program(world.agent.package))
    runs = world.agent.runs(program, False)
    runs[-1] = ["Bash,mcp__t__echo" if word == "Bash" else word for word in runs[-1] if word != "--no-mcp"]
    return world.play(runs, list(steps), {})


@proves("resumed")
def test_a_deny_holds_in_a_resumed_session(world: World) -> None:
    deny(world)
    first = world.run({"text": "A-FIRST-WORD", "match": f'"name": "{world.agent.tool}"'})
    assert first.requests, first
    named = next((one["session"] for one in world.log() if one.get("session")), "")
    program = str(install.program(world.agent.package))
    runs = [agents.resumed(world.agent, run, named) for run in world.agent.runs(program, False)[-1:]]
    typed = [] if PROMPT in runs[-1] else [("A-FIRST-WORD", PROMPT), ("", "\r")]
    keys = [*typed, ("All done.", "/exit\r")] if world.agent.resume_typed else None
    session = world.play(runs, [world.call()], {}, keys)
    assert proof(world) == []
    assert session.reached_the_model("A-FIRST-WORD"), session
    assert session.reached_the_model(REASON), session


@proves("two agents")
def test_two_agents_work_in_one_project_at_once(world: World) -> None:
    name = "codex" if world.agent.name == "claude-code" else "claude-code"
    other = replace(world, agent=next(one for one in agents.AGENTS if one.name == name)).prepare()
    deny(world)
    other.hookline("deploy", "--agent", name, "--approve", "--door", "command")
    runs = [one.agent.runs(str(install.program(one.agent.package)), False)[-1] for one in (world, other)]
    before = world.agent.runs(str(install.program(world.agent.package)), False)[:-1]
    environ = {**other.agent.environ, **world.agent.environ}
    if before:
        world.play(before, [], {})
    session = world.play(runs, [{**one.call(), "unless": REASON} for one in (world, other)], environ, together=True)
    assert proof(world) == []
    assert len([one for one in session.requests if REASON in one]) >= 2, session
    refused = {one["agent"] for one in world.log() if one["event"] == "PreToolUse" and one["effect"] == "deny"}
    assert refused == {world.agent.name, name}
