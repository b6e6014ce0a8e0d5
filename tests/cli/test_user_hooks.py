"""lazy-harness's section about writing one's own hook, word for word, with our directories; and the loop from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Project

MY_HOOK = (Path(__file__).parents[1] / "seeds" / "lazy" / "my_hook.txt").read_text()
#: How agents call the start of a session that do not call it SessionStart.
NAMES = {"opencode": "session.created", "copilot-cli": "sessionStart"}
REGISTERED = '[hooks.session_start]\nscripts = ["context-inject", "my_hook"]\n'


@pytest.fixture(params=["hookline/config.toml", "hookline/hookline.toml", "lazy-harness/config.toml"])
def registered(project: Project, request: pytest.FixtureRequest) -> Project:
    file = project.home / ".config" / request.param
    (file.parent / "hooks").mkdir(parents=True)
    (file.parent / "hooks" / "my_hook.py").write_text(MY_HOOK)
    file.write_text(REGISTERED)
    return project


def start(project: Project, agent: str) -> str:
    event = NAMES.get(agent, "SessionStart")
    payload = {"hook_event_name": event, "session_id": "s", "cwd": str(project.path), "source": "startup"}
    words = ("hook", "--agent", agent, "--event", event, "--cold")
    answered = project.run(*words, stdin=json.dumps(payload), HOOKLINE_DAEMON="off")
    assert answered.code == 0, answered.err
    return answered.out


def test_a_hook_of_ones_own_is_listed_dry_run_deployed_and_heard(registered: Project) -> None:
    listed = registered.run("hooks", "list")
    assert [line.split()[0] for line in listed.out.splitlines()[1:3]] == ["context-inject", "my_hook"]
    tried = registered.run("hooks", "run", "my_hook", "--event", "session_start")
    assert tried.json["hookSpecificOutput"]["additionalContext"] == "Hello from my_hook"
    (registered.home / ".claude").mkdir()
    deployed = registered.run("deploy", "--agent", "claude-code")
    assert deployed.code == 0, deployed.err
    settings = json.loads((registered.home / ".claude/settings.json").read_text())
    assert "--event SessionStart" in settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    told = json.loads(start(registered, "claude-code"))
    assert told["hookSpecificOutput"]["additionalContext"].endswith("\nHello from my_hook")


@pytest.mark.parametrize(
    "agent", ["claude-code", "codex", "gemini-cli", "qwen-code", "letta-code", "copilot-cli", "opencode"]
)
def test_what_one_agents_session_left_is_told_to_another_ones(project: Project, agent: str) -> None:
    config = project.home / ".config" / "hookline" / "hookline.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        '[hooks.session_start]\nscripts = ["context-inject"]\n[hooks.session_stop]\nscripts = ["session-export"]\n'
    )
    transcript = project.write("../t/abcdef12.jsonl", "".join(f"{json.dumps(one)}\n" for one in spoken(project)))
    stop = {"hook_event_name": "Stop", "session_id": "abcdef12", "cwd": str(project.path),
            "transcript_path": str(transcript.resolve())}  # fmt: skip
    stopped = project.run("hook", "--agent", "claude-code", "--cold", stdin=json.dumps(stop), HOOKLINE_DAEMON="off")
    assert (stopped.code, stopped.out, stopped.err) == (0, "", "")
    told = start(project, agent)
    assert "Last session: 2026-04-12 18:32 (4 messages)" in told
    assert "please mend the parser" in told


def spoken(project: Project) -> list[dict[str, Any]]:
    common = {"sessionId": "abcdef12", "cwd": str(project.path), "timestamp": "2026-04-12T18:32:00Z"}
    turns = [("user", "please mend the parser"), ("assistant", "I did"), ("user", "thanks"), ("assistant", "bye")]
    records: list[dict[str, Any]] = [{"type": "permission-mode", "permissionMode": "default", "sessionId": "abcdef12"}]
    records += [{"type": role, **common, "message": {"role": role, "content": text}} for role, text in turns]
    return records
