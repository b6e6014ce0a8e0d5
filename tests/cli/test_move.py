"""hookline deploy --move: hooks and registration go from one agent to another, and what is lost is said."""

from __future__ import annotations

import json
import tomllib

import pytest

from hookline.cli.move import plan_move
from hookline.core.agents import AGENTS
from hookline.dialects import dialect_named

GEMINI = {
    "hooks": {
        "BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5000}]}],
        "BeforeToolSelection": [{"hooks": [{"type": "command", "command": "./select.sh"}]}],
    }
}  # fmt: skip
#: A program for Gemini CLI: it reads Gemini's name of the tool, and answers in Gemini's form.
GUARD = """\
#!/usr/bin/env python3
import json, sys
sent = json.load(sys.stdin)
assert sent["hook_event_name"] == "BeforeTool", sent
if sent["tool_name"] == "run_shell_command" and "rm" in sent["tool_input"]["command"]:
    print(json.dumps({"decision": "deny", "reason": "NOT-WITH-ME"}))
"""


@pytest.fixture
def gemini(project):
    """Gemini CLI with a guard of its own, and hookline registered there."""
    (project.home / ".gemini").mkdir()
    (project.home / ".gemini/settings.json").write_text(json.dumps(GEMINI))
    project.write("guard.sh", GUARD).chmod(0o755)
    return project


def test_a_hook_for_gemini_decides_in_codex_as_it_did_there(gemini):
    done = gemini.run("deploy", "--move", "gemini-cli=codex")
    assert "lost: ./select.sh (PreToolSelection): in Codex, the event never fires" in done.err
    assert done.code == 1
    assert "PreToolUse" in json.loads((gemini.home / ".codex/hooks.json").read_text())["hooks"]
    event = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "cwd": str(gemini.path)}
    answered = gemini.run("hook", "--agent", "codex", "--event", "PreToolUse", stdin=json.dumps(event))
    assert "NOT-WITH-ME" in answered.out + answered.err
    event["tool_input"] = {"command": "ls"}
    assert (
        "NOT-WITH-ME"
        not in gemini.run("hook", "--agent", "codex", "--event", "PreToolUse", stdin=json.dumps(event)).out
    )


def test_a_hook_for_commands_alone_gets_them_and_nothing_else_elsewhere(project):
    """Cursor has events for one kind of tool: what they are told stands at the top of the input."""
    code = "import json, sys; sys.exit(2 if 'rm' in json.load(sys.stdin)['command'] else 0)"
    guard = f'python3 -c "{code}" || {{ echo NOT-WITH-ME >&2; exit 2; }}; echo called >> calls'
    cursor = {"version": 1, "hooks": {"beforeShellExecution": [{"command": guard}]}}
    (project.home / ".cursor").mkdir(exist_ok=True)
    (project.home / ".cursor/hooks.json").write_text(json.dumps(cursor))
    project.run("deploy", "--move", "cursor=claude-code")

    def sent(tool, given):
        event = {"session_id": "s", "tool_name": tool, "tool_input": given, "cwd": str(project.path)}
        done = project.run("hook", "--agent", "claude-code", "--event", "PreToolUse", stdin=json.dumps(event))
        return "NOT-WITH-ME" in done.out + done.err

    assert sent("Bash", {"command": "rm -rf /"})
    assert not sent("Bash", {"command": "ls"})
    assert not sent("Read", {"file_path": "/rm"})
    assert (project.path / "calls").read_text() == "called\n"


def test_moving_twice_adds_nothing_and_a_dry_run_writes_nothing(gemini):
    toml = gemini.home / ".config/hookline/hookline.toml"
    planned = gemini.run("deploy", "--move", "gemini-cli=codex", "--dry-run")
    assert 'dialect = "gemini"' in planned.out
    assert not toml.exists()
    gemini.run("deploy", "--move", "gemini-cli=codex")
    first = toml.read_text()
    gemini.run("deploy", "--move", "gemini-cli=codex")
    assert toml.read_text() == first
    assert (gemini.home / ".gemini/settings.json").read_text() == json.dumps(GEMINI), "its own hooks stay"


def test_the_registration_goes_with_the_hooks(gemini):
    gemini.run("deploy", "--move", "gemini-cli=codex")
    moved = gemini.run("deploy", "--move", "codex=claude-code", "--json")
    told = json.loads(moved.out)["moved"]
    assert (told["hooks"], told["unregistered"]) == ([], [str(gemini.home / ".codex/hooks.json")])
    assert not (gemini.home / ".codex/hooks.json").exists()
    assert "hookline" in (gemini.home / ".claude/settings.json").read_text()


def test_in_a_project_the_first_agent_stays_registered_until_the_hooks_are_approved(gemini):
    (gemini.path / ".gemini").mkdir()
    (gemini.path / ".gemini/settings.json").write_text(json.dumps(GEMINI))
    (gemini.path / ".git").mkdir(exist_ok=True)
    done = gemini.run("deploy", "--move", "gemini-cli=codex", "--scope", "project")
    assert (done.code, "hookline trust && hookline deploy --move" in done.err) == (1, True)
    gemini.run("trust", "--yes")
    gemini.run("deploy", "--move", "gemini-cli=codex", "--scope", "project")
    assert "PreToolUse" in (gemini.path / ".codex/hooks.json").read_text()


@pytest.mark.parametrize("pair", ["gemini-cli", "gemini-cli=", "codex=codex", "gemni=codex", "a=b=c"])
def test_a_pair_that_is_none_is_refused(project, pair):
    done = project.run("deploy", "--move", pair)
    assert done.code == 64
    assert "hookline:" in done.err


@pytest.mark.parametrize("source", AGENTS)
def test_from_every_agent_to_every_other_a_guard_is_carried(source, tmp_path, monkeypatch):
    """Agents with plugins have no file: of them only the registration moves."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "KIMI_CODE_HOME", "HERMES_HOME"):
        monkeypatch.delenv(name, raising=False)
    agent, dialect = AGENTS[source], dialect_named(AGENTS[source].dialect)
    native = next(name for name, ours in dialect.events.items() if ours == "PreToolUse")
    if agent.form != "plugin":
        path = tmp_path / agent.files["user"]
        path.parent.mkdir(parents=True)
        path.write_text(_guard_file(agent, native))
    for target in AGENTS.values():
        if target.name == source:
            continue
        move = plan_move(f"{source}={target.name}", "user", str(tmp_path), str(tmp_path))
        assert not move.problems
        assert [one["carried"] for one in move.hooks] == ([] if agent.form == "plugin" else [True])
        if move.added:
            (hook,) = tomllib.loads(move.added)["hook"]
            assert (hook["on"], hook["shell"], hook["dialect"]) == ("PreToolUse", "./guard", agent.dialect)
            never = any("never fires" in lost for one in move.hooks for lost in one["lost"])
            assert not never, "every agent fires PreToolUse"


@pytest.mark.parametrize(("target", "is_lost"), [("cursor", True), ("codex", False)])
def test_a_hook_on_one_server_is_lost_where_servers_are_not_told_apart(tmp_path, target, is_lost):
    (tmp_path / ".claude").mkdir()
    group = {"matcher": "mcp__github__push", "hooks": [{"type": "command", "command": "./guard"}]}
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    (row,) = plan_move(f"claude-code={target}", "user", str(tmp_path), str(tmp_path)).hooks
    assert any("does not tell which MCP server" in lost for lost in row["lost"]) == is_lost


def _guard_file(agent, native):
    from hookline.core.hook import Command, HookSpec, Origin

    spec = HookSpec(
        id="1", name="./guard", dialect=agent.dialect, event="PreToolUse", native_event=native, origin=Origin(file="f"),
        action=Command(form="shell", text="./guard"), flow="chain", after_deny="continue", on_failure="ignore",
    )  # fmt: skip
    return dialect_named(agent.dialect).render([spec]).text
