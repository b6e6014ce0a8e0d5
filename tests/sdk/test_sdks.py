"""Programs on agent SDKs, with the real packages, against a model server that speaks the real protocols."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI

from hookline import UsageError
from hookline.llm.scripted import ModelServer, Script
from hookline.sdk import Hooks, PromptRefused

pytestmark = pytest.mark.filterwarnings("default")  # of the packages; ours are still seen by every other test

#: Runs one prompt with one tool, ``note(text)``, and returns the agent's last words.
Driver = Callable[[Hooks, str, Callable[[str], str]], Coroutine[Any, Any, str]]


async def _pydantic_ai(hooks: Hooks, prompt: str, note: Callable[[str], str]) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from hookline.sdk import pydantic_ai_capability

    async with AsyncOpenAI() as client:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
        agent = Agent(model, tools=[note], capabilities=[pydantic_ai_capability(hooks=hooks)], retries=3)
        return str((await agent.run(prompt)).output)


async def _openai_agents(hooks: Hooks, prompt: str, note: Callable[[str], str]) -> str:
    agents = pytest.importorskip("agents")
    from hookline.sdk import openai_agent

    agents.set_tracing_disabled(True)
    async with AsyncOpenAI() as client:
        model = agents.OpenAIResponsesModel("scripted", client)
        agent = agents.Agent(name="writer", instructions="Be brief.", tools=[agents.function_tool(note)], model=model)
        try:
            return str((await agents.Runner.run(openai_agent(agent, hooks=hooks), prompt)).final_output)
        except agents.InputGuardrailTripwireTriggered as refused:
            raise PromptRefused(refused.guardrail_result.output.output_info) from refused


async def _langchain(hooks: Hooks, prompt: str, note: Callable[[str], str]) -> str:
    create_agent = pytest.importorskip("langchain.agents").create_agent
    from langchain_openai import ChatOpenAI

    from hookline.sdk import langchain_middleware

    async with httpx.AsyncClient() as client:
        model = ChatOpenAI(model="scripted", http_async_client=client)
        agent = create_agent(model, tools=[note], middleware=[langchain_middleware(hooks=hooks)])
        result = await agent.ainvoke({"messages": [("user", prompt)]})
    return str(result["messages"][-1].content)


async def _langchain_sync(hooks: Hooks, prompt: str, note: Callable[[str], str]) -> str:
    create_agent = pytest.importorskip("langchain.agents").create_agent
    from langchain_openai import ChatOpenAI

    from hookline.sdk import langchain_middleware

    with httpx.Client() as client:
        model = ChatOpenAI(model="scripted", http_client=client)
        agent = create_agent(model, tools=[note], middleware=[langchain_middleware(hooks=hooks)])
        result = await asyncio.to_thread(agent.invoke, {"messages": [("user", prompt)]})
    return str(result["messages"][-1].content)


async def _langgraph(hooks: Hooks, prompt: str, note: Callable[[str], str]) -> str:
    graphs = pytest.importorskip("langgraph.graph")
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import tools_condition

    from hookline.sdk import langgraph_tool_node

    with httpx.Client() as client:
        model = ChatOpenAI(model="scripted", http_client=client).bind_tools([note])
        graph = graphs.StateGraph(graphs.MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", langgraph_tool_node([note], hooks=hooks))
        graph.add_edge("__start__", "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        result = await graph.compile().ainvoke({"messages": [("user", prompt)]})
    return str(result["messages"][-1].content)


DRIVERS: dict[str, Driver] = {
    "pydantic-ai": _pydantic_ai,
    "openai-agents": _openai_agents,
    "langchain": _langchain,
}
if os.environ.get("HOOKLINE_SDK"):  # make sdk; most of what these do is langchain's
    DRIVERS |= {"langchain-sync": _langchain_sync, "langgraph": _langgraph}
SCRIPT: list[dict[str, Any]] = [
    {"tool": {"name": "note", "arguments": {"text": "original"}}},
    {"text": "done", "repeat": True},
]
#: Those that see prompts and ends.
AGENTS = tuple(name for name in DRIVERS if name != "langgraph")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModelServer]:
    with ModelServer(SCRIPT) as running:
        for name, value in {**running.environ(), "HOOKLINE_STATE_DIR": str(tmp_path / "state")}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("LANGSMITH_TRACING", "false")
        yield running


class Program:
    """One run of an agent with hooks from a file."""

    def __init__(self, name: str, tmp_path: Path, toml: str, **options: Any) -> None:
        self.ran: list[str] = []
        file = tmp_path / "hookline.toml"
        file.write_text(toml)
        hooks = Hooks(config=[file], cwd=tmp_path, agent=name, **options)

        def note(text: str) -> str:
            """Write a note."""
            self.ran.append(text)
            return f"wrote {text}, the password is hunter2"

        try:
            self.said = asyncio.run(DRIVERS[name](hooks, "write a note", note))
        finally:
            hooks.close()


def _hook(event: str, shell: str, more: str = "") -> str:
    return f"[[hook]]\nname = 'h'\non = '{event}'\nshell = '''{shell}'''\n{more}\n"


@pytest.mark.parametrize("name", DRIVERS)
def test_a_hook_without_an_opinion_lets_the_tool_run(name: str, server: ModelServer, tmp_path: Path) -> None:
    program = Program(name, tmp_path, _hook("PreToolUse", "true"))
    assert (program.ran, program.said) == (["original"], "done")
    assert "hunter2" in server.requests[-1].text


@pytest.mark.parametrize("name", DRIVERS)
def test_a_deny_keeps_the_tool_from_running_and_the_model_gets_the_reason(
    name: str, server: ModelServer, tmp_path: Path
) -> None:
    program = Program(name, tmp_path, _hook("PreToolUse", "echo not on Fridays >&2; exit 2"))
    assert (program.ran, program.said) == ([], "done")
    assert "not on Fridays" in server.requests[-1].text


@pytest.mark.parametrize("name", AGENTS)
def test_all_events_of_a_run_are_one_session(name: str, server: ModelServer, tmp_path: Path) -> None:
    keep = """printf '%s\\n' "$HOOKLINE_EVENT $HOOKLINE_SESSION" >> seen"""
    events = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    Program(name, tmp_path, "".join(_hook(event, keep).replace("'h'", f"'{event}'") for event in events))
    seen = [line.split(" ") for line in (tmp_path / "seen").read_text().splitlines()]
    assert [event for event, _session in seen] == list(events)
    assert len({session for _event, session in seen}) == 1
    assert seen[0][1]


@pytest.mark.parametrize("name", DRIVERS)
def test_a_rewritten_input_is_what_the_tool_gets(name: str, server: ModelServer, tmp_path: Path) -> None:
    rewrite = """echo '{"data": {"tool_input": {"text": "rewritten"}}}'"""
    assert Program(name, tmp_path, _hook("PreToolUse", rewrite)).ran == ["rewritten"]


@pytest.mark.parametrize("name", DRIVERS)
def test_a_redacted_output_is_all_that_the_model_reads(name: str, server: ModelServer, tmp_path: Path) -> None:
    redact = """echo '{"data": {"tool_output": "wrote it, the password is [redacted]"}}'"""
    assert Program(name, tmp_path, _hook("PostToolUse", redact)).ran == ["original"]
    assert "[redacted]" in server.requests[-1].text
    assert not any("hunter2" in request.text for request in server.requests)


@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_text_about_a_call_reaches_the_model(name: str, event: str, server: ModelServer, tmp_path: Path) -> None:
    Program(name, tmp_path, _hook(event, "echo the notes are public", "inject = 'context'"))
    assert "the notes are public" in server.requests[-1].text
    assert "hunter2" in server.requests[-1].text


@pytest.mark.parametrize("name", AGENTS)
def test_text_about_a_prompt_reaches_the_model(name: str, server: ModelServer, tmp_path: Path) -> None:
    Program(name, tmp_path, _hook("UserPromptSubmit", "echo today is Friday", "inject = 'context'"))
    assert "today is Friday" in server.requests[0].text


@pytest.mark.parametrize("name", AGENTS)
def test_a_denied_prompt_never_reaches_the_model(name: str, server: ModelServer, tmp_path: Path) -> None:
    toml = _hook("UserPromptSubmit", "echo no prompts today >&2; exit 2")
    if name.startswith("langchain"):
        assert Program(name, tmp_path, toml).said == "no prompts today"
    else:
        with pytest.raises(PromptRefused, match="no prompts today"):
            Program(name, tmp_path, toml)
    assert server.requests == ()


@pytest.mark.parametrize("name", AGENTS)
def test_a_refused_stop_makes_the_agent_go_on_where_the_sdk_can(name: str, server: ModelServer, tmp_path: Path) -> None:
    once = "test -e stopped && exit 0; touch stopped; echo one more thing >&2; exit 2"
    program = Program(name, tmp_path, _hook("Stop", once))
    assert (program.ran, program.said) == (["original"], "done")
    assert ("one more thing" in server.requests[-1].text) is (name != "openai-agents")
    assert (tmp_path / "stopped").exists()


@pytest.mark.parametrize("name", DRIVERS)
def test_a_guard_that_cannot_run_refuses(name: str, server: ModelServer, tmp_path: Path) -> None:
    guard = "[[hook]]\nname = 'guard'\non = 'PreToolUse'\nrun = './gone'\non_failure = 'deny'\n"
    assert Program(name, tmp_path, guard).ran == []
    assert "guard" in server.requests[-1].text


@pytest.mark.parametrize("name", DRIVERS)
def test_a_guard_that_cannot_be_loaded_refuses(name: str, server: ModelServer, tmp_path: Path) -> None:
    program = Program(name, tmp_path, _hook("PreToolUse", "true", "timeuot = '1s'\non_failure = 'never'"))
    assert program.ran == []
    assert "hookline failed" in server.requests[-1].text


@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize(("answer", "ran"), [(None, []), (False, []), (True, ["original"])])
def test_a_hook_that_asks_needs_a_persons_yes(
    name: str, answer: bool | None, ran: list[str], server: ModelServer, tmp_path: Path
) -> None:
    questions: list[tuple[str, Any, str]] = []

    def ask(tool: str, given: Any, reason: str) -> bool:
        questions.append((tool, given, reason))
        return bool(answer)

    toml = _hook("PreToolUse", """echo '{"effect": "ask", "reason": "a note is for ever"}'""")
    program = Program(name, tmp_path, toml, **({} if answer is None else {"ask": ask}))
    assert program.ran == ran
    assert questions == ([] if answer is None else [("note", {"text": "original"}, "a note is for ever")])
    assert ran or "a note is for ever" in server.requests[-1].text


@pytest.mark.parametrize("name", DRIVERS)
def test_a_tools_failure_is_an_event(name: str, server: ModelServer, tmp_path: Path) -> None:
    hooks = tmp_path / "hookline.toml"
    # OpenAI's SDK turns an exception into an output before anybody sees it, and keeps what it says for itself.
    event, said = ("PostToolUseFailure", "the disk is full")
    if name == "openai-agents":
        event, said = ("PostToolUse", "An error occurred while running the tool")
    hooks.write_text(_hook(event, "cat > failed.json"))

    def note(text: str) -> str:
        """Write a note."""
        raise OSError("the disk is full")

    shared = Hooks(config=[hooks], cwd=tmp_path, agent=name)
    try:
        asyncio.run(DRIVERS[name](shared, "write a note", note))
    except OSError:
        pass  # most SDKs let it end the run
    finally:
        shared.close()
    assert said in (tmp_path / "failed.json").read_text()
    assert os.listdir(tmp_path / "state")


MCP_SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")


@server.tool()
def note(text: str) -> str:
    open("proof", "a").write(text)
    return "wrote it, the password is hunter2"


server.run("stdio")
"""


@pytest.mark.parametrize("hook", ["deny", "redact"])
def test_a_tool_of_an_mcp_server_behind_a_handoff_is_guarded(hook: str, server: ModelServer, tmp_path: Path) -> None:
    agents, mcp = pytest.importorskip("agents"), pytest.importorskip("agents.mcp")
    from hookline.sdk import openai_agent

    server.script = Script([{"tool": {"name": "transfer_to_writer", "arguments": {}}}, *SCRIPT])
    (tmp_path / "server.py").write_text(MCP_SERVER)
    shell = "echo no notes >&2; exit 2" if hook == "deny" else """echo '{"data": {"tool_output": "[redacted]"}}'"""
    event = "PreToolUse" if hook == "deny" else "PostToolUse"
    (tmp_path / "hookline.toml").write_text(_hook(event, shell, "match = 'mcp__notes__note'"))
    hooks = Hooks(config=[tmp_path / "hookline.toml"], cwd=tmp_path, agent="openai-agents")

    async def run() -> None:
        agents.set_tracing_disabled(True)
        start = {"command": sys.executable, "args": ["server.py"], "cwd": str(tmp_path)}
        async with AsyncOpenAI() as client, mcp.MCPServerStdio(params=start, name="notes") as notes:
            model = agents.OpenAIResponsesModel("scripted", client)
            writer = agents.Agent(name="writer", mcp_servers=[notes], model=model)
            first = agents.Agent(name="first", handoffs=[writer], model=model)
            await agents.Runner.run(openai_agent(first, hooks=hooks), "write a note")

    asyncio.run(run())
    hooks.close()
    assert (tmp_path / "proof").exists() is (hook == "redact")
    assert ("no notes" if hook == "deny" else "[redacted]") in server.requests[-1].text
    assert not any("hunter2" in request.text for request in server.requests)


def test_a_tool_that_hooks_cannot_see_is_refused_unless_it_is_named() -> None:
    agents = pytest.importorskip("agents")
    from hookline.sdk import openai_agent

    agent = agents.Agent(name="a", tools=[agents.WebSearchTool()])
    with pytest.raises(UsageError, match=r"unguarded=\['web_search'\]"):
        openai_agent(agent)
    assert len(openai_agent(agent, unguarded=["web_search"]).tools) == 1
