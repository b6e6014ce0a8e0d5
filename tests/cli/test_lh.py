"""Every ``lh …`` line of lazy-harness's document, typed as it is written there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Project

from hookline.memory.layout import encode_cwd

LH = Path(sys.executable).parent / "lh"
MY_HOOK = '''#!/usr/bin/env python3
"""My custom SessionStart hook."""
import json
import sys
def main() -> None:
    try:
        payload = json.load(sys.stdin)
    except (json.JSONDecodeError, EOFError, ValueError):
        payload = {}
    output = {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "Hello from my_hook",
        }
    }
    print(json.dumps(output))
if __name__ == "__main__":
    main()
'''
CONFIG = """[hooks.session_start]
scripts = ["context-inject", "my_hook"]
[hooks.session_stop]
scripts = ["session-export", "compound-loop"]
[hooks.session_end]
scripts = ["session-end"]
[hooks.pre_compact]
scripts = ["pre-compact"]
[compound_loop]
enabled = true
"""

pytestmark = pytest.mark.skipif(not LH.exists(), reason="hookline was installed before it had the name lh")


@pytest.fixture(params=["hookline", "lazy-harness"])
def world(project: Project, request: pytest.FixtureRequest) -> Project:
    """The document's example, in hookline's directories and in lazy-harness's own."""
    base = project.home / ".config" / request.param
    (base / "hooks").mkdir(parents=True)
    (base / "hooks/my_hook.py").write_text(MY_HOOK)
    (base / ("hookline.toml" if request.param == "hookline" else "config.toml")).write_text(CONFIG)
    (project.home / ".claude").mkdir()
    return project


def typed(world: Project, line: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environ = {"PATH": f"{LH.parent}:{os.environ['PATH']}", "HOME": str(world.home), "LANG": "C.UTF-8"}
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=world.path, env=environ, input=stdin, capture_output=True, text=True, timeout=200,
        check=False,
    )  # fmt: skip


def test_lh_deploy(world: Project) -> None:
    done = typed(world, "lh deploy         # regenerates the agent's hook config")
    assert done.returncode == 0, done.stderr
    settings = json.loads((world.home / ".claude/settings.json").read_text())
    assert {"SessionStart", "Stop", "SessionEnd", "PreCompact"} <= settings["hooks"].keys()


def test_lh_hooks_list(world: Project) -> None:
    done = typed(world, "lh hooks list     # confirms your hook resolved")
    assert done.returncode == 0
    assert "my_hook" in done.stdout
    assert "not found" not in done.stdout


def test_lh_hooks_run(world: Project) -> None:
    done = typed(world, "lh hooks run my_hook --event session_start   # dry-run it with a fake payload")
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] == "Hello from my_hook"


def test_lh_hook_session_end(world: Project) -> None:
    """As it stands in the document's settings.json."""
    payload = json.dumps({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "prompt_input_exit"})
    done = typed(world, "lh hook session-end", payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "session-end: skipped: no transcript" in typed(world, "cat ~/.local/state/hookline/hooks.log").stdout


def test_lh_knowledge_handoff_now(world: Project) -> None:
    name, _ = encode_cwd(str(world.path))
    file = world.home / ".claude/projects" / name / "session1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"type": "user", "message": {"role": "user", "content": "hi"}}\n')
    done = typed(world, "lh knowledge handoff-now")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("queued ")
    assert done.stdout.endswith("-session1.task\n")


def test_lh_status_hooks(world: Project) -> None:
    typed(world, "lh hook context-inject", "{}")
    done = typed(world, "lh status hooks")
    assert done.returncode == 0
    assert "context-inject" in done.stdout


PAYLOADS = Path(__file__).parents[1] / "payloads"
once = pytest.mark.parametrize("world", ["hookline"], indirect=True)


@once
@pytest.mark.parametrize(
    ("file", "options", "place"),
    [
        ("claude/SessionStart.startup.json", "", ("hookSpecificOutput", "additionalContext")),
        ("gemini/SessionStart.json", "", ("hookSpecificOutput", "additionalContext")),
        ("copilot/sessionStart.json", "", ("additionalContext",)),
        ("copilot-pascal/SessionStart.json", "", ("additionalContext",)),
        ("claude/SessionStart.startup.json", " --agent copilot-cli", ("additionalContext",)),
    ],
)
def test_lh_hook_answers_an_agent_as_that_agent_reads_it(
    world: Project, file: str, options: str, place: tuple[str, ...]
) -> None:
    payload = {**json.loads((PAYLOADS / file).read_text()), "cwd": str(world.path)}
    done = typed(world, f"lh hook context-inject{options}", json.dumps(payload))
    said = json.loads(done.stdout)
    assert ("additionalContext" in said) is (len(place) == 1)
    for name in place:
        said = said[name]
    assert said == "New project, no prior context."


@once
def test_lh_hook_tells_letta_plain_text(world: Project) -> None:
    payload = {**json.loads((PAYLOADS / "letta/SessionStart.json").read_text()), "working_directory": str(world.path)}
    assert typed(world, "lh hook context-inject", json.dumps(payload)).stdout == "New project, no prior context.\n"


@once
def test_lh_hook_does_not_take_another_agents_session_for_claude_codes(world: Project) -> None:
    """Copilot names no transcript at the end: its own is found by the session, and nobody else's is taken."""
    name, _ = encode_cwd(str(world.path))
    file = world.home / ".claude/projects" / name / "session1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"type": "user", "sessionId": "session1", "message": {"role": "user", "content": "hi"}}\n')
    payload = {**json.loads((PAYLOADS / "copilot/sessionEnd.json").read_text()), "cwd": str(world.path)}
    typed(world, "lh hook session-end", json.dumps(payload))
    assert "session-end: skipped: no transcript" in typed(world, "cat ~/.local/state/hookline/hooks.log").stdout


def test_lh_deploy_registers_every_profile_and_reports_what_others_registered(project: Project) -> None:
    folder = project.home / ".config/lazy-harness"
    folder.mkdir(parents=True)
    profiles = "".join(f'[profiles.{name}]\nconfig_dir = "~/.claude-{name}"\n' for name in ("work", "play"))
    (folder / "config.toml").write_text(f'{profiles}[hooks.session_stop]\nscripts = ["session-export"]\n')
    theirs = {"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "other-tool stop"}]}]}}
    (project.home / ".claude-work").mkdir()
    (project.home / ".claude-work/settings.json").write_text(json.dumps(theirs))
    (project.home / ".claude").symlink_to(".claude-play")
    done = typed(project, "lh deploy")
    assert done.returncode == 0, done.stderr
    assert "not managed by hookline, kept as it is: Stop: other-tool stop" in done.stdout
    hooks = {
        name: json.loads((project.home / f".claude-{name}/settings.json").read_text())["hooks"]
        for name in ("work", "play")
    }
    assert {name: len(one["Stop"]) for name, one in hooks.items()} == {"work": 2, "play": 1}
    assert "arrives twice" not in typed(project, "lh deploy --status").stdout
    (folder / "config.toml").write_text("")
    assert typed(project, "hookline undeploy").returncode == 0
    assert json.loads((project.home / ".claude-work/settings.json").read_text()) == theirs


def test_an_event_with_an_empty_list_of_scripts_is_not_registered(project: Project) -> None:
    """Not even to notice a session that was killed, for which the end of the session needs its start."""
    folder = project.home / ".config/lazy-harness"
    folder.mkdir(parents=True)
    (project.home / ".claude").mkdir()
    end = '[hooks.session_end]\nscripts = ["session-end"]\n'
    (folder / "config.toml").write_text(f"[hooks.session_start]\nscripts = []\n{end}")
    assert typed(project, "lh deploy").returncode == 0
    hooks = json.loads((project.home / ".claude/settings.json").read_text())["hooks"]
    assert set(hooks) == {"SessionEnd", "Stop"}
