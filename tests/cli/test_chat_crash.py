"""A chat that is killed at any moment leaves a whole transcript, and the session goes on from it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.llm.scripted import ModelServer

pytest.importorskip("pydantic_ai")

STEPS: list[Any] = [
    {"text": "thinking about it", "tool": {"name": "Bash", "arguments": {"command": "sleep 0.05; echo one"}}},
    {"tool": {"name": "Write", "arguments": {"file_path": "two.txt", "content": "two\n" * 1000}}, "delay_ms": 20},
    {"tool": {"name": "Bash", "arguments": {"command": "sleep 0.05; echo three"}}},
    {"text": "all done", "delay_ms": 20},
]


def _start(project: Any, server: ModelServer, *words: str) -> subprocess.Popen[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home), **server.environ()}
    argv = [
        sys.executable,
        "-m",
        "hookline",
        "chat",
        "--json",
        "--model",
        "openai:x",
        "--permission-mode",
        "all",
        *words,
    ]
    return subprocess.Popen(argv, cwd=project.path, env=environ, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_session_is_whole_and_goes_on(project: Any, seed: int) -> None:
    moment = random.Random(seed).uniform(0, 0.3)
    with ModelServer(STEPS) as server:
        child = _start(project, server, "-p", "go")
        chats = project.home / ".local/share/hookline/chats"
        while not (found := list(chats.glob("*/*.jsonl"))):
            assert child.poll() is None
            time.sleep(0.002)
        time.sleep(moment)
        child.kill()
        child.communicate(timeout=200)
    (path,) = found
    torn = path.read_bytes()
    whole = torn[: torn.rfind(b"\n") + 1]
    assert all(json.loads(line)["sessionId"] for line in whole.splitlines())

    with ModelServer([{"text": "resumed"}]) as server:
        child = _start(project, server, "-p", "go on", "--continue")
        out, _ = child.communicate(timeout=200)
        assert child.returncode == 0
        _every_call_is_answered(server.requests[-1].body["messages"])
    answer = json.loads(out)
    assert (answer["text"], Path(answer["transcript_path"])) == ("resumed", path)
    assert path.read_bytes().startswith(whole)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [folder.stat().st_mode & 0o777 for folder in path.parents[:3]] == [0o700] * 3


def _every_call_is_answered(messages: list[Any]) -> None:
    """What providers insist on: the results follow the calls at once, one each."""
    for place, message in enumerate(messages):
        calls = message.get("tool_calls") or []
        results = messages[place + 1 : place + 1 + len(calls)]
        assert [result["role"] for result in results] == ["tool"] * len(calls)
        assert [result["tool_call_id"] for result in results] == [call["id"] for call in calls]


def test_a_torn_line_and_a_call_without_a_result_are_mended(project: Any) -> None:
    with ModelServer([{"tool": {"name": "Bash", "arguments": {"command": "echo x"}}}, {"text": "ok"}]) as server:
        child = _start(project, server, "-p", "go")
        out, _ = child.communicate(timeout=200)
    path = Path(json.loads(out)["transcript_path"])
    lines = path.read_bytes().splitlines(keepends=True)
    asked = next(place for place, line in enumerate(lines) if b'"tool_use"' in line)
    path.write_bytes(b"".join(lines[: asked + 1]) + lines[asked + 1][:40])

    with ModelServer([{"text": "resumed"}]) as server:
        child = _start(project, server, "-p", "go on", "--continue")
        child.communicate(timeout=200)
        sent = server.requests[-1].body["messages"]
    _every_call_is_answered(sent)
    assert "interrupted" in json.dumps(sent)
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_a_session_that_is_open_cannot_be_opened_twice(project: Any) -> None:
    slow = {"tool": {"name": "Bash", "arguments": {"command": "touch begun; while [ ! -e over ]; do sleep 0.1; done"}}}
    with ModelServer([slow]) as server:
        child = _start(project, server, "-p", "go")
        limit = time.monotonic() + 60
        while not (project.path / "begun").exists():
            assert time.monotonic() < limit
            time.sleep(0.01)
        second = project.run("chat", "-p", "me too", "--continue", "--model", "openai:x", **server.environ())
        child.kill()
        child.communicate()
        (project.path / "over").touch()  # what it ran outlives a kill
    assert (second.code, "open in another process" in second.err) == (64, True)
