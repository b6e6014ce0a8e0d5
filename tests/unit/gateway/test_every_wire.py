"""Every agent that can refuse does so on its own wire, whichever name its event is called by."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.core.agents import AGENTS
from hookline.core.errors import DataError, UsageError
from hookline.core.paths import Directories, find_paths
from hookline.engine.build import StoreOptions, load_runtime
from hookline.gateway.handler import AgentResponse, handle, hook_sources
from hookline.gateway.request import HookArguments, parse_request

HOOKS = r"""
[guard]
policy = "standard"

[[hook]]
name = "env"
on = "PreToolUse"
match = { tool_name = "Edit|Write", "tool_input.file_path" = '\.env$' }
shell = "echo protected >&2; exit 2"
"""
SHELL = "rm -rf ~"
ENV = "/home/user/project/.env"


def _claude(shell: str, write: str, path: str = "file_path", **more: Any) -> dict[str, tuple[str, Any]]:
    """The calls of an agent whose payload is Claude Code's: what it calls the two tools, and a path."""
    base = {"session_id": "s", "cwd": "/home/user/project", "hook_event_name": "PreToolUse", **more}
    return {
        "shell": ("PreToolUse", {**base, "tool_name": shell, "tool_input": {"command": SHELL}}),
        "write": ("PreToolUse", {**base, "tool_name": write, "tool_input": {path: ENV, "content": "A=1"}}),
    }


def _each(event: str, shell: Any, write: Any) -> dict[str, tuple[str, Any]]:
    return {"shell": (event, shell), "write": (event, write)}


def _opencode(tool: str, given: Any) -> Any:
    return {"input": {"tool": tool, "sessionID": "s", "callID": "c"}, "output": {"args": given}}


def _antigravity(tool: str, given: Any) -> Any:
    return {"conversationId": "c", "workspacePaths": ["/home/user/project"], "toolCall": {"name": tool, "args": given}}


def _windsurf(event: str, given: Any) -> tuple[str, Any]:
    return event, {"agent_action_name": event, "trajectory_id": "t", "tool_info": given}


def _copilot(tool: str, given: Any) -> Any:
    return {"sessionId": "s", "cwd": "/home/user/project", "toolName": tool, "toolArgs": given}


def _cline(tool: str, given: Any) -> Any:
    return {"snapshot": {"runId": "r"}, "tool": {"name": tool}, "toolCall": {"toolName": tool}, "input": given}


#: Agent -> the native event and the payload of a dangerous command, and of a file that is written.
CALLS: dict[str, dict[str, tuple[str, Any]]] = {
    **{name: _claude("Bash", "Write") for name in ("claude-code", "codex", "letta-code", "kimi-code", "deepagents", "junie")},
    "droid": _claude("Execute", "Create"),
    "qwen-code": _claude("run_shell_command", "write_file"),
    "gemini-cli": {key: ("BeforeTool", {**sent, "hook_event_name": "BeforeTool"}) for key, (_, sent) in _claude("run_shell_command", "write_file").items()},
    "kiro": _claude("execute_bash", "fs_write", "path"),
    "crush": {key: (event, {**sent, "event": event}) for key, (event, sent) in _claude("bash", "write").items()},
    "vscode": _claude("run_in_terminal", "create_file", "filePath", hookEventName="PreToolUse"),
    "openhands": _claude("terminal", "file_editor", "path", event_type="PreToolUse"),
    "mistral-vibe": {key: ("pre_tool", {**sent, "hook_event_name": "pre_tool"}) for key, (_, sent) in _claude("bash", "write_file", "path").items()},
    "hermes": {key: ("pre_tool_call", {**sent, "hook_event_name": "pre_tool_call"}) for key, (_, sent) in _claude("terminal", "write_file", "path").items()},
    "cursor": {key: ("preToolUse", {**sent, "hook_event_name": "preToolUse", "cursor_version": "1"}) for key, (_, sent) in _claude("Shell", "Write").items()},
    "grok-build": _each(
        "PreToolUse",
        {"hookEventName": "pre_tool_use", "workspaceRoot": "/p", "toolName": "run_terminal_command", "toolInput": {"command": SHELL}},
        {"hookEventName": "pre_tool_use", "workspaceRoot": "/p", "toolName": "search_replace", "toolInput": {"file_path": ENV, "old_string": "", "new_string": "A"}},
    ),
    "copilot-cli": _each("preToolUse", _copilot("bash", {"command": SHELL}), _copilot("create", {"path": ENV, "file_text": "A"})),
    "opencode": _each("tool.execute.before", _opencode("bash", {"command": SHELL}), _opencode("write", {"filePath": ENV, "content": "A"})),
    "pi": _each(
        "tool_call", {"type": "tool_call", "toolName": "bash", "input": {"command": SHELL}},
        {"type": "tool_call", "toolName": "write", "input": {"path": ENV, "content": "A"}},
    ),
    "cline": _each("beforeTool", _cline("run_commands", {"commands": [SHELL]}), _cline("editor", {"path": ENV, "new_text": "A"})),
    "windsurf": {
        "shell": _windsurf("pre_run_command", {"command_line": SHELL, "cwd": "/p"}),
        "write": _windsurf("pre_write_code", {"file_path": ENV, "edits": [{"old_string": "a", "new_string": "b"}]}),
    },
    "amp": _each("tool.call", {"tool": "Bash", "input": {"cmd": SHELL}, "thread": {"id": "t"}}, {"tool": "create_file", "input": {"path": ENV, "content": "A"}}),
    "antigravity": _each("PreToolUse", _antigravity("run_command", {"CommandLine": SHELL}), _antigravity("write_to_file", {"TargetFile": ENV, "CodeContent": "A"})),
}  # fmt: skip
#: Where an agent names the event in what it sends.
NAMES = frozenset({"hook_event_name", "hookEventName", "event", "event_type", "agent_action_name", "type"})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    config = home / ".config/hookline/hookline.toml"
    config.parent.mkdir(parents=True)
    config.write_text(HOOKS, encoding="utf-8")
    return home


def _ask(home: Path, agent: str, event: str, sent: Any) -> AgentResponse:
    named = Directories(home=str(home), paths=find_paths({}, str(home)))
    arguments = HookArguments(agent=agent, event=event, directories=named)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    request = parse_request(arguments, json.dumps(sent).encode(), environ, "/")
    runtime = load_runtime(hook_sources(request), StoreOptions(live=False, sessions=False))
    with runtime.engine:
        return handle(request, runtime, ending=True)


def _refuses(answer: AgentResponse, *asks: str) -> bool:
    """As these agents read it: the exit code, or a word in their own object."""
    said = json.loads(answer.stdout or "{}")
    inner = said.get("hookSpecificOutput", {})
    words = {
        said.get("decision"),
        said.get("permission"),
        said.get("permissionDecision"),
        inner.get("permissionDecision"),
    }
    return answer.exit_code == 2 or "deny" in said or bool(words & {"deny", "block", *asks})


def _replaced(tree: Any, old: str, new: Any) -> Any:
    """The tree with another value in the place of this text."""
    if isinstance(tree, dict):
        return {key: _replaced(value, old, new) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_replaced(value, old, new) for value in tree]
    return new if tree == old else tree


def test_every_agent_is_tried() -> None:
    assert set(CALLS) == set(AGENTS)


@pytest.mark.parametrize("kind", ["shell", "write"])
@pytest.mark.parametrize("agent", CALLS)
def test_a_guard_refuses_on_every_wire(home: Path, agent: str, kind: str) -> None:
    event, sent = CALLS[agent][kind]
    assert _refuses(_ask(home, agent, event, sent))


@pytest.mark.parametrize("kind", ["shell", "write"])
@pytest.mark.parametrize("agent", CALLS)
def test_a_guard_refuses_if_the_event_has_its_common_name(home: Path, agent: str, kind: str) -> None:
    native, sent = CALLS[agent][kind]
    assert _refuses(_ask(home, agent, "PreToolUse", sent))
    unnamed = {key: value for key, value in sent.items() if key not in NAMES}
    if agent == "windsurf":  # each of its events stands for one kind of tool, and nothing else tells which
        with pytest.raises(UsageError, match=native):
            _ask(home, agent, "PreToolUse", unnamed)
    else:
        assert _refuses(_ask(home, agent, "PreToolUse", unnamed))


@pytest.mark.parametrize("agent", CALLS)
def test_a_guard_refuses_if_the_payload_has_a_name_that_nobody_knows(home: Path, agent: str) -> None:
    event, sent = CALLS[agent]["shell"]
    renamed = {key: "BeforeEverything" if key in NAMES else value for key, value in sent.items()}
    assert _refuses(_ask(home, agent, event, renamed))


@pytest.mark.parametrize("odd", [None, {"a": "ls"}, [["ls"]]], ids=repr)
@pytest.mark.parametrize("agent", CALLS)
def test_a_guard_lets_no_command_pass_that_it_cannot_read(home: Path, agent: str, odd: Any) -> None:
    event, sent = CALLS[agent]["shell"]
    answer = _ask(home, agent, event, _replaced(sent, SHELL, odd))
    assert _refuses(answer, "ask", "force_ask"), answer
    assert "no command can be read in it" in answer.stdout + answer.stderr


@pytest.mark.parametrize("odd", [None, 7, {"a": "x"}, [[]]], ids=repr)
@pytest.mark.parametrize("agent", CALLS)
def test_a_guard_lets_no_edit_pass_whose_file_it_cannot_read(home: Path, agent: str, odd: Any) -> None:
    event, sent = CALLS[agent]["write"]
    answer = _ask(home, agent, event, _replaced(sent, ENV, odd))
    assert _refuses(answer, "ask", "force_ask"), answer
    assert "no file can be read in it" in answer.stdout + answer.stderr


@pytest.mark.parametrize("agent", sorted(set(CALLS) - {"windsurf"}))
def test_a_call_of_a_tool_without_a_name_is_an_error_since_no_matcher_fits(home: Path, agent: str) -> None:
    event, sent = CALLS[agent]["shell"]
    names = ("Bash", "Execute", "run_shell_command", "execute_bash", "bash", "run_in_terminal", "terminal", "Shell", "run_terminal_command", "run_commands", "run_command")  # fmt: skip
    for name in names:
        sent = _replaced(sent, name, 7)
    with pytest.raises(DataError, match="does not say which tool is called"):
        _ask(home, agent, event, sent)


@pytest.mark.parametrize("agent", CALLS)
def test_an_event_that_nobody_knows_is_an_error(home: Path, agent: str) -> None:
    _, sent = CALLS[agent]["shell"]
    unnamed = {key: value for key, value in sent.items() if key not in NAMES}
    with pytest.raises(UsageError, match="unknown event 'BeforeEverything'"):
        _ask(home, agent, "BeforeEverything", unnamed)
