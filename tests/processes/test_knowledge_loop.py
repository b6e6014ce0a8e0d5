"""The whole loop, from outside: one agent's session fails at something, and another agent's next session is told.

Everything passes the door that agents call. The transcripts are recorded ones, made longer and interactive.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.memory.loop_world import LOOP, World

from hookline.daemon import lifecycle
from hookline.daemon.lifecycle import stop
from hookline.daemon.protocol import DaemonPaths
from hookline.llm.scripted import ModelServer

PAYLOADS = Path(__file__).parents[1] / "payloads"
SESSION = {"claude-code": "cadbcb67-4744-4aab-b28e-f0d0800c100a", "codex": "01a1e173-f553-7692-ab6a-62d370106105"}
LONGER = "Write hello to proof.txt, and make the script that checks it exit with 0; it exits with 3 for no reason. " * 4
SAID = {
    "decisions": [{"summary": "proof.txt is written by the script", "rationale": "one place"}],
    "failures": [{"summary": "The check exits with 3", "prevention": "write proof.txt before you check it"}],
    "learnings": [],
    "handoff": ["make the check exit with 0"],
}
HOOKS = """
[knowledge]
path = "{data}/knowledge"

[[source]]
dialect = "lazy"
path = "{config}"

[compound_loop]
enabled = true
min_messages = 2
reprocess_min_growth_seconds = 0.2  # a session that does not say its end is over after five times as long
"""


def as_if_a_person_sat_there(agent: str, world: World) -> Path:
    """The recorded transcript, with a longer prompt and the mark that this agent leaves in an interactive session."""
    text = (PAYLOADS / "transcripts" / f"{agent}.jsonl").read_text()
    text = text.replace("Write hello to proof.txt", LONGER.strip()).replace("/home/user/project", str(world.project))
    if agent == "claude-code":
        mark = {"type": "permission-mode", "permissionMode": "default", "sessionId": SESSION[agent]}
        folder = world.home / ".claude/projects" / str(world.project).replace("/", "-")
        text = json.dumps(mark) + "\n" + text.replace('"sdk-cli"', '"cli"')
    else:
        folder = world.home / ".codex/sessions/2026/11/15"
        text = text.replace("codex_exec", "codex-tui").replace('"source": "exec"', '"source": "cli"')
    folder.mkdir(parents=True)
    file = folder / f"{SESSION[agent]}.jsonl"
    file.write_text(text)
    return file


def told(world: World, agent: str, payload: dict[str, Any]) -> str:
    """What the agent reads on our standard output."""
    line = [sys.executable, "-m", "hookline", "hook", "--agent", agent, "--cold"]
    ran = subprocess.run(
        line, input=json.dumps(payload), env=world.environ, cwd=world.project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stderr == ""
    return ran.stdout


def event(world: World, agent: str, file: str, **more: object) -> dict[str, Any]:
    folder = "claude" if agent == "claude-code" else agent
    payload: dict[str, Any] = json.loads((PAYLOADS / folder / f"{file}.json").read_text())
    return {**payload, "cwd": str(world.project), **more}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("first", "ending", "second"),
    [("claude-code", "SessionEnd.prompt_input_exit", "codex"), ("codex", "Stop", "claude-code")],
)
@pytest.mark.parametrize("backend", ["claude", "openai-compatible"])
def test_what_one_agent_failed_at_is_told_to_another(
    tmp_path: Path, first: str, ending: str, second: str, backend: str
) -> None:
    world = World(tmp_path)
    lazy = world.home / ".config/lazy-harness/config.toml"
    lazy.parent.mkdir()
    lazy.write_text(LOOP)
    with ModelServer([{"text": f"Here it is:\n```json\n{json.dumps(SAID)}\n```"}]) as server:
        config = HOOKS.format(data=world.data, config=lazy)
        if backend == "claude":
            world.claude(f"sys.stdin.read()\nprint({json.dumps(SAID)!r})")
        else:
            base = server.environ()["OPENAI_BASE_URL"]
            config += f'backend = "{backend}"\nbackend_options = {{ base_url = "{base}" }}\n'
        world.configure(config)
        start = event(world, second, "SessionStart.startup", transcript_path=None, session_id="second-session")
        assert "The check exits with 3" not in told(world, second, start)

        transcript = as_if_a_person_sat_there(first, world)
        given = {"session_id": SESSION[first], "transcript_path": str(transcript)}
        assert told(world, first, event(world, first, ending, **given)) in {"", "{}", "{}\n"}
        wait_for(lambda: bool(world.done()))

        said = json.loads(told(world, second, start))["hookSpecificOutput"]["additionalContext"]
        asked = "".join(request.text for request in server.requests)
    assert backend == "claude" or "Tool calls that failed" in asked
    assert "## Recent history" in said, world.log()
    assert "- proof.txt is written by the script" in said
    assert "- The check exits with 3 → write proof.txt before you check it" in said
    assert "## Handoff from last session" in said
    assert "make the check exit with 0" in said


def test_the_daemon_answers_first_and_leaves_no_dead_child_behind(tmp_path: Path) -> None:
    world = World(tmp_path, '[hooks.session_end]\nscripts = ["session-end"]\n[compound_loop]\nenabled = true\n')
    world.claude(f"sys.stdin.read()\nprint({json.dumps(SAID)!r})")
    transcript = world.transcript("s1")
    payload = event(world, "claude-code", "SessionEnd.other", session_id="s1", transcript_path=str(transcript))
    # A short path: the name of a socket may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="hl-") as runtime:
        world.environ["XDG_RUNTIME_DIR"] = runtime
        place = DaemonPaths(directory=os.path.join(runtime, "hookline"))
        hookline = [sys.executable, "-m", "hookline"]
        subprocess.run([*hookline, "daemon", "start"], env=world.environ, capture_output=True, check=True)
        try:
            line = [*hookline, "hook", "--agent", "claude-code"]
            subprocess.run(line, input=json.dumps(payload), env=world.environ, text=True, check=True)
            wait_for(lambda: bool(world.done()))
            daemon = lifecycle.status(place)["pid"]
            wait_for(lambda: not list(children(daemon)))
        finally:
            stop(place, wait=10)
    assert "make the check exit with 0" in world.handoff()


def wait_for(holds: Callable[[], bool]) -> None:
    """Other processes do it, and tell nobody."""
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def children(pid: int) -> Iterator[str]:
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        yield from file.read_text().split()
