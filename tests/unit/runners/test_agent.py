"""Hook agents: in process through the real clients, and as real commands."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.hook import AgentRun, HookSpec, Origin, Output
from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.dialects import dialect_named
from hookline.llm.scripted import ModelServer
from hookline.runners.agent import AgentRunner, build_prompt
from hookline.runners.base import Job, Stop
from hookline.runners.prompt import Fence
from hookline.runners.snapshot import ChatTurn, NotASnapshotError, Snapshot, decode, read_snapshot, snapshot_payload

MODELS = [
    "openai:gpt-4o-mini",
    "openai-responses:gpt-4o-mini",
    "anthropic:claude-haiku-5-5",
    "google:gemini-flash-latest",
]


class Stage:
    """A project with a memory of its own, and hooks of the memex dialect on it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True)
        self.settings = Settings(state_dir=str(folder / "state"))

    def job(
        self, server: ModelServer | None = None, *, data: Any = None, timeout: float = 100.0, dialect: str = "memex",
        phase: tuple[str, str] = ("UserPromptSubmit", "pre_turn"), settings: Settings | None = None, **action: Any,
    ) -> Job:  # fmt: skip
        given = {"prompt": "Be useful.", "model": "openai:gpt-4o-mini", "tools": ("memory", "ragsearch"), **action}
        environ = {**os.environ, "HOME": str(self.project.parent), **(server.environ() if server else {})}
        spec = HookSpec(
            id="h", name="scout", dialect=dialect, event=phase[0], native_event=phase[1], origin=Origin(file="c.ini"),
            action=AgentRun(**given), timeout=timeout, output=Output(inject="context"),
        )  # fmt: skip
        event = Event(
            kind=event_kind(phase[0]), data=data or {"prompt": "hello"}, environ=environ, cwd=str(self.project)
        )
        call = dialect_named(dialect).event_out(spec, event)
        return Job(spec=spec, event=event, call=call, settings=settings or self.settings, stop=Stop())

    def run(self, *given: Any, **more: Any) -> RunResult:
        job = self.job(*given, **more)
        try:
            return AgentRunner().run(job)
        finally:
            job.stop.close()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def said(raw: RunResult) -> Any:
    assert not raw.error, raw.error
    return json.loads(raw.stdout)["last_text"]


@pytest.mark.parametrize("model", MODELS)
def test_an_agent_uses_a_tool_and_speaks_with_every_provider(stage: Stage, model: str) -> None:
    steps: list[Any] = [
        {
            "tool": {"name": "memory", "arguments": {"action": "save", "memory": "likes tea"}},
            "usage": {"input": 10, "output": 2},
        },
        {"match": "saved with ID 1", "text": "noted", "usage": {"input": 20, "output": 3}},
    ]
    with ModelServer(steps) as server:
        raw = stage.run(server, model=model, steps=3)
    assert said(raw) == "noted"
    assert len(server.requests) == 2
    assert (raw.usage["input_tokens"], raw.usage["output_tokens"], raw.usage["tool_calls"]) == (30, 5, 1)


def test_tools_of_the_last_step_still_run_and_what_was_said_with_them_counts(stage: Stage) -> None:
    call = {
        "text": "writing it down",
        "tool": {"name": "memory", "arguments": {"action": "save", "memory": "fact one"}},
    }
    with ModelServer([call]) as server:
        raw = stage.run(server, steps=1)
        listed = ModelServer  # the second run reads what the first one wrote
    assert said(raw) == "writing it down"
    assert raw.notes == ("the limit of 1 steps was reached",)
    with listed(
        [{"tool": {"name": "memory", "arguments": {"action": "read"}}}, {"match": "fact one", "text": "seen"}]
    ) as server:
        assert said(stage.run(server, steps=2)) == "seen"


def test_it_ends_early_when_a_step_uses_no_tool(stage: Stage) -> None:
    with ModelServer([{"text": "one"}, {"text": "two"}]) as server:
        assert said(stage.run(server, steps=3)) == "one"
    assert len(server.requests) == 1


def test_only_the_tools_of_its_list_are_offered(stage: Stage) -> None:
    with ModelServer([{"text": "x", "repeat": True}]) as server:
        stage.run(server, tools=("memory",))
        stage.run(server, tools=())
        stage.run(server, tools=None)
    offered = [
        sorted(tool["function"]["name"] for tool in request.body.get("tools", ())) for request in server.requests
    ]
    memory = ["memory", "memory_search"]
    assert offered == [memory, [], [*memory, "ragsearch"]]


def test_an_unknown_tool_is_told_and_the_agent_works_with_the_others(stage: Stage) -> None:
    with ModelServer([{"text": "x"}]) as server:
        raw = stage.run(server, tools=("youtrack", "memory"))
    assert (said(raw), raw.notes) == ("x", ("there is no tool 'youtrack'",))


def test_an_empty_answer_is_nothing_to_say_and_no_failure(stage: Stage) -> None:
    with ModelServer([{"text": ""}]) as server:
        assert said(stage.run(server)) is None


def test_an_error_of_the_provider_is_a_failure_and_never_text(stage: Stage) -> None:
    with ModelServer([{"error": {"status": 503, "message": "overloaded"}}]) as server:
        raw = stage.run(server)
    assert "API error (503)" in raw.error
    assert (raw.stdout, raw.value) == ("", None)
    verdict = dialect_named("memex").reply_in(stage.job().spec, stage.job().event, raw)
    assert "503" in getattr(verdict, "error", "")


def test_the_deadline_covers_the_whole_run(stage: Stage) -> None:
    steps: list[Any] = [{"tool": {"name": "memory", "arguments": {"action": "read"}}}, {"hang": True}]
    with ModelServer(steps) as server:
        begun = time.monotonic()
        raw = stage.run(server, steps=5, timeout=1.5)
        assert time.monotonic() - begun < 60
    assert raw.timed_out


def test_a_tool_that_blocks_is_left_behind_at_the_deadline(stage: Stage) -> None:
    free = threading.Event()

    class Slow:
        name = "slow"

        @property
        def functions(self) -> Any:
            return (self.wait_for_it,)

        def wait_for_it(self) -> str:
            """Wait."""
            free.wait(100)
            return "done"

    job: Job | None = None
    with ModelServer([{"tool": {"name": "wait_for_it", "arguments": {}}}]) as server:
        job = stage.job(server, tools=("slow",), steps=2, timeout=1.5)
        begun = time.monotonic()
        raw = AgentRunner(tools=[Slow()]).run(job)
        spent = time.monotonic() - begun
    free.set()
    job.stop.close()
    assert raw.timed_out
    assert spent < 60


def test_a_tool_that_fails_tells_the_model(stage: Stage) -> None:
    class Broken:
        name = "broken"

        @property
        def functions(self) -> Any:
            return (self.crash,)

        def crash(self) -> str:
            """Crash."""
            raise ValueError("out of paper")

    with ModelServer(
        [{"tool": {"name": "crash", "arguments": {}}}, {"match": "out of paper", "text": "sorry"}]
    ) as server:
        job = stage.job(server, tools=("broken",), steps=2)
        raw = AgentRunner(tools=[Broken()]).run(job)
        job.stop.close()
    assert said(raw) == "sorry"


MCP_SERVER = """
import json, sys
def answer(id, result): print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    if ask["method"] == "initialize":
        version = ask["params"]["protocolVersion"]
        answer(ask["id"], {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
    elif ask["method"] == "tools/list":
        schema = {"type": "object", "properties": {"project": {"type": "string"}}}
        answer(ask["id"], {"tools": [{"name": "issues", "description": "Open issues.", "inputSchema": schema}]})
    elif ask["method"] == "tools/call":
        answer(ask["id"], {"content": [{"type": "text", "text": "two issues in " + ask["params"]["arguments"]["project"]}]})
    elif "id" in ask:
        print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"""


def test_an_mcp_server_of_the_settings_is_a_tool_by_its_name(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(MCP_SERVER)
    settings = Settings(
        state_dir=stage.settings.state_dir, mcp={"youtrack": [sys.executable, str(tmp_path / "server.py")]}
    )
    steps: list[Any] = [
        {"tool": {"name": "youtrack_issues", "arguments": {"project": "tea"}}},
        {"match": "two issues in tea", "text": "look at them"},
    ]
    with ModelServer(steps) as server:
        raw = stage.run(server, tools=("youtrack", "memory"), steps=2, settings=settings)
    assert (said(raw), raw.notes) == ("look at them", ())


def test_an_mcp_server_that_does_not_start_is_a_failure(stage: Stage) -> None:
    settings = Settings(state_dir=stage.settings.state_dir, mcp={"gone": "/no/such/program"})
    with ModelServer([{"text": "x"}]) as server:
        raw = stage.run(server, tools=("gone",), settings=settings)
    assert raw.error


# ── what it is told ──────────────────────────────────────────────────────────────────────────────────


def test_templates_are_filled_with_fenced_data_in_one_pass() -> None:
    snapshot = Snapshot(
        prompt="{{hook_name}} in {{ hook_phase }}: {{hook_input_text}} / {{chat:last=1}} / {{other}} / {{hook_gone}}.",
        variables={"hook_name": "scout", "hook_phase": "pre_turn", "hook_input_text": "say {{chat}}"},
        chat=(ChatTurn(role="user", text="first"), ChatTurn(role="assistant", text="second")),
    )
    told = build_prompt(snapshot, steps=2, fence=Fence(token="T"))
    assert told.system.startswith(
        "scout in pre_turn: <data-T>\nsay {{chat}}\n</data-T> / <data-T>\nassistant: second\n</data-T> / {{other}} / ."
    )
    assert told.user == "Turn 1 of 2."


def test_what_the_prompt_does_not_use_is_told_beside_it() -> None:
    snapshot = Snapshot(
        variables={"hook_input_text": "hello"}, chat=(ChatTurn(role="user", text="hello"),), facts={"a": 1}
    )
    told = build_prompt(snapshot, steps=1, fence=Fence(token="T"))
    assert "The message of the person:\n<data-T>\nhello\n</data-T>" in told.user
    assert "The conversation so far:\n<data-T>\nuser: hello\n</data-T>" in told.user
    assert 'The event:\n<data-T>\n{\n "a": 1\n}' in told.user


@pytest.mark.parametrize(
    ("options", "texts"),
    [("last=0", []), ("last=2", ["b", "c"]), ("role=user", ["a", "c"]), ("last=x", ["a", "b", "c"])],
)
def test_a_part_of_the_chat_can_be_asked_for(options: str, texts: list[str]) -> None:
    chat = (ChatTurn(role="user", text="a"), ChatTurn(role="assistant", text="b"), ChatTurn(role="user", text="c"))
    told = build_prompt(Snapshot(prompt=f"{{{{chat:{options}}}}}", chat=chat), steps=1, fence=Fence(token="T"))
    shown = told.system.partition("\n</data-T>")[0].removeprefix("<data-T>\n")
    assert [line.partition(": ")[2] for line in shown.splitlines() if line] == texts


def test_the_conversation_reaches_the_model(stage: Stage) -> None:
    data = {"prompt": "and tea?", "history": [{"role": "user", "text": "coffee?"}, {"role": "assistant", "text": "no"}]}
    with ModelServer([{"text": "x"}]) as server:
        stage.run(server, data=data, prompt="Look: {{chat:last=2}} {{hook_input_text}}")
    system = server.requests[0].body["messages"][0]["content"]
    assert "assistant: no\nuser: and tea?" in system
    assert "coffee" not in system


def test_a_snapshot_survives_being_written() -> None:
    snapshot = Snapshot(
        prompt="p", model="m", tools=(), variables={"hook_name": "n"}, chat=(ChatTurn(role="user", text="x"),), base_directory="/b",
    )  # fmt: skip
    assert read_snapshot(snapshot_payload(snapshot)) == snapshot


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"\xff", b'{"version": 2, "params": {}}'])
def test_what_is_no_snapshot_is_refused(raw: bytes) -> None:
    with pytest.raises(NotASnapshotError):
        read_snapshot(decode(raw))


# ── as a command ─────────────────────────────────────────────────────────────────────────────────────


def test_an_external_agent_is_a_process_with_the_snapshot_on_stdin(stage: Stage, tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(
        "import json, os, sys\nsnapshot = json.load(sys.stdin)\n"
        "text = ' '.join([snapshot['params']['hook_input_text'], sys.argv[1], os.environ['HOOKLINE_NO_HOOKS']])\n"
        "print(json.dumps({'last_text': text, 'error': None}))\n"
    )
    raw = stage.run(runner="external", command=(sys.executable, str(program), "a b"))
    assert (raw.exit_code, json.loads(raw.stdout)["last_text"]) == (0, "hello a b 1")


def test_an_external_agent_that_hangs_is_ended_at_the_deadline(stage: Stage) -> None:
    raw = stage.run(runner="external", command=("sleep", "300"), timeout=0.3)
    assert raw.timed_out


def test_without_a_command_our_own_agent_runs_with_our_settings(stage: Stage) -> None:
    settings = Settings(state_dir=stage.settings.state_dir, models={"tiny": "anthropic:small"})
    with ModelServer([{"text": "from outside", "usage": {"input": 7}}]) as server:
        raw = stage.run(server, runner="external", model="tiny", steps=2, settings=settings)
    assert (raw.error, raw.exit_code, raw.stderr) == ("", 0, "")
    assert said(raw) == "from outside"
    assert raw.usage["input_tokens"] == 7
    assert server.requests[0].body["model"] == "small"


def test_a_hook_of_another_dialect_is_told_the_event(stage: Stage) -> None:
    with ModelServer([{"text": "x", "repeat": True}]) as server:
        for runner in ("internal", "external"):
            phase = ("PreToolUse", "PreToolUse")
            stage.run(
                server, dialect="native", phase=phase, data={"tool_name": "Bash"}, prompt="Watch out.", runner=runner
            )
    assert len(server.requests) == 2
    for request in server.requests:
        assert "Watch out." in request.text
        assert "Bash" in request.text
