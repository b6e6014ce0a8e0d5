"""The real ``claude -p`` distils a session: hookline, deployed into it, is off for it, and it leaves no session of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.e2e import install
from tests.unit.memory.loop_world import ANSWER, LOOP, World

from hookline.llm.scripted import ModelServer
from hookline.memory.queue import worker

CONFIG = f"[compound_loop]\nenabled = true\n{LOOP}"


@pytest.mark.timeout(200)
def test_the_real_claude_distils_a_session_and_is_none_itself(tmp_path: Path) -> None:
    claude = install.program("claude")
    if claude is None:
        pytest.skip("claude is not installed: make e2e installs it")
    world = World(tmp_path, CONFIG)
    (world.bin / "claude").symlink_to(claude)
    hookline = shutil.which("hookline", path=world.environ["PATH"])
    entry = [{"matcher": "", "hooks": [{"type": "command", "command": f"{hookline} hook --agent claude-code --cold"}]}]
    settings = world.home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": dict.fromkeys(("SessionStart", "Stop", "SessionEnd"), entry)}))
    transcript = world.transcript("s1")
    world.stop("s1")
    with ModelServer([{"text": f"Here it is:\n{json.dumps(ANSWER)}"}] * 3) as server:
        environ = {**world.environ, **server.environ(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        report = worker.run(environ, cwd=str(world.bin))
    assert report.counts == {"wrote": 1}, world.log()
    assert world.summaries("decisions.jsonl") == ["Use SQLite for the cache"]
    # One hook fired: the one that queued. None did inside of the model's process.
    assert (world.state / "hooks.log").read_text().count("fired") == 1
    assert list((world.home / ".claude/projects").rglob("*.jsonl")) == [transcript]
