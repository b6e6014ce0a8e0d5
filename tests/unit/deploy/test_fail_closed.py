"""A registration whose hookline is broken or gone still refuses, in the form that its agent obeys."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.core.agents import all_agents
from hookline.core.own_registration import is_ours
from hookline.deploy.own_entry import entry_commands
from hookline.deploy.registration import EntryCaller, command_program, registrations
from hookline.dialects.event_lookup import native_events

ENDS = {"gone": None, "broken": "exit 3", "old": "exit 64", "killed": "kill -9 $$", "cannot": "echo why >&2; exit 2"}
AGENTS = [name for name, target in all_agents().items() if target.form != "plugin"]
#: Told by JSON that a tool is refused, because a bare exit code is no refusal, or one without a reason.
BY_JSON = {name for name in AGENTS if "PreToolUse" in all_agents()[name].blocks}


def answer(tmp_path: Path, agent: str, event: str, end: str | None) -> Any:
    program = tmp_path / "a b" / "hookline"
    program.parent.mkdir(exist_ok=True)
    if end is not None:
        program.write_text(f"#!/bin/sh\n{end}\n")
        program.chmod(0o755)
    one, *_others = registrations(all_agents()[agent], EntryCaller(program=str(program)), (event,))
    (line,) = entry_commands(one.entry)
    return subprocess.run(["/bin/sh", "-c", line], input="{}", capture_output=True, text=True, check=False)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_tool_call_is_refused(tmp_path: Path, agent: str, end: str | None) -> None:
    done = answer(tmp_path, agent, "PreToolUse", end)
    if agent in BY_JSON:
        told = json.loads(done.stdout)
        said = told.get("decision", told.get("permissionDecision", told.get("permission")))
        assert (done.returncode, said) == (0, "block" if agent == "hermes" else "deny")
        assert "hookline failed" in done.stdout
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.strip()


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit", "PermissionRequest"])
def test_what_it_had_begun_to_say_spoils_no_refusal(tmp_path: Path, agent: str, event: str) -> None:
    if event not in native_events(all_agents()[agent]):
        return
    done = answer(tmp_path, agent, event, 'echo \'{"systemMessage": "half"}\'; kill -9 $$')
    if done.returncode != 2:
        assert any(word in done.stdout for word in ("deny", "block", '"continue": false'))
        assert "hookline failed" in json.dumps(json.loads(done.stdout))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "Stop"])
def test_the_program_is_found_in_its_line(agent: str, event: str) -> None:
    if event not in native_events(all_agents()[agent]):
        return
    for program in ("/opt/a b/hookline", "/opt/it's/hookline", "hookline"):
        one, *_others = registrations(all_agents()[agent], EntryCaller(program=program), (event,))
        (line,) = entry_commands(one.entry)
        assert (is_ours(line), command_program(line)) == (True, program)


@pytest.mark.parametrize("agent", ["codex", "letta-code"])
def test_a_persons_own_shell_need_not_read_ours(agent: str) -> None:
    """fish knows neither braces nor ``$?``: for it there are three words, and quotes as every shell has them."""
    (one,) = registrations(all_agents()[agent], EntryCaller(program="/opt/hookline"), ("PreToolUse",))
    (line,) = entry_commands(one.entry)
    assert shlex.split(line)[:2] == ["/bin/sh", "-c"]
    assert len(shlex.split(line)) == 3
    assert "\\" not in line


@pytest.mark.parametrize("agent", ["claude-code", "codex", "qwen-code", "copilot-cli"])
def test_a_permission_is_refused_by_json(tmp_path: Path, agent: str) -> None:
    done = answer(tmp_path, agent, "PermissionRequest", None)
    told = json.loads(done.stdout)
    decision = told if agent == "copilot-cli" else told["hookSpecificOutput"]["decision"]
    assert (done.returncode, decision["behavior"]) == (0, "deny")


def test_lettas_neutral_answer_is_not_taken_for_a_failure(tmp_path: Path) -> None:
    assert answer(tmp_path, "letta-code", "PermissionRequest", "exit 1").returncode == 1
    assert answer(tmp_path, "letta-code", "PermissionRequest", "exit 3").returncode == 2


@pytest.mark.parametrize("agent", AGENTS)
def test_an_answer_passes_as_it_is(tmp_path: Path, agent: str) -> None:
    done = answer(tmp_path, agent, "PreToolUse", "echo '{\"a\": 1}'")
    assert (done.returncode, done.stdout.rstrip("\n"), done.stderr) == (0, '{"a": 1}', "")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_broken_hookline_never_keeps_an_agent_from_stopping(tmp_path: Path, agent: str) -> None:
    if "Stop" not in native_events(all_agents()[agent]):
        return
    done = answer(tmp_path, agent, "Stop", "echo why >&2; exit 3")
    neutral = {"gemini-cli": 1, "copilot-cli": 0, "mistral-vibe": 0}
    assert (done.returncode, done.stdout) == (neutral.get(agent, 3), "")


def test_a_refusal_says_how_to_get_out(tmp_path: Path) -> None:
    for agent in AGENTS:
        caller = EntryCaller(program=str(tmp_path / "hookline"), file='/home/"me"/settings.json')
        one, *_others = registrations(all_agents()[agent], caller, ("PreToolUse",))
        (line,) = entry_commands(one.entry)
        done = subprocess.run(["/bin/sh", "-c", line], input="{}", capture_output=True, text=True, check=False)
        told = json.dumps(json.loads(done.stdout)) if done.stdout else json.dumps(done.stderr)
        assert "pip install hookline; from a clone: pip install CLONE" in told
        assert '/home/\\"me\\"/settings.json' in told


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize(
    ("end", "result"),
    [
        ('echo \'{"deny": "no"}\'', "threw: no"),
        ('echo \'{"args": {"command": "pwd"}}\'', '{"command":"pwd"}'),
        ("true", '{"command":"ls","description":"d"}'),
        ("exit 3", "threw: hookline failed on tool.execute.before (exit code 3), so this is refused"),
        (None, "threw: hookline failed on tool.execute.before"),
    ],
)
def test_the_plugin_does_what_it_is_told(tmp_path: Path, end: str | None, result: str) -> None:
    from hookline.deploy.plugin import plugin_source

    program = tmp_path / "hookline"
    if end is not None:
        program.write_text(f"#!/bin/sh\ncat > {tmp_path}/asked\n{end}\n")
        program.chmod(0o755)
    (tmp_path / "plugin.mjs").write_text(
        plugin_source(all_agents()["opencode"], EntryCaller(program=str(program)), ("PreToolUse",))
    )
    (tmp_path / "drive.mjs").write_text(
        'import { Hookline } from "./plugin.mjs"\n'
        'const hooks = await Hookline({ directory: "/tmp" })\n'
        'const output = { args: { command: "ls", description: "d" } }\n'
        'try { await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)\n'
        "  console.log(JSON.stringify(output.args)) } catch (error) { console.log(`threw: ${error.message}`) }\n"
    )
    done = subprocess.run(["node", tmp_path / "drive.mjs"], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.startswith(result), done.stderr
    if end is not None:
        assert json.loads((tmp_path / "asked").read_text())["input"]["tool"] == "bash"
