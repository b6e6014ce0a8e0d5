"""What every agent's own events become, through the door that all of them knock at."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from tests.recording import MemoryRecorder

from hookline.core._dataclass import replace
from hookline.core.builtin_hooks import BUILTINS
from hookline.core.hook import Function, HookSpec
from hookline.core.result import Context, Decision, Reply
from hookline.dialects import dialect_named
from hookline.engine.decorator import hook
from hookline.engine.engine import Engine
from hookline.gateway import derived
from hookline.gateway.derived import DerivedContext
from hookline.state.sessions import MemorySessions

HERE = Path(__file__).parents[3] / "payloads"
SAMPLES = HERE / "transcripts"
FOLDERS = {
    "claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "qwen-code": "qwen", "copilot-cli": "copilot",
    "letta-code": "letta", "opencode": "opencode",
}  # fmt: skip
#: Agent -> the file of the payload with which it starts, stops and ends.
MOMENTS = {
    "claude-code": ("SessionStart.startup", "Stop", "SessionEnd.other"),
    "codex": ("SessionStart.startup", "Stop", "SessionEnd.other"),
    "gemini-cli": ("SessionStart", "AfterAgent", "SessionEnd"),
    "qwen-code": ("SessionStart", "Stop", None),
    "copilot-cli": ("sessionStart", "agentStop", "sessionEnd"),
    "letta-code": ("SessionStart", "Stop", "SessionEnd"),
    "opencode": ("event-session.created", "event-session.idle", "dispose"),
}


class World:
    """An engine whose hooks write down what they hear, and say what they are told to say."""

    def __init__(self, agent: str, folder: Path, *events: str, says: dict[str, Reply] | None = None) -> None:
        self.agent, self.folder = agent, folder
        self.heard: list[tuple[str, dict[str, Any]]] = []
        answers = says or {}

        def heard(event: Any) -> Reply | None:
            self.heard.append((event.kind.name, dict(event.data)))
            return answers.get(event.kind.name)

        specs = [hook(name)(heard).spec for name in events]
        self.now = 1000.0
        self.engine = Engine(specs=specs, sessions=MemorySessions(), clock=lambda: self.now, cwd=str(folder))

    def send(self, name: str, **changes: Any) -> Decision:
        sent = json.loads((HERE / FOLDERS[self.agent] / f"{name}.json").read_text())
        return self.fire(name.partition(".")[0] if self.agent != "opencode" else name, {**sent, **changes})

    def fire(self, name: str, sent: dict[str, Any], caller: int = 0) -> Decision:
        incoming = dialect_named(self.agent).event_in(name, sent, {})
        event = self.engine.event(
            incoming.event, incoming.data, session=incoming.session, cwd=str(self.folder), agent=self.agent,
            native=sent, native_name=incoming.native_name,
        )  # fmt: skip
        scene = DerivedContext(agent=self.agent, home=str(self.folder), state=str(self.folder / "state"), caller=caller)
        return derived.fire_with_derived(self.engine, event, scene)

    def transcript(self, until: bytes = b"") -> str:
        """The real one of this agent, up to and with the last line that holds ``until``."""
        lines = (SAMPLES / f"{self.agent}.jsonl").read_bytes().splitlines(keepends=True)
        last = max((number for number, line in enumerate(lines) if until in line), default=0)
        path = self.folder / "transcript.jsonl"
        path.write_bytes(b"".join(lines[: last + 1] if until else lines))
        return str(path)

    def names(self) -> list[str]:
        return [name for name, _data in self.heard]


@pytest.mark.parametrize("agent", MOMENTS)
def test_the_final_answer_is_heard_in_every_agent(agent: str, tmp_path: Path) -> None:
    world = World(agent, tmp_path, "AssistantMessage", "Stop")
    world.send(MOMENTS[agent][1])
    assert world.names() == ["AssistantMessage", "Stop"]
    data = world.heard[0][1]
    assert data["tool_use_done"] is True
    assert (data["derived"][0], data["derived_from"]) == ("event", "Stop")
    assert "event" not in world.heard[1][1].get("derived", ())


@pytest.mark.parametrize("agent", MOMENTS)
def test_a_run_begins_and_ends_with_the_session(agent: str, tmp_path: Path) -> None:
    start, _stop, end = MOMENTS[agent]
    world = World(agent, tmp_path, "RunStart", "SessionStart", "SessionEnd", "RunEnd")
    world.send(start)
    world.now += 7
    if end is not None:
        world.send(end)
        assert world.names() == ["RunStart", "SessionStart", "SessionEnd", "RunEnd"]
        data = world.heard[-1][1]
        assert (data["status"], data["derived"][0], data["derived_from"]) == ("success", "event", "SessionEnd")
        assert data["run_id"] == world.heard[0][1]["run_id"]
        if agent != "letta-code":  # which says itself how long it took
            assert data["duration_ms"] == 7000
    else:
        assert world.names() == ["RunStart", "SessionStart"]


def test_nothing_is_made_up_that_nobody_hears(tmp_path: Path) -> None:
    world = World("codex", tmp_path, "Stop", "PostToolUse", "SessionStart")
    for name in ("SessionStart.startup", "PostToolUse.Bash", "Stop"):
        world.send(name)
    assert world.names() == ["SessionStart", "PostToolUse", "Stop"]
    assert not (tmp_path / "state").exists()


def test_a_compaction_is_no_new_run(tmp_path: Path) -> None:
    world = World("claude-code", tmp_path, "RunStart", "SessionStart")
    world.send("SessionStart.compact")
    assert world.names() == ["SessionStart"]


def test_an_agent_of_its_own_dialect_says_itself_what_happens(tmp_path: Path) -> None:
    world = World("native", tmp_path, "AssistantMessage", "Stop")
    event = world.engine.event("Stop", {}, session="s")
    derived.fire_with_derived(world.engine, event, DerivedContext(agent="native", home=str(tmp_path)))
    assert world.names() == ["Stop"]


# ── a tool that failed ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("agent", ["codex", "gemini-cli", "copilot-cli"])
def test_a_command_that_failed_is_a_failure_and_nothing_else(agent: str, tmp_path: Path) -> None:
    world = World(agent, tmp_path, "PostToolUse", "PostToolUseFailure")
    name, changes = failing(world)
    world.send(name, **changes)
    assert world.names() == ["PostToolUseFailure"]
    data = world.heard[0][1]
    assert "broken" in data["tool_error"]["message"]
    assert (data["derived"], data["derived_from"]) == (["event"], "PostToolUse")
    assert "tool_output" not in data


def failing(world: World) -> tuple[str, dict[str, Any]]:
    match world.agent:
        case "codex":
            path = world.transcript(b'"CommandExecution"')
            return "PostToolUse.Bash", {
                "transcript_path": path, "tool_use_id": "call_0", "tool_response": "broken\n",
            }  # fmt: skip
        case "gemini-cli":
            said = "<untrusted_context>\nOutput: broken\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>"
            return "AfterTool", {"tool_response": {"llmContent": said, "returnDisplay": "broken"}}
        case _:
            said = "broken\n<shellId: 1 completed with exit code 3>"
            return "postToolUse", {"toolResult": {"resultType": "success", "textResultForLlm": said}}


@pytest.mark.parametrize(
    ("agent", "name"), [("codex", "PostToolUse.Bash"), ("gemini-cli", "AfterTool"), ("copilot-cli", "postToolUse")]
)
def test_a_command_that_worked_is_left_alone(agent: str, name: str, tmp_path: Path) -> None:
    world = World(agent, tmp_path, "PostToolUse", "PostToolUseFailure")
    world.send(name)
    assert world.names() == ["PostToolUse"]


@pytest.mark.parametrize(
    ("agent", "name", "changes"),
    [
        ("gemini-cli", "AfterTool", {"tool_response": {"error": {"message": "broken"}}}),
        ("copilot-cli", "postToolUse", {"toolResult": {"resultType": "failure", "textResultForLlm": "broken"}}),
        ("opencode", "tool.execute.after", {"output": {"output": "broken", "metadata": {"exit": 3}}}),
    ],
)
def test_who_listens_to_the_end_of_tools_alone_hears_of_those_that_failed(
    agent: str, name: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    world = World(agent, tmp_path, "PostToolUse")
    world.send(name, **changes)
    assert world.names() == ["PostToolUse"]
    assert "broken" in world.heard[0][1]["tool_output"]


def test_a_word_in_the_output_is_no_failure(tmp_path: Path) -> None:
    world = World("copilot-cli", tmp_path, "PostToolUse", "PostToolUseFailure")
    said = "<shellId: 1 completed with exit code 3>\nis what it printed\n<shellId: 2 completed with exit code 0>"
    world.send("postToolUse", toolResult={"resultType": "success", "textResultForLlm": said})
    assert world.names() == ["PostToolUse"]


def test_a_server_that_says_it_failed_is_believed(tmp_path: Path) -> None:
    world = World("codex", tmp_path, "PostToolUse", "PostToolUseFailure")
    world.send("PostToolUse.mcp__t__echo", tool_response={"content": [{"type": "text", "text": "no"}], "isError": True})
    assert world.names() == ["PostToolUseFailure"]


# ── tokens and what was said ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("agent", "stop", "field"),
    [
        ("claude-code", "Stop", "transcript_path"), ("codex", "Stop", "transcript_path"),
        ("gemini-cli", "AfterAgent", "transcript_path"), ("qwen-code", "Stop", "transcript_path"),
        ("copilot-cli", "agentStop", "transcriptPath"),
    ],
)  # fmt: skip
def test_the_tokens_of_the_turn_are_with_its_end(agent: str, stop: str, field: str, tmp_path: Path) -> None:
    world = World(agent, tmp_path, "Stop", "AssistantMessage")
    until = b'"output_tokens": 15' if agent == "codex" else b"First answer."
    world.send(stop, **{field: world.transcript(until)})
    for _name, data in world.heard:
        assert data["tokens"] == {"input": 30, "cached": 0, "output": 15, "total": 45}
        assert "tokens" in data["derived"]


def test_what_copilot_does_not_say_at_its_stop_is_in_its_transcript(tmp_path: Path) -> None:
    world = World("copilot-cli", tmp_path, "Stop", "AssistantMessage")
    world.send("agentStop", transcriptPath=world.transcript())
    assert world.heard[0][1]["message"] == "All done."
    assert world.heard[1][1]["assistant_message"] == "All done."
    assert "assistant_message" in world.heard[1][1]["derived"]


def test_the_tokens_of_the_session_are_with_its_end(tmp_path: Path) -> None:
    world = World("codex", tmp_path, "RunEnd", "SessionEnd")
    world.send("SessionEnd.other", transcript_path=world.transcript())
    assert [data["tokens"]["total"] for _name, data in world.heard] == [60, 60]


def test_for_our_own_hooks_alone_no_transcript_is_read(tmp_path: Path) -> None:
    """They read it themselves, when nobody waits; a long one would hold the agent up."""
    world = World("codex", tmp_path)
    ours = [_ours("session-export", "Stop"), _ours("session-end", "SessionEnd")]
    listening = World("codex", tmp_path, "Stop", "SessionEnd")
    for engine, tokens in ((Engine(specs=ours, cwd=str(tmp_path)), False), (listening.engine, True)):
        world.engine = replace(engine, recorder=MemoryRecorder())
        for name in ("Stop", "SessionEnd.other"):
            world.send(name, transcript_path=world.transcript())
        records = cast("MemoryRecorder", world.engine.recorder).records
        assert [record.event.kind.name for record in records] == ["Stop", "SessionEnd"]
        assert [("tokens" in record.event.data) for record in records] == [tokens, tokens]


def _ours(name: str, event: str) -> HookSpec:
    spec = hook(event)(lambda _event: None).spec
    return replace(spec, name=name, action=Function(target=BUILTINS[name], call=lambda _event: None))


def test_a_transcript_of_junk_costs_the_tokens_and_nothing_else(tmp_path: Path) -> None:
    world = World("codex", tmp_path, "Stop", "AssistantMessage", "PostToolUseFailure", "RunEnd", "SessionEnd")
    junk = tmp_path / "junk"
    junk.write_bytes(b"\xff{\n" * 100)
    for name in ("Stop", "PostToolUse.Bash", "SessionEnd.other"):
        world.send(name, transcript_path=str(junk))
    assert world.names() == ["AssistantMessage", "Stop", "SessionEnd", "RunEnd"]
    assert all("tokens" not in data for _name, data in world.heard)


# ── what hooks of made-up events say ─────────────────────────────────────────────────────────────────


def test_context_goes_along_with_the_agents_own_event(tmp_path: Path) -> None:
    says = {"RunStart": Reply(context=(Context(text="from the run"),), messages=("hello",))}
    world = World("codex", tmp_path, "RunStart", "SessionStart", says=says)
    decision = world.send("SessionStart.startup")
    assert [one.context.text for one in decision.context] == ["from the run"]
    assert [one.text for one in decision.messages] == ["hello"]
    assert decision.event == "SessionStart"


def test_context_at_the_end_of_an_answer_is_told_once_in_a_turn(tmp_path: Path) -> None:
    says = {"AssistantMessage": Reply(context=(Context(text="one more thing"),))}
    world = World("claude-code", tmp_path, "AssistantMessage", says=says)
    assert [one.context.text for one in world.send("Stop").context] == ["one more thing"]
    again = world.send("Stop.active")
    assert again.context == ()
    assert "sent on already" in again.ignored[0].text


def test_a_run_cannot_be_refused_and_the_person_is_told_so(tmp_path: Path) -> None:
    says = {"RunStart": Reply(effect="deny", reason="not on a Sunday")}
    world = World("codex", tmp_path, "RunStart", "SessionStart", says=says)
    decision = world.send("SessionStart.startup")
    assert decision.effect == "allow"
    assert "not on a Sunday" in decision.messages[0].text
    assert "not on a Sunday" in decision.ignored[0].text


def test_the_agent_is_answered_in_the_words_of_its_own_event(tmp_path: Path) -> None:
    says = {"PostToolUseFailure": Reply(context=(Context(text="try again"),))}
    world = World("codex", tmp_path, "PostToolUseFailure", says=says)
    name, changes = failing(world)
    seen: list[str] = []
    sent = json.loads((HERE / "codex" / f"{name}.json").read_text()) | changes
    incoming = dialect_named("codex").event_in("PostToolUse", sent, {})
    event = world.engine.event(incoming.event, incoming.data, session="s", agent="codex", native=sent)

    def finish(now: Any, decision: Decision) -> Decision:
        seen.append(dialect_named("codex").reply_out(now, decision).stdout)
        return decision

    derived.fire_with_derived(world.engine, event, DerivedContext(agent="codex", home=str(tmp_path)), finish)
    assert json.loads(seen[0]) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "try again"}
    }


# ── prompts that nobody typed ────────────────────────────────────────────────────────────────────────

PROMPTS = {"gemini-cli": ("AfterAgent", "BeforeAgent"), "qwen-code": ("Stop", "UserPromptSubmit"),
           "copilot-cli": ("agentStop", "userPromptSubmitted")}  # fmt: skip


@pytest.mark.parametrize("agent", PROMPTS)
def test_a_reason_that_comes_back_as_a_prompt_is_marked(agent: str, tmp_path: Path) -> None:
    stop, prompt = PROMPTS[agent]
    says = {"Stop": Reply(effect="deny", reason="  run the tests\n")}
    world = World(agent, tmp_path, "Stop", "UserPromptSubmit", says=says)
    fields = {"submitted_prompt": None} if agent == "qwen-code" else {}
    sent = json.loads((HERE / FOLDERS[agent] / f"{prompt}.json").read_text())
    ours = {name: sent[name] for name in ("session_id", "sessionId") if name in sent}
    world.send(stop, **ours)
    world.send(prompt, prompt="run the tests", **fields)
    data = world.heard[-1][1]
    assert (data["auto_submit"], data["synthetic"]) == (True, "stop reason")
    world.now += 3600
    world.send(prompt, prompt="run the tests")
    assert "synthetic" not in world.heard[-1][1] or agent == "qwen-code"


def test_a_refusal_without_a_reason_comes_back_too(tmp_path: Path) -> None:
    world = World("gemini-cli", tmp_path, "Stop", "UserPromptSubmit", says={"Stop": Reply(effect="deny")})
    world.send("AfterAgent")
    world.send("BeforeAgent", prompt="Blocked by hook")
    assert world.heard[-1][1]["synthetic"] == "stop reason"


@pytest.mark.parametrize("agent", PROMPTS)
def test_what_a_person_types_is_not_marked(agent: str, tmp_path: Path) -> None:
    _stop, prompt = PROMPTS[agent]
    world = World(agent, tmp_path, "UserPromptSubmit")
    world.send(prompt, prompt="run the tests", submitted_prompt="run the tests")
    assert "synthetic" not in world.heard[0][1]
    assert "auto_submit" not in world.heard[0][1]


def test_the_loop_guard_counts_on_where_the_reason_comes_back(tmp_path: Path) -> None:
    world = World(
        "gemini-cli", tmp_path, "Stop", "UserPromptSubmit", says={"Stop": Reply(effect="deny", reason="more")}
    )
    limit = world.engine.settings.limits.stop_continuations
    world.send("BeforeAgent", prompt="begin")
    effects = []
    for _ in range(limit + 1):
        effects.append(world.send("AfterAgent").effect)
        world.send("BeforeAgent", prompt="more")
    assert effects == ["deny"] * limit + ["allow"]


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("<task-notification>\n<task-id>x", "task notification"), ("<command-name>/clear</command-name>", "command"),
        ("<stop-hook>\nno\n</stop-hook>", "stop reason"), ("<local-command-stdout></local-command-stdout>", "command"),
    ],
)  # fmt: skip
def test_what_an_agent_wraps_is_marked_with_what_it_is(prompt: str, kind: str, tmp_path: Path) -> None:
    world = World("claude-code", tmp_path, "UserPromptSubmit")
    world.send("UserPromptSubmit", prompt=prompt)
    assert (world.heard[0][1]["auto_submit"], world.heard[0][1]["synthetic"]) == (True, kind)


def test_what_gemini_puts_before_the_persons_words_is_taken_off(tmp_path: Path) -> None:
    world = World("gemini-cli", tmp_path, "UserPromptSubmit")
    world.send("BeforeAgent", prompt="<hook_context>a note</hook_context>\n\nmend the roof")
    assert world.heard[0][1]["prompt"] == "mend the roof"
    assert "synthetic" not in world.heard[0][1]


# ── sessions that end without a word ─────────────────────────────────────────────────────────────────


def started(world: World, session: str, caller: int = 0) -> None:
    sent = json.loads((HERE / "qwen" / "SessionStart.json").read_text())
    world.fire("SessionStart", {**sent, "session_id": session, "transcript_path": ""}, caller)


def an_agent() -> subprocess.Popen[bytes]:
    """A process that runs a shell, which runs the command that was registered."""
    inner = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    shell = ["sh", "-c", '"$0" -c "$1"; true', sys.executable, inner]
    program = f"import subprocess; subprocess.run({shell!r})"
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not tell who is whose parent")
def test_a_session_whose_process_is_gone_is_over_at_the_next_start(tmp_path: Path) -> None:
    assert shutil.which("sh")
    world = World("qwen-code", tmp_path, "SessionEnd", "RunEnd", "SessionStart")
    agent = an_agent()
    assert agent.stdout is not None
    started(world, "first", int(agent.stdout.readline()))
    started(world, "second")
    assert world.names() == ["SessionStart", "SessionStart"], "it still runs"
    agent.communicate()
    world.now += 5
    started(world, "third")
    assert world.names()[2:] == ["SessionEnd", "RunEnd", "SessionStart"]
    data = world.heard[2][1]
    assert (data["session_id"], data["reason"]) == ("first", "other")
    assert (data["derived"], data["derived_from"]) == (["event"], "SessionStart")
    started(world, "fourth")
    assert world.names()[5:] == ["SessionStart"], "it ends once"


def test_a_session_of_nobody_knows_which_process_is_over_when_it_was_silent_for_long(tmp_path: Path) -> None:
    world = World("qwen-code", tmp_path, "SessionEnd")
    started(world, "first")
    world.now += 1000
    started(world, "second")
    assert world.names() == []
    world.now += 1000
    started(world, "third")
    assert [data["session_id"] for _name, data in world.heard] == ["first"]


def test_a_session_that_said_that_it_ends_does_not_end_again(tmp_path: Path) -> None:
    world = World("codex", tmp_path, "SessionEnd")
    sent = json.loads((HERE / "codex" / "SessionStart.startup.json").read_text())
    ending = json.loads((HERE / "codex" / "SessionEnd.other.json").read_text())
    world.fire("SessionStart", {**sent, "session_id": "one"})
    world.fire("SessionEnd", {**ending, "session_id": "one"})
    stop = json.loads((HERE / "codex" / "Stop.json").read_text())
    world.fire("Stop", {**stop, "session_id": "one"})
    world.now += 100_000
    world.fire("SessionStart", {**sent, "session_id": "two"})
    assert [data["session_id"] for _name, data in world.heard] == ["one"]


def test_a_state_that_cannot_be_written_costs_nothing_but_the_end(tmp_path: Path) -> None:
    world = World("qwen-code", tmp_path, "SessionEnd", "SessionStart")
    (tmp_path / "state").write_text("in the way")
    started(world, "first")
    world.now += 10_000
    started(world, "second")
    assert world.names() == ["SessionStart", "SessionStart"]
