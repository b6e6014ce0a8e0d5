"""Sessions without a person leave nothing in memory, also of agents whose transcripts do not show it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.memory.loop_world import World
from tests.unit.memory.two_weeks.simulation import Chapter, transcript

from hookline.core.event import Event, event_kind
from hookline.memory.alone import runs_alone

PAYLOADS = Path(__file__).parents[1] / "payloads"
CONFIG = """
[hooks.session_stop]
scripts = ["session-export", "compound-loop"]
[compound_loop]
enabled = true
backend = "nobody"
"""
#: An agent's program, that calls its hook through a shell, as agents do.
AGENT = """
import subprocess, sys
subprocess.run(["sh", "-c", '"$@"; true', "sh", sys.executable, "-m", "hookline", "hook", "--agent", {agent!r}, "--cold"],
               stdin=open({payload!r}), check=True)
"""
PLACES = {"gemini-cli": "bundle/gemini.py", "qwen-code": "node_modules/@qwen-code/qwen-code/cli-entry.py"}
STOPS = {"gemini-cli": "gemini/AfterAgent.json", "qwen-code": "qwen/Stop.json"}

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell")


@pytest.mark.parametrize("agent", ["gemini-cli", "qwen-code"])
@pytest.mark.parametrize(
    ("options", "terminal", "alone"),
    [
        (["-p", "mend it"], True, True), (["--prompt=mend it"], True, True), ([], False, True),
        ([], True, False), (["-i", "mend it"], True, False), (["--experimental-acp"], False, False),
        (["--", "-p"], True, False),
    ],
)  # fmt: skip
def test_a_prompt_on_the_command_line_or_in_a_pipe(
    tmp_path: Path, agent: str, options: list[str], terminal: bool, alone: bool
) -> None:
    world = World(tmp_path, CONFIG)
    session = "7ad9d2cd-dd4a-409e-8162-aaa413aa4016"
    chapter = Chapter(project="proj", agent=agent, prompt="Please mend the migration, so that it does not run twice.")
    records = tmp_path / f"{session}.jsonl"
    records.write_text("".join(json.dumps(one) + "\n" for one in transcript(chapter, session, str(world.project), 1)))
    sent: dict[str, Any] = json.loads((PAYLOADS / STOPS[agent]).read_text())
    payload = tmp_path / "payload.json"
    payload.write_text(
        json.dumps({**sent, "session_id": session, "transcript_path": str(records), "cwd": str(world.project)})
    )
    program = tmp_path / PLACES[agent]
    program.parent.mkdir(parents=True)
    program.write_text(AGENT.format(agent=agent, payload=str(payload)))
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, str(program), *options], env=world.environ, cwd=world.project, capture_output=True, check=True,
            stdin=theirs if terminal else subprocess.DEVNULL,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    log = (world.state / "hooks.log").read_text()
    assert ("compound-loop: skipped: not interactive" in log) is alone, log
    assert ("session-export: skipped: non-interactive" in log) is alone, log
    assert ("compound-loop: queued " in log) is not alone, log


def test_an_agent_that_starts_itself_again_may_talk_to_itself_through_a_pipe(tmp_path: Path) -> None:
    inner = tmp_path / "gemini.py"
    inner.write_text(
        "import os, subprocess, sys\n"
        "if sys.argv[1:] == ['inner']:\n"
        "    from hookline.core.event import Event, event_kind\n"
        "    from hookline.memory.alone import runs_alone\n"
        "    event = Event(kind=event_kind('Stop'), data={}, agent='gemini-cli', caller=-os.getpid())\n"
        "    print(runs_alone(event))\n"
        "else:\n"
        "    subprocess.run([sys.executable, __file__, 'inner'], stdin=subprocess.DEVNULL, check=True)\n"
    )
    ours, theirs = pty.openpty()
    try:
        for stdin, alone in ((theirs, "False"), (subprocess.DEVNULL, "True")):
            ran = subprocess.run([sys.executable, str(inner)], stdin=stdin, capture_output=True, text=True, check=True)
            assert ran.stdout.strip() == alone
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(("mode", "alone"), [("print", True), ("json", True), ("tui", False), (None, False)])
def test_pi_tells_its_extension_how_it_runs(mode: str | None, alone: bool) -> None:
    sent = {**json.loads((PAYLOADS / "pi/session_shutdown.quit.json").read_text()), "ctx": {"cwd": "/p", "mode": mode}}
    assert runs_alone(Event(kind=event_kind("SessionEnd"), data={}, agent="pi", native=sent)) is alone


def test_what_is_not_known_is_a_session_with_a_person() -> None:
    for agent in ("gemini-cli", "qwen-code", "pi", "claude-code"):
        assert not runs_alone(Event(kind=event_kind("Stop"), data={}, agent=agent))
