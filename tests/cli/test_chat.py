"""The headless chat, as a program from outside, against a model server that speaks the real protocols."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hookline.cli import main
from hookline.engine.build import Runtime, Sources, load_runtime
from hookline.llm.scripted import ModelServer

pytest.importorskip("pydantic_ai")

from hookline.agent.chat.context import ChatOptions
from hookline.agent.chat.headless import HeadlessResult, answer_once

BASH = {"name": "Bash", "arguments": {"command": "echo made > made.txt; cat made.txt"}}


@dataclass(frozen=True)
class Answered:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def _chat(project: Any, server: ModelServer, *words: str, model: str = "openai:scripted") -> Answered:
    """The whole command, in this process: a new one would spend its time importing the models' library."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), "LANG": "C.UTF-8", **server.environ()}
    for other in ("ANTHROPIC", "GEMINI"):
        if other.lower() not in model and "google" not in model:
            environ.pop(f"{other}_API_KEY")  # hooks that name no model ask the first provider that has a key
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.chdir(project.path)
        code = main(["chat", "--model", model, "--json", *words])
    return Answered(code, *(one.buffer.getvalue().decode() for one in (out, err)))


def _events(answer_once: Any) -> list[str]:
    return [one["event"] for one in answer_once["decisions"]]


def _settings(project: Any, **hooks: Any) -> str:
    """Letta Code's settings: event -> list of (matcher, command)."""
    table = {
        event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]} for matcher, command in rows]
        for event, rows in hooks.items()
    }
    return str(project.write("letta.json", json.dumps({"hooks": table})))


def _letta(project: Any, **hooks: Any) -> list[str]:
    return ["--dialect", "letta", "--config", _settings(project, **hooks)]


def _texts(request: Any) -> list[tuple[str, str]]:
    """(role, text) of an OpenAI request."""
    found = []
    for message in request.body["messages"]:
        content = message.get("content")
        if isinstance(content, list):
            content = "\n".join(part.get("text", "") for part in content)
        found.append((message["role"], content or ""))
    return found


def test_the_guard_refuses_a_call_and_the_model_learns_why(project: Any) -> None:
    file = project.home / ".config" / "hookline" / "hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[guard]\npolicy = "standard"\n')
    call = {"name": "Bash", "arguments": {"command": "x=rm; $x -rf ~"}}
    with ModelServer([{"tool": call}, {"text": "I may not."}]) as server:
        _chat(project, server, "-p", "tidy up", "--permission-mode", "all")
        told = _texts(server.requests[-1])
    assert file.exists()
    assert any("files are deleted" in text for _role, text in told)


def test_a_turn_with_a_tool_fires_every_event_in_order_and_reports_them(project: Any) -> None:
    with ModelServer([{"text": "Looking.", "tool": BASH}, {"text": "It says made."}]) as server:
        result = _chat(project, server, "-p", "make it", "--permission-mode", "all")
    answer_once = result.json
    assert result.code == 0, result.err
    assert _events(answer_once) == [
        "SessionStart", "RunStart", "UserPromptSubmit", "AssistantMessage", "PreToolUse", "PostToolUse",
        "AssistantMessage", "Stop", "RunEnd", "Notification", "SessionEnd",
    ]  # fmt: skip
    assert answer_once["text"] == "It says made."
    (call,) = answer_once["tool_calls"]
    assert (call["name"], call["output"], call["is_error"], call["decision"]) == ("Bash", "made", False, "allowed")
    assert answer_once["tokens"] == {"input": 20, "cached": 0, "output": 10, "total": 30}
    assert len(answer_once["records"]) == len(set(answer_once["records"])) == 11
    post = next(one["data"] for one in answer_once["decisions"] if one["event"] == "PostToolUse")
    assert post["preceding_assistant_message"] == "Looking."
    assert post["tokens"]["total"] == 15
    assert (project.path / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize(
    "model", ["openai:scripted", "anthropic:scripted", "openai-responses:scripted", "google:scripted"]
)
def test_the_protocols_of_several_providers_carry_a_tool_call_and_its_result(project: Any, model: str) -> None:
    with ModelServer([{"tool": BASH}, {"text": "done"}]) as server:
        answer_once = _chat(project, server, "-p", "go", "--permission-mode", "all", model=model).json
        last = server.requests[-1]
        again = _chat(project, server, "-p", "and again", "--continue", model=model).json
        resumed = server.requests[-1]
    assert (answer_once["text"], again["text"]) == ("done", "All done.")
    assert "made" in last.text
    for word in ("go", "made", "done", "and again"):
        assert word in resumed.text


def test_without_a_permission_nobody_is_asked_and_the_model_is_told(project: Any) -> None:
    with ModelServer([{"tool": BASH}, {"text": "ok"}]) as server:
        answer_once = _chat(project, server, "-p", "go").json
    (call,) = answer_once["tool_calls"]
    assert call["decision"] == "denied"
    assert call["output"].startswith("Permission denied: nobody can be asked here")
    assert "PermissionRequest" in _events(answer_once)
    assert not (project.path / "made.txt").exists()


def test_a_rule_allows_one_command_and_nothing_that_is_hung_onto_it(project: Any) -> None:
    calls = [{"name": "Bash", "arguments": {"command": text}} for text in ("echo one", "echo two; touch evil")]
    with ModelServer([{"tools": calls}, {"text": "ok"}]) as server:
        answer_once = _chat(project, server, "-p", "go", "--allow", "Bash(echo *)").json
    assert [call["decision"] for call in answer_once["tool_calls"]] == ["allowed", "denied"]
    assert not (project.path / "evil").exists()


def test_reading_inside_the_project_is_free_and_outside_is_not(project: Any) -> None:
    project.write("a.txt", "inside\n")
    calls = [{"name": "Read", "arguments": {"file_path": name}} for name in ("a.txt", "/etc/passwd")]
    with ModelServer([{"tools": calls}, {"text": "ok"}]) as server:
        answer_once = _chat(project, server, "-p", "go").json
    assert [call["decision"] for call in answer_once["tool_calls"]] == ["allowed", "denied"]


def test_the_wrappers_in_which_feedback_reaches_the_model(project: Any) -> None:
    words = _letta(
        project,
        SessionStart=[("*", "echo from the start")],
        UserPromptSubmit=[("*", "echo a reminder")],
        PreToolUse=[("Write", "echo no writing >&2; exit 2")],
        PostToolUse=[("Bash", "echo too long >&2; exit 2")],
        Stop=[("*", "test -e stopped || { touch stopped; echo not yet >&2; exit 2; }")],
    )
    write = {"name": "Write", "arguments": {"file_path": "x", "content": "y"}}
    with ModelServer([{"tools": [BASH, write]}, {"text": "first"}, {"text": "second"}]) as server:
        answer_once = _chat(project, server, "-p", "go", "--permission-mode", "all", *words).json
        first, _, third = (_texts(request) for request in server.requests)
    assert first[1:] == [
        ("user", "<system-reminder>\n[SessionStart hook context]:\nfrom the start\n</system-reminder>\n\n"),
        ("user", "<system-reminder>\na reminder\n</system-reminder>"),
        ("user", "go"),
    ]
    outputs = [call["output"] for call in answer_once["tool_calls"]]
    assert outputs == [
        "made\n\n[Hook feedback]:\n[echo too long >&2; exit 2]: too long",
        "Error: Tool execution blocked by hook. [echo no writing >&2; exit 2]: no writing",
    ]
    assert third[-1] == ("user", "<stop-hook>\nnot yet\n</stop-hook>")
    assert answer_once["text"] == "second"
    stops = [one["data"] for one in answer_once["decisions"] if one["event"] == "Stop"]
    assert [(stop["continuations"], stop.get("auto_submit", False)) for stop in stops] == [(0, False), (1, True)]


def test_a_blocked_prompt_never_reaches_the_model(project: Any) -> None:
    words = _letta(project, UserPromptSubmit=[("*", "echo not on Fridays >&2; exit 2")])
    with ModelServer([]) as server:
        result = _chat(project, server, "-p", "deploy", *words)
        assert server.requests == ()
    assert result.code == 1
    assert result.json["stop_reason"] == "blocked"
    told = "<user-prompt-submit-hook>[echo not on Fridays >&2; exit 2]: not on Fridays</user-prompt-submit-hook>"
    assert told in result.err
    assert _events(result.json)[-1] == "SessionEnd"
    ended = next(one["data"] for one in result.json["decisions"] if one["event"] == "RunEnd")
    assert ended["status"] == "success"


def test_a_stop_hook_that_never_gives_in_meets_the_guard(project: Any) -> None:
    words = _letta(project, Stop=[("*", "echo more >&2; exit 2")])
    with ModelServer({"steps": [], "default": {"text": "again"}}) as server:
        answer_once = _chat(project, server, "-p", "go", *words).json
        assert len(server.requests) == 9
    assert answer_once["stop_reason"] == "end_turn"


def test_a_hook_grants_or_denies_a_permission_only_by_saying_so(project: Any) -> None:
    grant = """echo '{"hookSpecificOutput": {"decision": {"behavior": "allow"}}}'"""
    words = _letta(project, PermissionRequest=[("Bash", "true"), ("Bash", grant), ("Write", "echo never >&2; exit 2")])
    write = {"name": "Write", "arguments": {"file_path": "x", "content": "y"}}
    edit = {"name": "Edit", "arguments": {"file_path": "x", "old_string": "y", "new_string": "z"}}
    with ModelServer([{"tools": [BASH, write, edit]}, {"text": "ok"}]) as server:
        answer_once = _chat(project, server, "-p", "go", *words).json
    decisions = {call["name"]: (call["decision"], call["output"]) for call in answer_once["tool_calls"]}
    assert decisions["Bash"] == ("hook granted", "made")
    assert decisions["Write"] == ("hook denied", "Permission denied: [echo never >&2; exit 2]: never")
    assert decisions["Edit"][0] == "denied"


def test_a_rewritten_call_runs_as_rewritten_and_its_permission_is_judged_anew(project: Any) -> None:
    answer_once = {"hookSpecificOutput": {"updatedInput": {"command": "echo rewritten"}}}
    words = _letta(project, PreToolUse=[("Bash", f"echo '{json.dumps(answer_once)}'")])
    with ModelServer([{"tool": BASH}, {"text": "ok"}]) as server:
        told = _chat(project, server, "-p", "go", "--allow", "Bash(echo rewritten)", *words).json
    (call,) = told["tool_calls"]
    assert (call["input"]["command"], call["output"], call["decision"]) == ("echo rewritten", "rewritten", "allowed")


def test_a_failed_call_is_told_to_the_failure_hooks(project: Any) -> None:
    words = _letta(project, PostToolUseFailure=[("*", "cat > seen.json")], PostToolUse=[("*", "touch wrong")])
    with ModelServer(
        [{"text": "hm", "tool": {"name": "Bash", "arguments": {"command": "exit 3"}}}, {"text": "ok"}]
    ) as server:
        _chat(project, server, "-p", "go", "--permission-mode", "all", *words)
    seen = json.loads((project.path / "seen.json").read_text())
    assert (seen["error_message"], seen["preceding_assistant_message"]) == ("Exit code 3", "hm")
    assert not (project.path / "wrong").exists()


def test_a_subagent_works_on_its_own_and_a_refused_stop_sends_it_back(project: Any) -> None:
    words = _letta(project, SubagentStop=[("*", "test -e once || { touch once; echo be thorough >&2; exit 2; }")])
    task = {"name": "Task", "arguments": {"description": "look around", "prompt": "count the files"}}
    script: list[Any] = [{"tool": task}, {"text": "sub one"}, {"text": "sub two"}, {"text": "there are two"}]
    with ModelServer(script) as server:
        answer_once = _chat(project, server, "-p", "go", *words).json
        second, third = _texts(server.requests[1]), _texts(server.requests[2])
        tools = {tool["function"]["name"] for tool in server.requests[1].body["tools"]}
    assert second[-1] == ("user", "count the files")
    assert third[-1] == ("user", "<stop-hook>\nbe thorough\n</stop-hook>")
    assert "Task" not in tools
    assert answer_once["tool_calls"][0]["output"] == "sub two"
    events = _events(answer_once)
    assert (events.count("SubagentStart"), events.count("SubagentStop")) == (1, 2)
    beside = list(Path(answer_once["transcript_path"].removesuffix(".jsonl")).glob("subagents/agent-*.jsonl"))
    assert len(beside) == 1


def test_a_session_is_resumed_with_all_that_was_said(project: Any) -> None:
    with ModelServer([{"tool": BASH}, {"text": "first answer"}, {"text": "second answer"}]) as server:
        first = _chat(project, server, "-p", "one", "--permission-mode", "all").json
        second = _chat(project, server, "-p", "two", "--resume", first["session_id"][:8]).json
        third = _chat(project, server, "-p", "three", "--continue").json
        sent = _texts(server.requests[-1])
    assert first["session_id"] == second["session_id"] == third["session_id"]
    assert [text for _, text in sent[1:]] == ["one", "", "made", "first answer", "two", "second answer", "three"]
    started = second["decisions"][0]
    assert (started["event"], started["data"]["source"]) == ("SessionStart", "resume")
    assert started["data"]["is_new_session"] is False
    submitted = next(one["data"] for one in third["decisions"] if one["event"] == "UserPromptSubmit")
    assert (submitted["turn"], submitted["messages_length"]) == (3, 5)


def test_a_conversation_over_the_limit_is_compacted_and_hooks_hear_of_it(project: Any) -> None:
    big = {"input": 5000, "output": 10}
    script: list[Any] = [{"text": "long", "usage": big}, {"text": "SUMMARY"}, {"text": "after"}]
    with ModelServer(script) as server:
        first = _chat(project, server, "-p", "one", "--context-limit", "4000").json
        assert "PreCompact" not in _events(first)
        second = _chat(project, server, "-p", "x" * 20000, "--continue", "--context-limit", "4000").json
        sent = _texts(server.requests[-1])
    events = _events(second)
    assert events.index("PreCompact") < events.index("PostCompact")
    assert "SUMMARY" in sent[1][1]
    assert len(sent) == 2


def test_lectic_output_keeps_the_loop_alive_until_it_is_final(project: Any) -> None:
    hook = """
interlocutor: {name: Assistant, prompt: x}
hooks:
  - on: assistant_message
    inline: true
    do: |
      #!/bin/sh
      [ "$FINAL_PASS_COUNT" = 0 ] || printf 'LECTIC:final\\n\\n'
      echo "lint $LOOP_COUNT"
"""
    config = project.write("lectic.yaml", hook)
    with ModelServer([{"text": "one"}, {"text": "two"}, {"text": "three"}]) as server:
        answer_once = _chat(project, server, "-p", "go", "--dialect", "lectic", "--config", str(config)).json
        assert len(server.requests) == 2
        assert _texts(server.requests[1])[-1] == ("user", "lint 0\n")
    assert answer_once["text"] == "two"


def test_a_reset_begins_the_context_anew_live_and_when_resumed(project: Any) -> None:
    hook = """
interlocutor: {name: Assistant, prompt: x}
hooks:
  - on: assistant_message
    inline: true
    do: |
      #!/bin/sh
      [ -e reset ] && exit 0
      touch reset
      printf 'LECTIC:reset\\nLECTIC:final\\n\\ncleared\\n'
"""
    words = ["--dialect", "lectic", "--config", str(project.write("lectic.yaml", hook))]
    with ModelServer([{"text": "one"}, {"text": "two"}]) as server:
        _chat(project, server, "-p", "old words", *words)
        _chat(project, server, "-p", "new words", "--continue", *words)
        sent = _texts(server.requests[-1])
    assert [text.strip() for _, text in sent[1:]] == ["cleared", "one", "new words"]


def test_a_lectic_failure_ends_the_run_with_an_error(project: Any) -> None:
    hook = """
interlocutor: {name: Assistant, prompt: x}
hooks:
  - {on: user_message, do: "false", name: guard}
  - {on: error, do: "touch errored"}
"""
    config = project.write("lectic.yaml", hook)
    with ModelServer([]) as server:
        result = _chat(project, server, "-p", "go", "--dialect", "lectic", "--config", str(config))
        assert server.requests == ()
    assert (result.code, result.json["stop_reason"]) == (1, "error")
    assert "guard" in result.json["error"]
    assert (project.path / "errored").exists()


MEMEX = """
[HOOKS]
session_start = daily
pre_turn = scout
post_turn = scribe
session_end = debrief
[HOOK.daily]
prompt = DAILY
tools = None
label = Tasks
prefix = "### Today"
[HOOK.scout]
prompt = SCOUT
[HOOK.scribe]
prompt = SCRIBE
mode = silent
tools = None
[HOOK.debrief]
prompt = DEBRIEF
tools = None
label = Debrief
"""


def test_memex_agents_run_around_turns_and_what_the_last_one_says_is_sent_on_resume(project: Any) -> None:
    words = ["--dialect", "memex", "--config", str(project.write("config.ini", MEMEX))]
    project.write("notes.txt", "remember the milk\n")
    script: list[Any] = [
        {"match": "DAILY", "text": "buy milk"},
        {"match": "SCOUT", "text": "scouted", "repeat": True},
        {"match": "SCRIBE", "text": "noted", "repeat": True},
        {"match": "DEBRIEF", "text": "it went well", "repeat": True},
        {"text": "answer", "repeat": True},
    ]
    with ModelServer(script) as server:
        first = _chat(project, server, "-p", "one", *words).json
        before = len(server.requests)
        _chat(project, server, "-p", "two", "--continue", *words)
        main = [_texts(request) for request in server.requests if "You are an agent that works" in request.text]
        scout = next(request for request in server.requests if "SCOUT" in request.text)
    assert before == 5
    assert first["text"] == "answer"
    assert [text for _, text in main[0][1:]] == [
        "<|results:Tasks|>\n### Today\nbuy milk\n<|end_file:Tasks|>",
        "<|results:hook:scout|>\nscouted\n<|end_file:hook:scout|>",
        "one",
    ]
    assert "<|results:Debrief|>\nit went well\n<|end_file:Debrief|>" in [text for _, text in main[1]]
    assert {"read", "grep", "glob"} <= {tool["function"]["name"] for tool in scout.body["tools"]}


_AFTER = """
[HOOKS]
post_turn = critic, scribe
[HOOK.critic]
prompt = CRITIC
tools = None
model = nick
label = Critic
[HOOK.scribe]
prompt = SCRIBE
tools = youtrack
mode = silent
model = other
"""


def test_what_a_post_turn_hook_injects_stands_in_front_of_the_answer(project: Any) -> None:
    """Nicknames come from models.ini and from [models]; the tokens of every hook are in the totals."""
    project.write("memex/config.ini", _AFTER)
    project.write("memex/models.ini", "[nick]\nprovider = OpenAI\nmodel_name = critic-1\n")
    own = Path(project.home, ".config/hookline/hookline.toml")
    own.parent.mkdir(parents=True)
    own.write_text('[models]\nother = "openai:scribe-1"\n')
    words = ("--dialect", "memex", "--config", "memex/config.ini")
    usage = {"usage": {"input": 10, "output": 1}}
    script: list[Any] = [
        {"match": "CRITIC", "text": "too short", "repeat": True, **usage},
        {"match": "SCRIBE", "text": "noted", "repeat": True, **usage},
        {"text": "first answer", "usage": {"input": 100, "output": 5}},
        {"text": "second answer", "usage": {"input": 200, "output": 5}},
    ]
    with ModelServer(script) as server:
        first = _chat(project, server, "-p", "one", *words)
        again = _chat(project, server, "-p", "two", "--resume", first.json["session_id"], *words)
        models = {request.body["model"] for request in server.requests}
        main = [request for request in server.requests if "You are an agent that works" in request.text][1]
    assert models == {"scripted", "critic-1", "scribe-1"}
    assert "hookline has no tool 'youtrack'; configure an MCP server of that name in [mcp]" in first.err
    assert first.json["tokens"] == {"input": 120, "cached": 0, "output": 7, "total": 127}
    assert again.json["tokens"] == {"input": 220, "cached": 0, "output": 7, "total": 227}
    assert [text for role, text in _texts(main) if role == "assistant"] == [
        "<|results:Critic|>\ntoo short\n<|end_file:Critic|>\n\nfirst answer"
    ]


def test_a_tool_of_ones_own_reads_the_runtime_state(project: Any) -> None:
    project.write("runtime_state.json", '{"window": "editor"}')
    tools = project.write(
        "tools.toml",
        '[[tool]]\nname = "get_runtime_state"\ndescription = "the machine now"\nrun = ["cat", "runtime_state.json"]\npermission = "none"\n',
    )
    with ModelServer([{"tool": {"name": "get_runtime_state", "arguments": {}}}, {"text": "ok"}]) as server:
        answer_once = _chat(project, server, "-p", "what is open?", "--tools", str(tools)).json
    assert answer_once["tool_calls"][0]["output"] == '{"window": "editor"}'


def test_a_hook_submits_a_follow_up_that_is_marked_as_such(project: Any) -> None:
    config = project.write(
        "hookline.toml",
        """
[[hook]]
name = "next"
on = "Stop"
shell = '''test -e asked || { touch asked; echo '{"attributes": {"follow_up": "and now?"}}'; }'''
""",
    )
    with ModelServer([{"text": "one"}, {"text": "two"}]) as server:
        answer_once = _chat(project, server, "-p", "go", "--config", str(config)).json
    submitted = [one["data"] for one in answer_once["decisions"] if one["event"] == "UserPromptSubmit"]
    assert [(one["prompt"], one.get("auto_submit", False), one["turn"]) for one in submitted] == [
        ("go", False, 1),
        ("and now?", True, 1),
    ]
    assert answer_once["text"] == "two"


def test_a_missing_key_names_the_variable_and_the_alternatives(project: Any) -> None:
    result = project.run("chat", "-p", "hi", "--model", "anthropic:claude-x")
    assert result.code == 78
    for word in ("ANTHROPIC_API_KEY", "script:FILE", "OPENAI_BASE_URL"):
        assert word in result.err


def test_a_model_error_is_an_error_of_the_turn_and_a_notification(project: Any) -> None:
    with ModelServer([{"error": {"status": 500, "message": "overloaded"}}]) as server:
        result = _chat(project, server, "-p", "hi")
    assert (result.code, result.json["stop_reason"]) == (1, "error")
    assert "overloaded" in result.json["error"]
    levels = [one["data"]["level"] for one in result.json["decisions"] if one["event"] == "Notification"]
    assert levels == ["error"]


def test_a_limit_of_requests_ends_the_turn_with_every_call_answered(project: Any) -> None:
    with ModelServer({"steps": [], "default": {"tool": BASH}}) as server:
        answer_once = _chat(project, server, "-p", "go", "--permission-mode", "all", "--max-turns", "3").json
        assert len(server.requests) == 3
    assert answer_once["stop_reason"] == "max_turns"
    last = [one["data"] for one in answer_once["decisions"] if one["event"] == "PostToolUseFailure"]
    assert [one["tool_error"]["type"] for one in last] == ["limit_exceeded"]
    levels = [one["data"]["level"] for one in answer_once["decisions"] if one["event"] == "Notification"]
    assert levels == ["warning"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_session_in_good_order(project: Any, number: signal.Signals) -> None:
    words = _letta(project, SessionEnd=[("*", "echo end >> ended")])
    with ModelServer([{"tool": {"name": "Bash", "arguments": {"command": "touch begun; sleep 60"}}}]) as server:
        environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), **server.environ()}
        argv = [sys.executable, "-m", "hookline", "chat", "-p", "go", "--json", "--model", "openai:x", *words]
        child = subprocess.Popen(
            [*argv, "--permission-mode", "all"], cwd=project.path, env=environ, stdout=subprocess.PIPE, text=True
        )
        _until(project.path / "begun")
        child.send_signal(number)
        out, _ = child.communicate(timeout=200)
    assert child.returncode == 128 + number
    assert (project.path / "ended").read_text() == "end\n"
    answer_once = json.loads(out)
    assert answer_once["stop_reason"] == "interrupted"
    lines = [json.loads(line) for line in Path(answer_once["transcript_path"]).read_text().splitlines()]
    assert lines[-1]["message"]["content"][0]["type"] == "tool_result"


def test_an_interrupt_while_the_chat_is_being_opened_ends_it_as_any_other(project: Any) -> None:
    words = _letta(project)

    async def story(environ: dict[str, str]) -> HeadlessResult:
        def reassemble() -> Runtime:
            opening.cancel()  # as the event loop does for SIGINT, while nothing is awaited
            return load_runtime(Sources(config=[words[3]], dialect="letta", cwd=str(project.path), environ=environ))

        options = ChatOptions(model="openai:scripted", report=True)
        opening = asyncio.ensure_future(answer_once(reassemble, options, "go", environ))
        return await opening

    with ModelServer([{"text": "never said"}]) as server:
        environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), **server.environ()}
        report = asyncio.run(story(environ))
        assert not server.requests
    assert report.exit_code == 130
    assert report.report["stop_reason"] == "interrupted"
    assert report.report["decisions"][-1]["data"]["reason"] == "interrupted"


def _until(path: Path, seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < limit, f"{path} never came"
        time.sleep(0.01)


MCP = """
import json, sys
ADD = {"name": "add", "description": "Add two numbers.", "inputSchema": {
    "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}
for line in sys.stdin:
    asked = json.loads(line)
    given = asked.get("params") or {}
    match asked["method"]:
        case "initialize":
            told = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "little", "version": "1"}}
        case "tools/list":
            told = {"tools": [ADD]}
        case "tools/call":
            told = {"content": [{"type": "text", "text": str(sum(given["arguments"].values()))}]}
        case _:
            told = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


def test_tools_of_a_server_are_called_by_the_names_hooks_know(project: Any) -> None:
    pytest.importorskip("fastmcp")
    project.write("server.py", MCP)
    config = project.write(
        "hookline.toml", f'[mcp]\nlittle = ["{sys.executable}", "server.py"]\ngone = ["no-such-server"]\n'
    )
    calls = [{"name": "mcp__little__add", "arguments": {"a": 2, "b": 3}}]
    with ModelServer([{"tools": calls}, {"text": "five"}]) as server:
        words = ["-p", "add", "--allow", "mcp__little__*", "--config", str(config), "--json", "--model", "openai:x"]
        result = project.run("chat", *words, **server.environ())
    (call,) = result.json["tool_calls"]
    assert (call["output"], call["decision"]) == ("5", "allowed")
    assert "'gone' could not be reached" in result.err


def test_the_record_of_a_firing_does_not_hold_the_whole_conversation(project: Any) -> None:
    config = project.write("hookline.toml", '[[hook]]\nname = "look"\non = "Stop"\nshell = "cat > seen.json"\n')
    with ModelServer([{"text": "answer"}]) as server:
        answer_once = _chat(project, server, "-p", "question", "--config", str(config)).json
    seen = json.loads((project.path / "seen.json").read_text())["data"]
    assert [entry["text"] for entry in seen["history"]] == ["question", "answer"]
    log = project.run("log", "--json", "--last", "50").out
    kept = [json.loads(line) for line in log.splitlines()] if log.lstrip().startswith("{") else json.loads(log)
    assert {one["id"] for one in kept} == set(answer_once["records"])
    assert not any("history" in json.dumps(one) for one in kept)
