"""Releases differ: fields are missing, spelled otherwise, new, or come as text. The tool and its input are found all the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from hookline.core.agents import AGENTS
from hookline.dialects import dialect_named

COMMAND = "rm -rf build"

#: Agent -> native event before a tool, and the payload of a shell command, as the agent sends it.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "droid": ("PreToolUse", {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": COMMAND, "riskLevel": "low"}}),
    "kimi-code": ("PreToolUse", {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": COMMAND}, "tool_call_id": "c"}),
    "grok-build": ("PreToolUse", {"sessionId": "s", "cwd": "/p", "hookEventName": "pre_tool_use", "toolName": "run_terminal_command", "toolInput": {"command": COMMAND}, "workspaceRoot": "/p/"}),
    "hermes": ("pre_tool_call", {"session_id": "s", "cwd": "/p", "hook_event_name": "pre_tool_call", "tool_name": "terminal", "tool_input": {"command": COMMAND}, "extra": {}}),
    "deepagents": ("PreToolUse", {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": COMMAND, "timeout": 1000}}),
    "pi": ("tool_call", {"type": "tool_call", "toolName": "bash", "toolCallId": "c", "input": {"command": COMMAND}, "ctx": {"cwd": "/p", "session_id": "s"}}),
    "cursor": ("preToolUse", {"conversation_id": "s", "hook_event_name": "preToolUse", "cursor_version": "3", "workspace_roots": ["/p"], "tool_name": "Shell", "tool_input": {"command": COMMAND}}),
    "vscode": ("PreToolUse", {"sessionId": "s", "cwd": "/p", "hookEventName": "PreToolUse", "tool_name": "run_in_terminal", "tool_input": {"command": COMMAND, "isBackground": False}}),
    "kiro": ("PreToolUse", {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "execute_bash", "tool_input": {"command": COMMAND}}),
    "crush": ("PreToolUse", {"event": "PreToolUse", "session_id": "s", "cwd": "/p", "tool_name": "bash", "tool_input": {"command": COMMAND}}),
    "openhands": ("PreToolUse", {"event_type": "PreToolUse", "session_id": "s", "working_dir": "/p", "tool_name": "terminal", "tool_input": {"command": COMMAND}}),
    "mistral-vibe": ("before_tool", {"session_id": "s", "cwd": "/p", "hook_event_name": "before_tool", "tool_name": "bash", "tool_input": {"command": COMMAND}}),
    "junie": ("PreToolUse", {"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": COMMAND}}),
    "windsurf": ("pre_run_command", {"agent_action_name": "pre_run_command", "trajectory_id": "s", "tool_info": {"command_line": COMMAND, "cwd": "/p"}}),
    "antigravity": ("PreToolUse", {"conversationId": "s", "workspacePaths": ["/p"], "toolCall": {"name": "run_command", "args": {"CommandLine": COMMAND}}}),
    "amp": ("tool.call", {"toolUseID": "c", "tool": "Bash", "input": {"cmd": COMMAND}, "thread": {"id": "s"}}),
    "cline": ("PreToolUse", {"hookName": "tool_call", "taskId": "s", "workspaceRoots": ["/p"], "tool_call": {"id": "c", "name": "run_commands", "input": {"commands": [COMMAND]}}}),
}  # fmt: skip


def camel(key: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), key)


def snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", key)


def respelled(spell: Callable[[str], str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda sent: {spell(key): value for key, value in sent.items()}


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda sent: {key: value for key, value in sent.items() if key not in names}


def as_text(sent: dict[str, Any]) -> dict[str, Any]:
    inputs = {"tool_input", "toolInput", "input"}
    return {key: json.dumps(value) if key in inputs else value for key, value in sent.items()}


NAMES = ("hook_event_name", "hookEventName", "type", "event", "event_type")
VARIANTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "as it is": dict,
    "camel case": respelled(camel),
    "snake case": respelled(snake),
    "pascal case": respelled(lambda key: camel(key)[0].upper() + camel(key)[1:]),
    "no name of the event": without(*NAMES),
    "no session and no directory": without("session_id", "sessionId", "conversation_id", "cwd", "working_dir", "ctx"),
    "new fields": lambda sent: {**sent, "mood": {"score": [1]}, "effort": None, "trace_id": 7},
    "input as text": as_text,
    "another spelling of the event": lambda sent: {key: snake(str(value)).lower() if key in NAMES else value for key, value in sent.items()},
    "nothing where something may be": lambda sent: {**dict.fromkeys(("transcript_path", "tool_use_id", "permission_mode")), **sent},
}  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("agent", CALLS)
def test_the_tool_and_its_command_are_found(agent: str, variant: str) -> None:
    native, sent = CALLS[agent]
    incoming = dialect_named(AGENTS[agent].dialect).event_in(native, VARIANTS[variant](sent), {})
    assert (incoming.event, incoming.data.get("tool_name")) == ("PreToolUse", "Bash"), incoming
    assert incoming.data["tool_input"]["command"] == COMMAND, incoming


@pytest.mark.parametrize(("agent", "name", "event"), [
    ("kimi-code", "PreToolUse.Bash", "PreToolUse"), ("cline", "plugin.beforeTool", "PreToolUse"), ("pi", "tool_call.bash.nested", "PreToolUse"),
    ("amp", "tool.call", "PreToolUse"), ("cline", "plugin.unheardOf", "cline:plugin.unheardOf"),
])  # fmt: skip
def test_an_event_is_known_by_the_name_of_its_recording(agent: str, name: str, event: str) -> None:
    assert dialect_named(AGENTS[agent].dialect).event_in(name, {}, {}).event == event


@pytest.mark.parametrize(("agent", "name", "sent"), [
    ("copilot-cli", "sessionStart", {"source": [[]]}), ("copilot-cli", "postToolUse", {"toolName": "bash", "toolResult": {"resultType": {}}}),
    ("cline", "tool_call", {"tool_call": {"name": "editor", "input": {"command": ["a"]}}}),
])  # fmt: skip
def test_a_list_where_a_word_was_is_not_fatal(agent: str, name: str, sent: dict[str, Any]) -> None:
    dialect = dialect_named(AGENTS[agent].dialect)
    assert dialect.event_in(name, sent, {}).event.startswith(dialect.events[name])


#: Tools that delete files or change notebooks: agent, its name of the tool, its input, ours, the file.
FILES = [
    ("deepagents", "delete", {"file_path": "/p/a"}, "Delete", "/p/a"),
    ("cursor", "Delete", {"path": "/p/a"}, "Delete", "/p/a"),
    ("cursor", "delete_file", {"target_file": "/p/a", "explanation": "old"}, "Delete", "/p/a"),
    ("kiro", "deleteFile", {"targetFile": "/p/a"}, "Delete", "/p/a"),
    ("junie", "DeleteFile", {"filePath": "a"}, "Delete", "/p/a"),
    ("mistral-vibe", "delete_file", {"path": "a"}, "Delete", "/p/a"),
    ("droid", "remove_file", {"paths": ["a", "b"]}, "Delete", "/p/a"),
    ("claude-code", "NotebookEdit", {"notebook_path": "/p/n.ipynb", "new_source": "1"}, "NotebookEdit", "/p/n.ipynb"),
    ("qwen-code", "notebook_edit", {"notebook_path": "/p/n.ipynb", "new_source": "1"}, "NotebookEdit", "/p/n.ipynb"),
    ("cursor", "EditNotebook", {"target_notebook": "n.ipynb", "new_string": "1"}, "NotebookEdit", "/p/n.ipynb"),
    ("vscode", "edit_notebook_file", {"filePath": "/p/n.ipynb", "newCode": "1"}, "NotebookEdit", "/p/n.ipynb"),
    ("droid", "notebook_edit", {"notebookPath": "/p/n.ipynb", "source": "1"}, "NotebookEdit", "/p/n.ipynb"),
]


@pytest.mark.parametrize(("agent", "tool", "given", "ours", "file"), FILES)
def test_a_file_that_a_tool_deletes_or_a_notebook_that_it_changes_is_found(
    agent: str, tool: str, given: dict[str, Any], ours: str, file: str
) -> None:
    dialect = dialect_named(AGENTS[agent].dialect)
    native = next(name for name, event in dialect.events.items() if event == "PreToolUse")
    sent = {"session_id": "s", "cwd": "/p", "tool_name": tool, "tool_input": given}
    data = dialect.event_in(native, sent, {}).data
    assert (data["tool_name"], data["tool_input"]["file_path"]) == (ours, file)
    if ours == "NotebookEdit":
        assert (data["tool_input"]["notebook_path"], data["tool_input"]["new_source"]) != ("", "")
        assert data["tool_input"]["new_source"] == "1"


def test_a_guard_refuses_what_a_delete_tool_may_not_delete() -> None:
    from hookline.guard.tools import judge_tool
    from hookline.guard.verdict import Surroundings

    around = Surroundings(cwd="/home/u/p", home="/home/u", project="/home/u/p")
    assert judge_tool("Delete", {"file_path": "/etc/passwd"}, around=around).verdict == "deny"
    assert judge_tool("Delete", {"file_path": "/home/u/p/a.txt"}, around=around).verdict != "deny"
    assert judge_tool("NotebookEdit", {"notebook_path": "/etc/x.ipynb"}, around=around).verdict != "allow"
