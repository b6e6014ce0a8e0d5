"""Scripts that people wrote for Claude Code guard every agent, unchanged: under ``run``, and in a settings file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.core.agents import AGENTS
from hookline.engine.build import StoreOptions, load_runtime
from hookline.gateway.handler import AgentResponse, handle, hook_sources
from hookline.gateway.request import HookArguments, parse_request

SCRIPTS = Path(__file__).parent.parent / "claude_scripts"
PAYLOADS = Path(__file__).parent.parent / "payloads"
MATCHERS = {
    "block-rm.sh": ("PreToolUse", "Bash"), "protect_files.py": ("PreToolUse", "Edit|Write|MultiEdit"),
    "secrets.js": ("PreToolUse", "Write|Edit"), "allowed-hosts.sh": ("PreToolUse", "WebFetch"),
    "ask_push.py": ("PreToolUse", "Bash"), "use_pnpm.py": ("PreToolUse", "Bash"),
    "remind-tests.sh": ("PostToolUse", "Write|Edit"), "prompt_filter.js": ("UserPromptSubmit", ""),
    "no-main.sh": ("PreToolUse", ""), "mcp_readonly.py": ("PreToolUse", "mcp__.*"),
}  # fmt: skip
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


def write(path: str, text: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """One call that creates a file, as each agent makes it."""
    patch = f"*** Begin Patch\n*** Add File: {path}\n" + "".join(f"+{line}\n" for line in text.splitlines())
    return {
        "claude-code": ("Write", {"file_path": "{cwd}/" + path, "content": text}),
        "codex": ("apply_patch", {"command": patch + "*** End Patch\n"}),
        "gemini-cli": ("write_file", {"file_path": "{cwd}/" + path, "content": text}),
        "qwen-code": ("write_file", {"file_path": "{cwd}/" + path, "content": text}),
        "letta-code": ("ApplyPatch", {"input": patch + "*** End Patch\n"}),
        "copilot-cli": ("create", {"path": "{cwd}/" + path, "file_text": text}),
        "opencode": ("write", {"filePath": path, "content": text}),
    }


def bash(command: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    names = {
        "gemini-cli": "run_shell_command",
        "qwen-code": "run_shell_command",
        "copilot-cli": "bash",
        "opencode": "bash",
    }
    return {agent: (names.get(agent, "Bash"), {"command": command}) for agent in AGENTS}


def fetch(url: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    return {
        "claude-code": ("WebFetch", {"url": url, "prompt": "sum it up"}),
        "gemini-cli": ("web_fetch", {"prompt": f"sum up {url} please"}),
        "qwen-code": ("web_fetch", {"url": url, "prompt": "sum it up"}),
        "letta-code": ("fetch_webpage", {"url": url}),
        "copilot-cli": ("web_fetch", {"url": url}),
        "opencode": ("webfetch", {"url": url, "format": "text"}),
    }


def tool_call(
    agent: str, tool: str, given: Mapping[str, Any], cwd: str, *, after: bool = False
) -> tuple[str, dict[str, Any]]:
    """The event's name and the payload: the real one, with another tool in it."""
    given = json.loads(json.dumps(given).replace("{cwd}", cwd))
    row = AGENTS[agent]
    names = {
        "gemini-cli": ("BeforeTool", "AfterTool"), "copilot-cli": ("preToolUse", "postToolUse"),
        "opencode": ("tool.execute.before", "tool.execute.after"),
    }.get(agent, ("PreToolUse", "PostToolUse"))  # fmt: skip
    files = {"claude-code": "PreToolUse.Bash PostToolUse.Bash", "codex": "PreToolUse.Bash PostToolUse.Bash"}
    file = files.get(agent, " ".join(names)).split()[after]
    sent = json.loads((PAYLOADS / row.dialect / f"{file}.json").read_text())
    match agent:
        case "copilot-cli":
            sent |= {"toolName": tool, "toolArgs": given, "cwd": cwd}
        case "opencode":
            sent["input"] |= {"tool": tool, "args": given}
            sent["output"] |= {} if after else {"args": given}
            sent["directory"] = cwd
        case "letta-code":
            sent |= {"tool_name": tool, "tool_input": given, "working_directory": cwd}
        case _:
            sent |= {"tool_name": tool, "tool_input": given, "cwd": cwd}
    return names[after], sent


def mcp(agent: str, cwd: str) -> tuple[str, dict[str, Any]]:
    name = "mcp_t_delete_all" if agent == "gemini-cli" else "mcp__t__delete_all"
    event, sent = tool_call(agent, name, {"really": True}, cwd)
    if agent == "gemini-cli":
        sent["mcp_context"] = {"server_name": "t", "tool_name": "delete_all"}
    return event, sent


def prompt(agent: str, text: str, cwd: str) -> tuple[str, dict[str, Any]]:
    name = {"gemini-cli": "BeforeAgent", "copilot-cli": "userPromptSubmitted", "opencode": "chat.message"}.get(
        agent, "UserPromptSubmit"
    )
    sent = json.loads((PAYLOADS / AGENTS[agent].dialect / f"{name}.json").read_text())
    if agent == "opencode":
        sent["output"]["parts"][0]["text"] = text
        sent["directory"] = cwd
    else:
        sent |= {"prompt": text, "working_directory" if agent == "letta-code" else "cwd": cwd}
    if agent == "qwen-code":
        sent["submitted_prompt"] = text
    return name, sent


Ask = Callable[[str, tuple[str, dict[str, Any]]], AgentResponse]


@pytest.fixture(params=["run", "settings"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Ask:
    """Asks all ten scripts in a project, as hooks of ours or from a Claude Code settings file."""
    project = tmp_path / "project"
    shutil.copytree(SCRIPTS, project / "hooks")
    (project / ".git").mkdir()
    (tmp_path / "home").mkdir()
    if request.param == "run":
        tables = [
            f"[[hook]]\nname = '{name}'\non = '{event}'\nmatch = '{match}'\nrun = '{project}/hooks/{name}'\n"
            for name, (event, match) in MATCHERS.items()
        ]
        text = "\n".join(tables)
    else:
        hooks: dict[str, list[Any]] = {}
        for name, (event, match) in MATCHERS.items():
            command = {"type": "command", "command": f'"$CLAUDE_PROJECT_DIR"/hooks/{name}'}
            hooks.setdefault(event, []).append({"matcher": match, "hooks": [command]})
        (project / "claude.json").write_text(json.dumps({"hooks": hooks}))
        text = "[[source]]\ndialect = 'claude'\npath = 'claude.json'\n"
    (project / "hooks.toml").write_text(text)

    def asked(agent: str, call: tuple[str, dict[str, Any]]) -> AgentResponse:
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
        arguments = HookArguments(agent=agent, event=call[0], config=(str(project / "hooks.toml"),))
        heard = parse_request(arguments, json.dumps(call[1]).encode(), environ, str(project))
        runtime = load_runtime(hook_sources(heard), StoreOptions(record=False, sessions=False))
        with runtime.engine:
            return handle(heard, runtime, ending=True)

    asked.project = str(project)  # type: ignore[attr-defined]
    return asked


def decided(response: AgentResponse) -> tuple[str, str]:
    assert response.decision is not None
    failed = [one for one in response.decision.outcomes if one.error and one.not_run is None]
    assert not failed
    return response.decision.effect, response.decision.reason


def is_refused(agent: str, response: AgentResponse) -> bool:
    """In the agent's own words."""
    if response.exit_code == 2:
        return True
    said = json.loads(response.stdout) if response.stdout.startswith("{") else {}
    specific = said.get("hookSpecificOutput", {})
    words = (said.get("decision"), said.get("permissionDecision"), specific.get("permissionDecision"))
    return "deny" in said or bool({"deny", "block"}.intersection(words))


@pytest.mark.parametrize("agent", sorted(fetch("") | {"codex": ()}))
def test_ten_scripts_for_claude_code_guard_seven_agents(ask: Ask, agent: str) -> None:
    cwd: str = ask.project  # type: ignore[attr-defined]

    def call(calls: Mapping[str, tuple[str, Mapping[str, Any]]], *, after: bool = False) -> AgentResponse:
        return ask(agent, tool_call(agent, *calls[agent], cwd, after=after))

    refused = [
        (call(bash("cd x && rm -rf build")), "Recursive deletion"),
        (call(write(".env", "A=1")), "protected"),
        (call(write("src/a.py", f"key = '{KEY}'")), "access key"),
        (call(write("setup.py", "pass")), "outside src and tests"),
        (ask(agent, mcp(agent, cwd)), "delete_all of t changes something"),
        (ask(agent, prompt(agent, "password: hunter2", cwd)), "contains a password"),
    ]
    if agent in fetch(""):  # Codex does not tell hooks what it fetches
        refused.append((call(fetch("https://evil.test/x")), "host not on the list: evil.test"))
    for response, reason in refused:
        assert (decided(response)[0], reason in decided(response)[1]) == ("deny", True), reason
        assert is_refused(agent, response), (reason, response)
    asks = call(bash("git push origin main"))
    assert decided(asks) == ("ask", "Pushing is visible to everybody.")
    assert is_refused(agent, asks) or '"ask"' in asks.stdout
    rewrites = call(bash("npm install"))
    assert rewrites.decision is not None
    assert rewrites.decision.data["tool_input"]["command"] == "pnpm install"
    assert is_refused(agent, rewrites) or '"pnpm install"' in rewrites.stdout
    reminds = call(write("src/a.py", "pass"), after=True)
    assert reminds.decision is not None
    assert [one.context.text for one in reminds.decision.context] == ["Run the tests of a.py before you go on."]
    for harmless in (bash("ls -l"), write("src/a.py", "pass")):
        passed = call(harmless)
        assert decided(passed) == ("allow", "")
        assert not is_refused(agent, passed)
