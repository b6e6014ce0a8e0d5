"""Hooks of five systems live in one chat, each at its own events."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.llm.scripted import ModelServer

pytest.importorskip("pydantic_ai")

NATIVE = """
[[source]]
dialect = "lectic"
path = "lectic.yaml"
[[source]]
dialect = "letta"
path = "letta.json"
[[source]]
dialect = "lazy"
path = "lazy.toml"
[[source]]
dialect = "lash"
path = "lash.conf"
[[source]]
dialect = "memex"
path = "memex.ini"
"""

LECTIC = """
interlocutor: {name: Assistant, prompt: x}
hooks:
  - {on: [run_start, user_message, assistant_message, run_end], do: ./note.sh lectic}
"""

LAZY = """
[hooks.session_start]
scripts = ["note-lazy"]
[hooks.pre_tool_use]
scripts = ["note-lazy"]
"""

MEMEX = """
[HOOKS]
pre_turn = scout
[HOOK.scout]
prompt = SCOUT
tools = None
"""


def test_five_dialects_hear_one_session(project: Any) -> None:
    project.write("note.sh", '#!/bin/sh\necho "$1" >> noted\n', mode=0o755)
    project.write("hooks/note-lazy", "#!/bin/sh\necho lazy >> noted\n", mode=0o755)
    project.write("lectic.yaml", LECTIC)
    hook = {"hooks": [{"type": "command", "command": "./note.sh letta"}]}
    project.write(
        "letta.json", json.dumps({"hooks": {"SessionStart": [hook], "PostToolUse": [{"matcher": "Bash", **hook}]}})
    )
    project.write("lazy.toml", LAZY)
    project.write("memex.ini", MEMEX)
    lash = project.write("lash-hook.sh", "#!/bin/sh\necho lash >> noted\n", mode=0o755)
    project.write("lash.conf", f"[hooks]\ninput.submit = blocking:{lash}\nprompt.render = blocking:{lash}\n")
    config = project.write("hookline.toml", NATIVE)
    script: list[Any] = [
        {"match": "SCOUT", "text": "scouted"},
        {"tool": {"name": "Bash", "arguments": {"command": "true"}}},
        {"text": "well then"},
    ]
    import importlib.util

    spec = importlib.util.spec_from_file_location("five_terminal", Path(__file__).with_name("terminal.py"))
    assert spec is not None
    assert spec.loader is not None
    helper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(helper)
    with ModelServer(script) as server:
        environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), "LANG": "C.UTF-8"}
        environ |= {
            key: value for key, value in server.environ().items() if "ANTHROPIC" not in key and "GEMINI" not in key
        }
        argv = [sys.executable, "-m", "hookline", "chat", "--model", "openai:x", "--config", str(config)]
        with helper.Terminal([*argv, "--permission-mode", "all"], cwd=project.path, environ=environ) as terminal:
            terminal.ready()
            terminal.type("hello\r")
            terminal.wait_for("well then")
            terminal.ready()
            terminal.type("/quit\r")
            terminal.ended()
        main = [request.text for request in server.requests if "You are an agent that works" in request.text]
    assert "<|results:hook:scout|>" in main[0]
    noted = (project.path / "noted").read_text().split()
    assert {name: noted.count(name) for name in ("lectic", "letta", "lash")} == {"lectic": 5, "letta": 2, "lash": 4}
    assert noted.count("lazy") == 2
