"""Shapes of published plugins, rebuilt: each is added by one line and does in seven agents what it does in its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.packs.conftest import GUARD, Box, write

from hookline.core.agents import AGENTS
from hookline.core.result import Decision
from hookline.dialects import dialect_named
from hookline.doctor.replay import translate
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.gateway.reply import write_reply

SEVEN = ("claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "opencode", "cursor")
ROOT = "${CLAUDE_PLUGIN_ROOT}"


def command(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def file(**events: Any) -> str:
    """``hooks.json``; an event's value is a hook, or a matcher and a hook."""
    groups = {
        name: [{"matcher": one[0], "hooks": [one[1]]} if isinstance(one, tuple) else {"hooks": [one]} for one in given]
        for name, given in ((name, one if isinstance(one, list) else [one]) for name, one in events.items())
    }
    return json.dumps({"description": "d", "hooks": groups})


@dataclass(frozen=True)
class Case:
    """An event, and what comes of it: an effect, a text in the reason, in the context or in the tool's input."""

    event: str
    data: Mapping[str, Any]
    effect: str = "allow"
    reason: str = ""
    context: str = ""
    command: str = ""
    before: Mapping[str, str] = field(default_factory=dict)


def bash(text: str, effect: str = "allow", **more: Any) -> Case:
    return Case("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": text}}, effect, **more)


def tool(name: str, given: Mapping[str, Any], effect: str = "allow", **more: Any) -> Case:
    return Case("PreToolUse", {"tool_name": name, "tool_input": given}, effect, **more)


START = Case("SessionStart", {"source": "startup"}, context="the rules")
REFUSED, PASSED = bash("forbidden", "deny", reason="a pack refuses"), bash("ls")
LAUNCHER = """const { spawnSync } = require("child_process");
const path = require("path");
const [name] = process.argv.slice(2).filter((one) => one.endsWith(".sh"));
const done = spawnSync("sh", [path.join(process.env.CLAUDE_PLUGIN_ROOT, name)], { stdio: "inherit" });
process.exit(done.status);
"""
BOOT = (
    "node -e \"const p=require('path');const r=process.env.CLAUDE_PLUGIN_ROOT;const s=p.join(r,'scripts/boot.js');"
    'process.argv.splice(1,0,s);require(s)\\" sh scripts/guard.sh strict'
).replace('\\"', '"')
POLYGLOT = """: << 'CMDBLOCK'
@echo off
exit /b
CMDBLOCK
HERE="$(cd "$(dirname "$0")" && pwd)"
NAME="$1"
shift
"${HERE}/${NAME}" "$@"
"""
SAYS_RULES = """#!/usr/bin/env bash
if [ -n "${CURSOR_PLUGIN_ROOT:-}" ]; then
  printf '{"additional_context": "the rules"}\\n'
elif [ -n "${CLAUDE_PLUGIN_ROOT:-}" ] && [ -z "${COPILOT_CLI:-}" ]; then
  printf '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "the rules"}}\\n'
else
  printf '{"additionalContext": "the rules"}\\n'
fi
"""
MODULE = """import { readFileSync } from "node:fs";
const event = JSON.parse(readFileSync(0, "utf8"));
if (JSON.stringify(event.tool_input ?? {}).includes("forbidden")) {
  console.error("a pack refuses");
  process.exitCode = 2;
}
"""
REWRITE = """#!/usr/bin/env python3
import json, sys
event = json.load(sys.stdin)
text = event["tool_input"]["command"]
if text.startswith("npm "):
    new = {**event["tool_input"], "command": "p" + text}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": new}}))
"""
IMPORTS = """import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from core.rules import judge
print(json.dumps(judge(json.load(sys.stdin))))
"""
RULES = """def judge(event):
    if "forbidden" in json_text(event):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}, "systemMessage": "a pack refuses"}
    return {}
def json_text(event):
    return str(event.get("tool_input"))
"""
STOPS = """#!/bin/bash
set -euo pipefail
input=$(cat)
[[ $(echo "$input" | jq -r '.stop_hook_active // false') == true ]] && exit 0
jq -n '{decision: "block", reason: "run the tests first", systemMessage: "once more"}'
"""
ASKS = """#!/bin/sh
if grep -q deploy; then echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "really?"}}'; fi
"""
AFTER = """#!/bin/bash
path=$(jq -r '.tool_input.file_path')
case "$path" in
  *.py) jq -n --arg path "$path" '{hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: ("format " + $path)}}' ;;
esac
"""
GUARDS_FILE = """#!/usr/bin/env python3
import json, sys
path = json.load(sys.stdin).get("tool_input", {}).get("file_path", "")
if path.endswith(".env"):
    print("a pack refuses", file=sys.stderr)
    sys.exit(2)
"""
PROMPTED = """#!/usr/bin/env python3
import json, sys
prompt = json.load(sys.stdin)["prompt"]
if "password" in prompt:
    print(json.dumps({"decision": "block", "reason": "no passwords"}))
else:
    print("the rules")
"""

SHAPES: Mapping[str, tuple[Mapping[str, str], tuple[Case, ...]]] = {
    "a launcher that joins the root with a relative argument": (
        {"hooks/hooks.json": file(PreToolUse=("Bash", command(BOOT))), "scripts/boot.js": LAUNCHER, "scripts/guard.sh": GUARD}, (REFUSED, PASSED),
    ),
    "a quoted root before an unquoted path": (
        {"hooks/hooks.json": file(PreToolUse=("Bash", command(f'"{ROOT}"/bin/run-hook.sh guard'))), "bin/run-hook.sh": '#!/bin/sh\nexec "$(dirname "$0")/../hooks/$1.sh"\n', "hooks/guard.sh": GUARD},
        (REFUSED, PASSED),
    ),
    "a wrapper for two systems": (
        {"hooks/hooks.json": file(SessionStart=("startup|resume|clear|compact", command(f'"{ROOT}/hooks/run-hook.cmd" session-start'))), "hooks/run-hook.cmd": POLYGLOT, "hooks/session-start": SAYS_RULES},
        (START,),
    ),
    "one file for Gemini and Claude": (
        {
            "gemini-extension.json": '{"name": "two"}', ".claude-plugin/plugin.json": '{"name": "two"}',
            "hooks/hooks.json": file(SessionStart=command('node "${extensionPath}${CLAUDE_PLUGIN_ROOT}/hooks/start.mjs"')),
            "hooks/start.mjs": 'console.log(JSON.stringify({hookSpecificOutput: {hookEventName: "SessionStart", additionalContext: "the rules"}}));\n',
        },
        (START,),
    ),
    "a root with a fallback": (
        {"hooks/hooks.json": file(PreToolUse=(".*", command('root="${CLAUDE_PLUGIN_ROOT:-${PLUGIN_ROOT:-$PWD}}"; sh "$root/hooks/guard.sh" "PreToolUse"', commandWindows="exit 1", statusMessage="…"))), "hooks/guard.sh": GUARD},
        (REFUSED, PASSED),
    ),
    "a module in the command": (
        {
            "hooks/hooks.json": file(PreToolUse=("Bash|.*shell_command.*|Task|mcp__.*", command(
                "node --input-type=module -e \"import path from 'node:path'; import { pathToFileURL } from 'node:url'; const root = process.env.CLAUDE_PLUGIN_ROOT || process.env.CODEX_PLUGIN_ROOT;"
                " await import(pathToFileURL(path.join(root, 'hooks', 'gate.mjs')).href);\"", timeout=5))),
            "hooks/gate.mjs": MODULE,
        },
        (REFUSED, PASSED, tool("mcp__git__push", {"branch": "forbidden"}, "deny", reason="a pack refuses")),
    ),
    "MCP tools by their server": (
        {"hooks/hooks.json": file(PreToolUse=("^mcp__memory__", command(f'"{ROOT}/guard.sh"'))), "guard.sh": GUARD},
        (tool("mcp__memory__write", {"text": "forbidden"}, "deny", reason="a pack refuses"), tool("mcp__other__write", {"text": "forbidden"}), bash("forbidden")),
    ),
    "MCP tools by a part of their names": (
        {"hooks/hooks.json": file(PreToolUse=("mcp__.*lines.*__(edit|read)", command(f'"{ROOT}/guard.sh"'))), "guard.sh": GUARD},
        (tool("mcp__mylines__edit", {"text": "forbidden"}, "deny", reason="a pack refuses"), tool("mcp__mylines__list", {"text": "forbidden"})),
    ),
    "a choice in the shell": (
        {"hooks/hooks.json": file(SessionStart=command(f'if [ ! -d "$HOME/.none" ]; then bash "{ROOT}/scripts/say.sh" 2>&1; else echo ready; fi', timeout=60)), "scripts/say.sh": "echo the rules\n"}, (START,),
    ),
    "another shell if the first fails": (
        {"hooks/hooks.json": file(SessionStart=command(f'bash "{ROOT}/say.sh" 2>/dev/null || pwsh -NoProfile -File "{ROOT}/say.ps1"')), "say.sh": "echo the rules\n", "say.ps1": "Write-Output 1\n"}, (START,),
    ),
    "a program of the home, or else of the pack": (
        {"hooks/hooks.json": file(PreToolUse=command('hook="$HOME/.claude/hooks/gate"; [ -x "$hook" ] || hook="$CLAUDE_PLUGIN_ROOT/hooks/gate"; exec "$hook"')), "hooks/gate": GUARD}, (REFUSED, PASSED),
    ),
    "arguments as a list": (
        {"hooks/hooks.json": file(PreToolUse=("Write|Edit|NotebookEdit|Bash", {"type": "command", "command": "python3", "args": [f"{ROOT}/hooks/gate.py", "--hook"], "timeout": 10})), "hooks/gate.py": IMPORTS, "core/rules.py": RULES, "core/__init__.py": ""},
        (bash("forbidden", "deny"), PASSED),
    ),
    "Python that imports from its root": (
        {"hooks/hooks.json": file(PreToolUse=("*", command(f"python3 {ROOT}/hooks/pre.py", timeout=10))), "hooks/pre.py": IMPORTS, "core/rules.py": RULES, "core/__init__.py": ""},
        (bash("forbidden", "deny"), PASSED),
    ),
    "rewrites a command": (
        {"hooks/hooks.json": file(PreToolUse=("Bash", command(f'"{ROOT}/rewrite.py"'))), "rewrite.py": REWRITE}, (bash("npm install", command="pnpm install"), bash("ls")),
    ),
    "asks": ({"hooks/hooks.json": file(PreToolUse=("Bash", command(f"{ROOT}/ask.sh"))), "ask.sh": ASKS}, (bash("make deploy", "ask", reason="really?"), PASSED)),
    "keeps the agent going": ({"hooks/hooks.json": file(Stop=("*", command(f"{ROOT}/hooks/stop.sh"))), "hooks/stop.sh": STOPS}, (Case("Stop", {}, "deny", reason="run the tests first"),)),
    "reads a prompt": (
        {"hooks/hooks.json": file(UserPromptSubmit=("", command(f"python3 '{ROOT}/prompt.py'"))), "prompt.py": PROMPTED},
        (Case("UserPromptSubmit", {"prompt": "my password is x"}, "deny", reason="no passwords"), Case("UserPromptSubmit", {"prompt": "hello"}, context="the rules")),
    ),
    "looks after an edit": (
        {"hooks/hooks.json": file(PostToolUse=("Write|Edit|MultiEdit", command(f"bash {ROOT}/after.sh"))), "after.sh": AFTER},
        (Case("PostToolUse", {"tool_name": "Write", "tool_input": {"file_path": "/p/a.py", "content": "x"}, "tool_output": "ok"}, context="format /p/a.py"),),
    ),
    "guards files": (
        {"hooks/hooks.json": file(PreToolUse=("Read|Edit|Write|MultiEdit|Grep|Glob|NotebookEdit", command(f'python3 "{ROOT}/hooks/guard.py"'))), "hooks/guard.py": GUARDS_FILE},
        (tool("Read", {"file_path": "/p/.env"}, "deny", reason="a pack refuses"), tool("Read", {"file_path": "/p/a.txt"}), tool("Write", {"file_path": "/p/.env", "content": "x"}, "deny", reason="a pack refuses")),
    ),
    "a rule beside the matcher": (
        {"hooks/hooks.json": file(PreToolUse=("Bash", {**command("echo 'a pack refuses' >&2 && exit 2"), "if": "Bash(git push *)"}))},
        (bash("cd x && git push origin main", "deny", reason="a pack refuses"), bash("git status")),
    ),
    "a matcher of session starts": (
        {"hooks/hooks.json": file(SessionStart=[("startup", command("echo the rules")), ("compact", command("echo after compaction"))])}, (START,),
    ),
    "a Cursor plugin": (
        {
            ".cursor-plugin/plugin.json": '{"name": "env", "hooks": "hooks/hooks.json"}', "scripts/shell": "#!/bin/sh\nif jq -r .command | grep -q forbidden; then echo '{\"permission\": \"deny\", \"user_message\": \"a pack refuses\", \"agent_message\": \"a pack refuses\"}'; fi\n",
            "hooks/hooks.json": json.dumps({"version": 1, "hooks": {"beforeShellExecution": [{"command": "./scripts/shell"}], "preToolUse": [{"command": "./scripts/none", "matcher": "Read File V2|Read", "failClosed": True}], "stop": [{"command": "./scripts/shell", "loop_limit": 3}]}}),
        },
        (REFUSED, PASSED, tool("Read", {"file_path": "forbidden"}, "deny"), tool("Write", {"file_path": "x", "content": "forbidden"})),
    ),
    "one plugin for four agents": (
        {
            **dict.fromkeys((".claude-plugin/plugin.json", ".codex-plugin/plugin.json"), '{"name": "four"}'),
            ".cursor-plugin/plugin.json": '{"name": "four", "hooks": "./hooks/hooks-cursor.json"}', "gemini-extension.json": '{"name": "four"}',
            "hooks/hooks.json": file(PreToolUse=("Bash", command(f'"{ROOT}/hooks/guard.sh"'))), "hooks/guard.sh": GUARD,
            "hooks/hooks-cursor.json": json.dumps({"version": 1, "hooks": {"beforeShellExecution": [{"command": "./hooks/missing"}]}}),
        },
        (REFUSED, PASSED),
    ),
    "of an agent that is not known": (
        {"hooks/hooks.json": file(PreToolUse=("Bash", command('sh "${OTHER_PLUGIN_ROOT}/guard.sh"'))), "guard.sh": GUARD}, (REFUSED, PASSED),
    ),
    "groups with names": (
        {"hooks/hooks.json": json.dumps({"$schema": "https://json.schemastore.org/claude-code-settings.json", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [command(f"bash {ROOT}/guard.sh")], "description": "x", "id": "pre:guard"}]}}), "guard.sh": GUARD},
        (REFUSED, PASSED),
    ),
}  # fmt: skip


def results(cases: tuple[Case, ...], agent: str) -> Iterator[str]:
    """What is not as it should be in this agent."""
    runtime = load_runtime(Sources(), READ_ONLY)
    with runtime.engine as engine:
        for number, case in enumerate(cases):
            sent = engine.event(case.event, dict(case.data), session=f"{agent}{number}")
            event, _ = translate(sent, AGENTS[agent])
            if event is None:
                continue
            decision = engine.fire_event(event)
            write_reply(dialect_named(AGENTS[agent].dialect), event, decision)
            yield from (f"{agent}, {case.event}: {wrong}" for wrong in differences(case, decision))


def differences(case: Case, decision: Decision) -> Iterator[str]:
    if decision.effect != case.effect:
        yield f"{decision.effect} instead of {case.effect} ({decision.reason})"
    if case.reason not in decision.reason:
        yield f"the reason {decision.reason!r}"
    if case.context not in "".join(one.context.text for one in decision.context):
        yield f"the context {decision.context}"
    if case.command and decision.data["tool_input"].get("command") != case.command:
        yield f"the command {decision.data['tool_input']}"
    if case.effect != "deny":
        yield from (f"{one.hook}: {one.error}" for one in decision.outcomes if one.error)


@pytest.mark.parametrize("name", SHAPES)
def test_a_published_shape_works_in_seven_agents(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    files, cases = SHAPES[name]
    done = box("add", str(write(tmp_path / "my pack", {"hooks/.keep": "", **files})), "--yes", "--json")
    assert done.code == 0, done
    wrong: list[str] = []
    # Cursor does not tell the name of a tool's server.
    for agent in (*SEVEN[:-1], "droid") if name.startswith("MCP") else SEVEN:
        marker = AGENTS[agent].marker
        if marker:
            monkeypatch.setenv(marker, "1")
        wrong += results(cases, agent)
        if marker:
            monkeypatch.delenv(marker)
    assert wrong == []
