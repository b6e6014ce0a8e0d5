"""hookline doctor --run with the real programs: it runs them offline and sees that a hook fired."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e import install

pytestmark = [
    pytest.mark.timeout(280),
    pytest.mark.skipif(
        os.environ.get("HOOKLINE_E2E") not in {"1", "all"},
        reason="real agents are run only with HOOKLINE_E2E=1: make e2e",
    ),
]


@pytest.mark.parametrize(("agent", "package"), [("claude-code", "claude"), ("codex", "codex")])
def test_the_doctor_runs_the_agent_and_sees_that_a_refusal_is_obeyed(agent: str, package: str, tmp_path: Path) -> None:
    program = install.program(package)
    if program is None or shutil.which("unshare") is None:
        pytest.skip(f"{package} is not installed, or the network cannot be taken away from it: make e2e")
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".hookline").mkdir()
    hook = '[[hook]]\nname = "watch"\non = "PreToolUse"\nshell = "true"\n'
    (project / ".hookline/hookline.toml").write_text(hook, encoding="utf-8")
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}

    def hookline(*words: str) -> str:
        own = Path(sys.executable).parent / "hookline"
        done = subprocess.run(
            [own, *words], cwd=project, env=environ, capture_output=True, text=True, check=False, timeout=200
        )
        return done.stdout

    hookline("trust", "--yes")
    hookline("deploy", "--agent", agent, "--approve")
    told = json.loads(hookline("doctor", "--agent", agent, "--run", "--json"))
    (run,) = (one for one in told["agents"][0]["findings"] if one["about"] == "run")
    assert run["level"] == "fine", run
    assert "a denial stopped the tool and reached the model" in run["text"]
