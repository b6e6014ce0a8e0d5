"""The manager inside the chat."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tui.conftest import Place

from hookline.llm.scripted import ModelServer

pytest.importorskip("textual", reason="the manager on the screen needs the extra ui")
pytest.importorskip("prompt_toolkit", reason="the chat needs the extra chat")


def _terminal() -> Any:
    spec = importlib.util.spec_from_file_location(
        "manager_terminal_helper", Path(__file__).parents[2] / "cli" / "terminal.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Terminal


def test_hooks_opens_the_manager_in_the_chat_and_what_was_switched_counts(place: Place) -> None:
    place.user_file.write_text('[[hook]]\nname = "guard"\non = "UserPromptSubmit"\nshell = "echo no-way >&2; exit 2"\n')
    argv = [sys.executable, "-m", "hookline", "chat", "--model", "openai:scripted"]
    with ModelServer([{"text": "hello to you"}]) as server:
        environ = {"PATH": os.environ["PATH"], "HOME": str(place.home), "LANG": "C.UTF-8", **server.environ()}
        with _terminal()(argv, cwd=place.project, environ=environ) as terminal:
            terminal.ready()
            terminal.type("hello\r")
            terminal.wait_for("no-way")
            terminal.ready()
            terminal.type("/hooks\r")
            terminal.wait_for("hooks by event")
            terminal.wait_for("UserPromptSubmit")
            terminal.type(" ")
            terminal.wait_for("switched off")
            terminal.type("q")
            terminal.wait_for("1 hooks")
            terminal.ready()
            terminal.type("hello\r")
            terminal.wait_for("hello to you")
            terminal.ready()
            terminal.type("/quit\r")
            assert terminal.ended() == 0
