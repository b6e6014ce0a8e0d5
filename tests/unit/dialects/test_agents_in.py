"""Every payload that was seen on the real programs decodes, and nothing in it is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import EVENTS, Event, event_kind
from hookline.dialects import dialect_named
from hookline.dialects.claude_family.field_map import payload

PAYLOADS = Path(__file__).parents[2] / "payloads"
AGENTS = {"codex": "codex", "gemini": "gemini-cli", "qwen": "qwen-code", "copilot": "copilot-cli",
          "copilot-pascal": "copilot-cli", "opencode": "opencode"}  # fmt: skip
FILES = [(folder, file) for folder in AGENTS for file in sorted((PAYLOADS / folder).glob("*.json"))]
IDS = [f"{folder}/{file.stem}" for folder, file in FILES]


def came(folder: str, name: str) -> Any:
    sent = json.loads((PAYLOADS / folder / f"{name}.json").read_text())
    return dialect_named(AGENTS[folder]).event_in(name.partition(".")[0] if folder != "opencode" else name, sent, {})


@pytest.mark.parametrize(("folder", "file"), FILES, ids=IDS)
def test_a_real_payload_decodes_and_keeps_every_field(folder: str, file: Path) -> None:
    sent = json.loads(file.read_text())
    incoming = came(folder, file.stem)
    assert incoming.event in EVENTS or incoming.event.startswith(folder.partition("-")[0] + ":")
    missing = {key for key in sent if key not in incoming.data} - {"hook_event_name"}
    assert missing == set()
    if folder != "opencode":
        assert incoming.event in EVENTS
        assert (incoming.session, incoming.cwd) == (sent.get("session_id", sent.get("sessionId")), sent["cwd"])


@pytest.mark.parametrize(("folder", "file"), [one for one in FILES if one[0] in {"codex", "gemini", "qwen"}])
def test_an_agents_own_hook_reads_what_the_agent_sent(folder: str, file: Path) -> None:
    sent = json.loads(file.read_text())
    incoming = came(folder, file.stem)
    event = Event(
        kind=event_kind(incoming.event), data=incoming.data, session=incoming.session, cwd=incoming.cwd,
        agent=AGENTS[folder], native=sent,
    )  # fmt: skip
    words = dialect_named(folder).words  # type: ignore[attr-defined]  # these three have one
    assert payload(words, incoming.native_name, event) == sent


@pytest.mark.parametrize("agent", AGENTS.values())
def test_an_unknown_event_survives(agent: str) -> None:
    dialect = dialect_named(agent)
    incoming = dialect.event_in("Dream", {"depth": 2}, {})
    assert (incoming.event, incoming.native_name, incoming.data) == (f"{dialect.name}:Dream", "Dream", {"depth": 2})


@pytest.mark.parametrize(
    ("folder", "name", "tool", "native"),
    [
        ("codex", "PreToolUse.Bash", "Bash", "Bash"),
        ("codex", "PreToolUse.apply_patch", "Edit", "apply_patch"),
        ("codex", "PreToolUse.collaborationspawn_agent", "Task", "collaborationspawn_agent"),
        ("codex", "PreToolUse.mcp__t__echo", "mcp__t__echo", "mcp__t__echo"),
        ("gemini", "BeforeTool", "Bash", "run_shell_command"),
        ("qwen", "PreToolUse", "Bash", "run_shell_command"),
        ("copilot", "preToolUse", "Bash", "bash"),
        ("copilot", "permissionRequest", "Bash", "bash"),
        ("copilot-pascal", "PreToolUse", "Bash", "Bash"),
        ("opencode", "tool.execute.before", "Bash", "bash"),
    ],
)
def test_a_tool_has_its_canonical_name_and_keeps_its_own(folder: str, name: str, tool: str, native: str) -> None:
    data = came(folder, name).data
    assert (data["tool_name"], data["native_tool_name"]) == (tool, native)
    assert isinstance(data["tool_input"], dict)
    assert data["tool_input"]


@pytest.mark.parametrize(
    ("folder", "name", "output"),
    [
        ("codex", "PostToolUse.Bash", "hi-from-tool\n"),
        ("codex", "PostToolUse.mcp__t__echo", "mcp says hello"),
        ("gemini", "AfterTool", "<untrusted_context>\nOutput: hello\nProcess Group PGID: 14026\n</untrusted_context>"),
        ("copilot", "postToolUse", "hello\n<shellId: 0 completed with exit code 0>"),
        ("copilot-pascal", "PostToolUse", "hello\n<shellId: 0 completed with exit code 0>"),
        ("opencode", "tool.execute.after", "hello\n"),
    ],
)
def test_the_output_is_what_the_model_reads(folder: str, name: str, output: str) -> None:
    assert came(folder, name).data["tool_output"] == output


def test_prompts_that_nobody_typed_are_marked() -> None:
    assert came("codex", "UserPromptSubmit.in-subagent").data["auto_submit"] is True
    assert "auto_submit" not in came("codex", "UserPromptSubmit").data
    assert "auto_submit" not in came("qwen", "UserPromptSubmit").data
    again = dialect_named("qwen").event_in("", {"hook_event_name": "UserPromptSubmit", "prompt": ""}, {})
    assert again.data["auto_submit"] is True


def test_words_of_an_ending_are_ours() -> None:
    assert came("codex", "Stop.active").data["continuations"] == 1
    assert came("codex", "Stop").data["assistant_message"] == "Finished."
    gemini = came("gemini", "AfterAgent").data
    assert (gemini["user_message"], gemini["assistant_message"]) == ("Write hello to proof.txt", "All done.")
    assert came("copilot", "agentStop").data["stop_reason"] == "end_turn"


def test_the_first_source_of_a_session_is_startup_everywhere() -> None:
    names = (("codex", "SessionStart.startup"), ("gemini", "SessionStart"), ("qwen", "SessionStart"),
             ("copilot", "sessionStart"), ("copilot-pascal", "SessionStart"), ("opencode", "event-session.created"))  # fmt: skip
    assert {came(*one).data["source"] for one in names} == {"startup"}


def test_token_use_is_found_where_hooks_look_for_it() -> None:
    tokens = came("codex", "PostModelRequest.completed").data["tokens"]
    assert tokens == {"input": 100, "cached": 0, "output": 20, "total": 120}


@pytest.mark.parametrize(
    ("agent", "name", "sent"),
    [
        ("gemini", "AfterTool", {"tool_name": "run_shell_command", "tool_response": {"error": {"message": "broke"}}}),
        ("copilot", "postToolUse", {"toolName": "bash", "toolResult": {"resultType": "failure", "textResultForLlm": "broke"}}),
        ("opencode", "tool.execute.after", {"input": {"tool": "bash"}, "output": {"output": "broke", "metadata": {"exit": 3}}}),
        ("opencode", "tool.execute.after", {"input": {"tool": "bash"}, "output": {"output": "broke", "metadata": {"exit": None}}}),
    ],
)  # fmt: skip
def test_a_failed_tool_is_a_failure_although_the_agent_has_no_event_for_it(
    agent: str, name: str, sent: dict[str, Any]
) -> None:
    incoming = dialect_named(agent).event_in(name, sent, {})
    assert incoming.event == "PostToolUseFailure"
    assert incoming.data["derived"] == ["event"]
    assert "broke" in incoming.data["tool_error"]["message"]
    assert incoming.native_name == name


def test_a_tool_of_a_server_has_the_name_that_everybody_gives_it() -> None:
    sent = {"tool_name": "mcp_t_echo", "mcp_context": {"server_name": "t", "tool_name": "echo"}}
    data = dialect_named("gemini").event_in("BeforeTool", sent, {}).data
    assert (data["tool_name"], data["native_tool_name"]) == ("mcp__t__echo", "mcp_t_echo")
    without = dialect_named("gemini").event_in("BeforeTool", {"tool_name": "mcp_t_echo"}, {}).data
    assert without["tool_name"] == "mcp__t__echo"


@pytest.mark.parametrize("agent", ["claude", "codex", "qwen"])
@pytest.mark.parametrize("source", [{"a": 1}, [], None, 7])
def test_a_session_may_begin_for_a_reason_that_is_no_text(agent: str, source: object) -> None:
    incoming = dialect_named(agent).event_in("SessionStart", {"hook_event_name": "SessionStart", "source": source}, {})
    assert (incoming.event, incoming.data["source"]) == ("SessionStart", source)
