"""Background, detached, far too much text, and the doors: Lectic's hooks as real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from hookline.core.result import Replied, Started
from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime

PROMPT = {"prompt": "Hello", "messages_length": 1}


def assembled(tmp_path: Path, text: str, **options: object) -> Runtime:
    (tmp_path / "lectic.yaml").write_text(text)
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(tmp_path),
        "HOOKLINE_STATE_DIR": str(tmp_path / "s"),
    }
    chosen = {"config": [tmp_path / "lectic.yaml"], **options}
    sources = Sources(cwd=tmp_path, dialect="lectic", environ=environ, home=str(tmp_path), **chosen)  # type: ignore[arg-type]  # options of the test's own choosing
    return load_runtime(sources, READ_ONLY)


def test_a_background_hook_runs_on_and_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    text = "hooks:\n  - on: user_message\n    mode: background\n    do: |\n      #!/bin/sh\n      read line <gate\n      echo $line >done\n"
    with assembled(tmp_path, text).engine as engine:
        decision = engine.fire_sync("UserPromptSubmit", PROMPT)
        assert isinstance(decision.outcomes[0], Started)
        assert not (tmp_path / "done").exists()
        (tmp_path / "gate").write_text("open\n")
        ((_spec, outcome),) = engine.join()
    assert isinstance(outcome, Replied)
    assert (tmp_path / "done").read_text() == "open\n"


def test_a_background_failure_is_the_runs(tmp_path: Path) -> None:
    text = """
hooks:
  - {name: bg, on: user_message, mode: background, do: sh -c 'exit 4'}
  - name: told
    on: error
    do: |
      #!/bin/sh
      printf '%s|%s' "$RUN_STATUS" "$ERROR_MESSAGE" >told
"""
    with assembled(tmp_path, text).engine as engine:
        assert engine.fire_sync("UserPromptSubmit", PROMPT).aborted is None
        engine.fire_sync("RunEnd", {"status": "success"})
    assert (tmp_path / "told").read_text() == 'error|Hook "bg" failed for user_message with exit code 4'


def test_a_detached_hook_outlives_the_engine(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    os.mkfifo(tmp_path / "answer")
    text = "hooks:\n  - on: user_message\n    mode: detached\n    do: |\n      #!/bin/sh\n      read line <gate\n      echo $line >answer\n"
    with assembled(tmp_path, text).engine as engine:
        decision = engine.fire_sync("UserPromptSubmit", PROMPT)
        assert isinstance(decision.outcomes[0], Started)
    (tmp_path / "gate").write_text("still here\n")
    assert (tmp_path / "answer").read_text() == "still here\n"


def test_a_message_too_long_for_the_kernel_is_passed_by_file(tmp_path: Path) -> None:
    text = 'hooks:\n  - on: user_message\n    do: |\n      #!/bin/sh\n      wc -c <"$USER_MESSAGE_FILE" >size\n'
    with assembled(tmp_path, text).engine as engine:
        decision = engine.fire_sync("UserPromptSubmit", {"prompt": "x" * 300_000})
    assert decision.aborted is None
    assert (tmp_path / "size").read_text().strip() == "300000"


def test_a_projects_hooks_wait_for_trust(tmp_path: Path) -> None:
    text = "hooks:\n  - {name: mine, on: user_message, do: touch ran}\n"
    with assembled(tmp_path, text, config=None).engine as engine:
        decision = engine.fire_sync("UserPromptSubmit", PROMPT)
    assert decision.outcomes == ()
    assert not (tmp_path / "ran").exists()


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "lectic.yaml").write_text("hooks:\n  - {name: guard, on: tool_use_pre, do: 'false'}\n")
    command = [
        sys.executable,
        "-m",
        "hookline",
        "fire",
        "tool_use_pre",
        "--dialect",
        "lectic",
        "--config",
        "lectic.yaml",
    ]
    command += ["--json", "--data", '{"tool_name": "Bash", "tool_input": {}}']
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "HOOKLINE_STATE_DIR": str(tmp_path / "state"),
        "HOOKLINE_DAEMON": "off",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert (told["effect"], told["reason"]) == ("deny", 'Tool use permission denied by hook "guard"')
