"""``hookline agent``: what a memex hook with an external runner starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.patience import alive, eventually

from hookline.llm.scripted import ModelServer

WORDS = ("agent", "--steps", "2", "--json", "--from-stdin", "--no-hooks")


def snapshot(**params: Any) -> str:
    told = {
        "model": "gpt-4o-mini",
        "prompt": "Be useful: {{hook_input_text}}",
        "active_tools_agent": "memory",
        **params,
    }
    return json.dumps({"version": 1, "params": told, "chat_seed": [], "contexts": {}})


def test_it_answers_a_snapshot_with_one_object(project: Any) -> None:
    steps: list[Any] = [
        {"tool": {"name": "memory", "arguments": {"action": "save", "memory": "note"}}},
        {"match": "saved with ID 1", "text": "done"},
    ]
    with ModelServer(steps) as server:
        result = project.run(*WORDS, stdin=snapshot(hook_input_text="hello"), **server.environ())
    assert (result.code, result.json, result.err) == (0, {"last_text": "done", "error": None}, "")
    assert "hello" in server.requests[0].text


def test_an_error_stands_in_the_answer(project: Any) -> None:
    result = project.run(*WORDS, stdin=snapshot())
    assert (result.code, result.json["last_text"]) == (0, None)
    assert "OPENAI_API_KEY" in result.json["error"]


@pytest.mark.parametrize("stdin", ["", "{", "[]", '{"version": 9, "params": {}}'])
def test_a_snapshot_that_cannot_be_read_is_exit_65(project: Any, stdin: str) -> None:
    result = project.run(*WORDS, stdin=stdin)
    assert (result.code, result.out) == (65, "")


def test_options_win_over_the_snapshot(project: Any) -> None:
    with ModelServer([{"text": "x"}]) as server:
        project.run(
            *WORDS, "--model", "haiku", "--prompt", "Other.", "--tools", "None", stdin=snapshot(), **server.environ()
        )
    request = server.requests[0]
    assert request.protocol == "anthropic"
    assert "Other." in request.text
    assert "tools" not in request.body


def test_for_a_person_it_prints_the_text(project: Any) -> None:
    with ModelServer([{"text": "hello there"}]) as server:
        result = project.run(
            "agent", "--prompt", "Greet.", "--model", "gpt-4o-mini", "--tools", "None", **server.environ()
        )
    assert (result.code, result.out) == (0, "hello there\n")


def test_a_model_can_be_a_script(project: Any) -> None:
    script = project.write("script.json", '[{"text": "scripted"}]')
    result = project.run("agent", "--prompt", "Greet.", "--model", f"script:{script}", "--json")
    assert result.json == {"last_text": "scripted", "error": None}


def test_without_anything_to_do_it_is_wrong_usage(project: Any) -> None:
    assert project.run("agent", "--json").code == 64


def test_a_terminated_agent_leaves_no_server_behind(project: Any, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    server_code = f"import os, sys, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    settings = json.dumps(
        {"models": {}, "mcp": {"slow": [sys.executable, "-c", server_code]}, "state_dir": str(tmp_path)}
    )
    with ModelServer([]) as server:
        environ = {**os.environ, **server.environ(), "HOME": str(tmp_path), "HOOKLINE_AGENT_SETTINGS": settings}
        words = [
            sys.executable,
            "-m",
            "hookline",
            "agent",
            "--prompt",
            "x",
            "--model",
            "gpt-4o",
            "--tools",
            "slow",
            "--json",
        ]
        with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            while not (pid_file.exists() and pid_file.read_text()):
                assert process.poll() is None
                time.sleep(0.02)
            process.terminate()
            process.wait(60)
    assert eventually(lambda: not alive(int(pid_file.read_text())))
