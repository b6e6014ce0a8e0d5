"""Plugin layouts as they are published: each is added by one line, and its guard refuses in every agent's words."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.packs.conftest import BEFORE_BASH, GUARD, Box, plugin, write

from hookline.core.agents import AGENTS
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events
from hookline.doctor.replay import translate
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.gateway.reply import write_reply

MANIFEST = json.dumps({"name": "guarded", "version": "1.0.0"})
PYTHON = """#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
if "forbidden" in json.dumps(data.get("tool_input", {})):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "a pack refuses"}}))
"""
BLOCK = """#!/bin/sh
if grep -q forbidden; then echo '{"decision": "block", "reason": "a pack refuses"}'; fi
"""
NODE = """const chunks = [];
process.stdin.on("data", (one) => chunks.push(one)).on("end", () => {
  const event = JSON.parse(chunks.join(""));
  if (event.tool_name === "Bash" && event.tool_input.command.includes("forbidden")) {
    console.error("a pack refuses");
    process.exit(2);
  }
});
"""
PLUGIN = f"""#!{sys.executable}
import json, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
stream = server.accept()[0].makefile("rw")
for line in stream:
    message = json.loads(line)
    if message["type"] == "handshake":
        answer = {{"type": "handshake_ok", "name": "guard", "version": "1.0", "hooks": ["pipeline.pre_execute"]}}
    elif message["type"] == "hook":
        answer = {{"type": "hook_result", "id": message["id"], "action": "allow"}}
    else:
        continue
    stream.write(json.dumps(answer) + "\\n")
    stream.flush()
"""


def hooks(command: str, event: str = "PreToolUse", matcher: str | None = "Bash", **more: Any) -> str:
    group = {"hooks": [{"type": "command", "command": command, **more}]} | ({"matcher": matcher} if matcher else {})
    return json.dumps({"description": "one", "hooks": {event: [group]}})


def front(kind: str, command: str = '"${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh"') -> str:
    return f"""---
name: {kind}
description: does things
hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: '{command}'
---
Do it.
"""


ROOT = "${CLAUDE_PLUGIN_ROOT}"
LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "manifest and hooks.json": plugin(),
    "no manifest": {"hooks/hooks.json": json.dumps({"hooks": BEFORE_BASH}), "hooks/guard.sh": GUARD},
    "manifest names a file": {
        ".claude-plugin/plugin.json": json.dumps({"name": "g", "hooks": "./config/my-hooks.json"}),
        "config/my-hooks.json": json.dumps({"hooks": BEFORE_BASH}), "hooks/guard.sh": GUARD,
    },
    "manifest names files": {
        ".claude-plugin/plugin.json": json.dumps({"name": "g", "hooks": ["./a.json", "./b.json"]}),
        "a.json": hooks("true"), "b.json": json.dumps({"hooks": BEFORE_BASH}), "hooks/guard.sh": GUARD,
    },
    "hooks in the manifest": {".claude-plugin/plugin.json": json.dumps({"name": "g", "hooks": BEFORE_BASH}), "hooks/guard.sh": GUARD},
    "manifest at the root": {"plugin.json": MANIFEST, "hooks/hooks.json": json.dumps({"hooks": BEFORE_BASH}), "hooks/guard.sh": GUARD},
    "codex": {".codex-plugin/plugin.json": json.dumps({"name": "g", "hooks": "./hooks.json"}), "hooks.json": hooks('"$PLUGIN_ROOT/guard.sh"'), "guard.sh": GUARD},
    "codex and claude": {".codex-plugin/plugin.json": MANIFEST, **plugin()},
    "gemini extension": {
        "gemini-extension.json": MANIFEST, "hooks/hooks.json": hooks("${extensionPath}${/}hooks${/}guard.sh", "BeforeTool", "run_shell_command"), "hooks/guard.sh": GUARD,
    },
    "qwen extension": {"qwen-extension.json": MANIFEST, "hooks/hooks.json": hooks("${extensionPath}/hooks/guard.sh", matcher="run_shell_command"), "hooks/guard.sh": GUARD},
    "copilot": {
        "plugin.json": MANIFEST, "guard.sh": BLOCK.replace('{"decision": "block", "reason": "a pack refuses"}', '{"permissionDecision": "deny", "permissionDecisionReason": "a pack refuses"}'),
        "hooks.json": json.dumps({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "$PLUGIN_ROOT/guard.sh"}]}}),
    },
    "hookline.toml": {
        ".hookline/hookline.toml": '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "Bash"\nrun = "./hooks/guard.sh"\n', "hooks/guard.sh": GUARD,
    },
    "lectic": {"lectic.yaml": 'hooks:\n  - on: tool_use_pre\n    do: |\n      #!/bin/sh\n      case "$TOOL_ARGS" in *forbidden*) echo a pack refuses >&2; exit 1;; esac\n'},
    "skill": {"skills/careful/SKILL.md": front("careful"), "hooks/guard.sh": GUARD, ".claude-plugin/plugin.json": MANIFEST},
    "command": {"commands/deploy.md": front("deploy"), "hooks/guard.sh": GUARD, ".claude-plugin/plugin.json": MANIFEST},
    "python that answers in JSON": {"hooks/hooks.json": hooks(f"python3 {ROOT}/hooks/guard.py"), "hooks/guard.py": PYTHON},
    "old decision": {"hooks/hooks.json": hooks(f"bash {ROOT}/scripts/guard.sh"), "scripts/guard.sh": BLOCK},
    "node": {"hooks/hooks.json": hooks(f"node '{ROOT}/hooks/guard.js'"), "hooks/guard.js": NODE},
    "args": {"hooks/hooks.json": hooks("bash", args=[f"{ROOT}/hooks/guard.sh"]), "hooks/guard.sh": GUARD},
    "relative command": {"hooks/hooks.json": hooks("./hooks/guard.sh"), "hooks/guard.sh": GUARD},
    "relative after an interpreter": {"hooks/hooks.json": hooks("bash scripts/guard.sh --strict"), "scripts/guard.sh": GUARD},
    "no matcher": {"hooks/hooks.json": hooks(f"{ROOT}/hooks/guard.sh", matcher=None), "hooks/guard.sh": GUARD},
    "regular expression": {"hooks/hooks.json": hooks(f"{ROOT}/hooks/guard.sh", matcher="Write|Edit|Bash.*"), "hooks/guard.sh": GUARD},
    "events at the top": {"hooks/hooks.json": json.dumps(BEFORE_BASH), "hooks/guard.sh": GUARD},
    "a script for uv": {"hooks/hooks.json": hooks(f'uv run --script "{ROOT}/guard.py"'), "guard.py": "# /// script\n# dependencies = []\n# ///\n" + PYTHON},
    "with a byte order mark": {"hooks/hooks.json": "\ufeff" + json.dumps({"hooks": BEFORE_BASH}), "hooks/guard.sh": GUARD},
    "reads beside itself": {
        "hooks/hooks.json": hooks(f'cd "{ROOT}" && ./guard.sh'), "guard.sh": '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nguard\n', "lib.sh": "guard() { if grep -q forbidden; then echo a pack refuses >&2; exit 2; fi; }\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_published_layout_guards_every_agent(box: Box, tmp_path: Path, name: str) -> None:
    done = box("add", str(write(tmp_path / "a pack", LAYOUTS[name])), "--yes", "--json")
    assert done.code == 0, done
    runtime = load_runtime(Sources(), READ_ONLY)
    answers: dict[str, list[str]] = {}
    with runtime.engine as engine:
        for command in ("forbidden", "ls"):
            sent = engine.event("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}}, session="s")
            for agent in AGENTS.values():
                event, _ = translate(sent, agent)
                assert event is not None
                decision = engine.fire_event(event)
                write_reply(dialect_named(agent.dialect), event, decision)
                failed = [one.error for one in decision.outcomes if one.error]
                answers.setdefault(agent.name, []).append(f"{decision.effect} {failed or ''}".strip())
                assert "a pack refuses" in decision.reason or command == "ls" or name == "lectic"
    assert answers == {agent: ["deny", "allow"] for agent in AGENTS}


def test_front_matter_of_a_subagent_counts_while_that_works(box: Box, tmp_path: Path) -> None:
    files = {"agents/reviewer.md": front("reviewer"), "hooks/guard.sh": GUARD, ".claude-plugin/plugin.json": MANIFEST}
    assert box("add", str(write(tmp_path / "plug", files)), "--yes").code == 0
    assert [box.fire("forbidden", agent_type=kind)["effect"] for kind in ("reviewer", "other")] == ["deny", "allow"]
    assert box.effect() == "allow"


def test_a_lash_plugin_folder_is_a_pack(box: Box, tmp_path: Path) -> None:
    files = {"plugins.conf": "[plugins]\nguard = ./guard\n", "guard": PLUGIN}
    assert box("add", str(write(tmp_path / "plug", files)), "--yes").code == 0
    done = box("fire", "pipeline.pre_execute", "--json", "--data", '{"pipeline": "ls"}').json
    assert [one["status"] for one in done["outcomes"]] == ["replied"], done


def test_a_plugin_of_a_marketplace_is_found_by_its_name(box: Box, tmp_path: Path) -> None:
    market = tmp_path / "market"
    entries = [
        {"name": "one", "source": "./plugins/one"},
        {"name": "two", "source": {"source": "url", "url": f"file://{tmp_path}/other"}},
    ]
    write(market, {".claude-plugin/marketplace.json": json.dumps({"name": "m", "plugins": entries})})
    write(market / "plugins/one", plugin("one"))
    from tests.packs.conftest import repository

    repository(tmp_path / "other", plugin("two"))
    assert "one, two" in box("add", str(market), "--yes").err
    assert box("add", f"one@{market}", "--yes", "--json").json["source"] == f"{market}/plugins/one"
    assert box("add", f"two@{market}", "--yes", "--json").json["source"] == f"file://{tmp_path}/other"
    assert "three" in box("add", f"three@{market}", "--yes").err
    known = {"m": {"source": {"source": "directory", "path": str(market)}}}
    write(box.home, {".claude/plugins/known_marketplaces.json": json.dumps(known)})
    assert box("add", "one@m", "--yes").code == 0


def test_a_folder_without_hooks_is_refused_with_what_was_looked_for(box: Box, tmp_path: Path) -> None:
    done = box("add", str(write(tmp_path / "plug", {"README.md": "hello"})), "--yes")
    assert (done.code, "hooks/hooks.json" in done.err) == (78, True)


def test_every_agent_has_the_event_that_layouts_are_tried_with() -> None:
    assert all("PreToolUse" in native_events(agent) for agent in AGENTS.values())


# ── what agents have already ─────────────────────────────────────────────────────────────────────────


@pytest.fixture
def installed(box: Box) -> Box:
    """A plugin installed in four agents each, and one that is switched off."""
    home = box.home
    claude, off = write(home / "cache/one", plugin("one")), write(home / "cache/off", plugin("off"))
    plugins = {
        "one@m": [{"scope": "user", "installPath": str(claude)}],
        "off@m": [{"scope": "user", "installPath": str(off)}],
    }
    write(home, {
        ".claude/plugins/installed_plugins.json": json.dumps({"version": 2, "plugins": plugins}),
        ".claude/settings.json": json.dumps({"enabledPlugins": {"one@m": True, "off@m": False}}),
        ".codex/config.toml": '[plugins."two@m"]\nenabled = true\n',
    })  # fmt: skip
    write(home / ".codex/plugins/cache/m/two/1.0", plugin("two"))
    write(home / ".gemini/extensions/three", LAYOUTS["gemini extension"])
    write(home / ".copilot/installed-plugins/m/four", plugin("four"))
    return box


def test_installed_plugins_are_listed(installed: Box) -> None:
    rows = installed("packs", "--json").json["installed"]
    assert [(one["agent"], one["name"], one["enabled"], one["hooks"]) for one in rows] == [
        ("claude-code", "one@m", True, 1), ("claude-code", "off@m", False, 1), ("codex", "two@m", True, 1),
        ("gemini-cli", "three", True, 1), ("copilot-cli", "four@m", True, 1),
    ]  # fmt: skip
    assert installed.effect() == "allow"


@pytest.mark.parametrize("owner", ["claude-code", "codex", "gemini-cli", "copilot-cli"])
def test_installed_plugins_run_in_all_other_agents(installed: Box, owner: str) -> None:
    write(installed.home, {".config/hookline/hookline.toml": f'[[source]]\ninstalled = "{owner}"\n'})
    data = json.dumps({"tool_name": "Bash", "tool_input": {"command": "forbidden"}})
    for agent in AGENTS:
        runtime = load_runtime(Sources(agent=agent, asked_by=agent), READ_ONLY)
        with runtime.engine as engine:
            decision = engine.fire_event(engine.event("PreToolUse", json.loads(data), agent=agent))
        assert (agent, decision.effect) == (agent, "allow" if agent == owner else "deny")
