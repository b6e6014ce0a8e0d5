"""Both examples of the memex document, run as they stand, from the place the document's program keeps them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.llm.scripted import ModelServer

EXAMPLES = Path(__file__).parent / "memex"


class Person:
    """A home with memex's own configuration in it, and a project."""

    def __init__(self, tmp: Path, config: str) -> None:
        self.cwd, self.home = tmp / "project", tmp / "home"
        self.cwd.mkdir()
        place = self.home / ".config" / "iptic-memex"
        shutil.copytree(EXAMPLES / "prompts", place / "prompts")
        shutil.copy(EXAMPLES / config, place / "config.ini")
        self.state = tmp / "state"
        self.environ = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "HOOKLINE_STATE_DIR": str(self.state),
            "HOOKLINE_CONFIG_DIR": str(tmp / "config"),
            "HOOKLINE_DAEMON": "off",
        }

    def hookline(self, server: ModelServer, *words: str, **data: Any) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "hookline", *words, "--dialect", "memex", "--json", "--session", "s", "--data", "-"],
            cwd=self.cwd, env={**self.environ, **server.environ()}, input=json.dumps(data), capture_output=True, text=True,
            timeout=200, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def contexts(self, server: ModelServer, event: str, **data: Any) -> list[tuple[str, str, str]]:
        decision = self.hookline(server, "fire", event, **data)
        bad = [outcome for outcome in decision["outcomes"] if outcome["status"] not in {"replied", "skipped"}]
        assert not bad, bad
        return [(one["hook"], one["text"], one["as"]) for one in decision["context"]]

    @property
    def notes(self) -> str:
        return "".join(
            file.read_text() for file in self.home.glob(".local/share/hookline/knowledge/memory/*/journal/*.jsonl")
        )


@pytest.mark.timeout(300)
def test_the_four_hooks_of_the_first_example_run_around_a_turn(tmp_path: Path) -> None:
    person = Person(tmp_path, "config.ini")
    keep: dict[str, Any] = {"tool": {"name": "memory", "arguments": {"action": "save", "memory": "prefers green tea"}}}
    script: list[dict[str, Any]] = [
        {"match": "You are the planner", "text": "buy tea"},
        {"match": "You are the scout", "text": "no notes yet"},
        {"match": "You are the scribe", **keep},
        {"match": "You are the scout", "text": "green, as always"},
        {"match": "You are the debriefer of phase session_end.", "text": "tea was bought"},
    ]
    with ModelServer(script) as server:
        first = person.contexts(server, "pre_turn", prompt="which tea?")
        after = person.contexts(server, "post_turn", user_message="which tea?", assistant_message="green")
        second = person.contexts(server, "pre_turn", prompt="and now?")
        end = person.contexts(server, "session_end")
        assert server.script.unused == ()
    assert first == [("daily_tasks", "buy tea", "context"), ("context_scout", "no notes yet", "context")]
    assert (after, second) == ([], [("context_scout", "green, as always", "context")])
    assert end == [("session_debrief", "tea was bought", "session")]
    assert "prefers green tea" in person.notes
    scribe = server.requests[2].text
    assert r"user: which tea?\nassistant: green" in scribe


@pytest.mark.timeout(300)
def test_the_external_example_runs_its_command_as_it_is_written(tmp_path: Path) -> None:
    person = Person(tmp_path, "external.ini")
    # The document's command runs memex's own entry; here it is ours, which takes the same words.
    (person.cwd / "main.py").write_text("import sys\nfrom hookline.cli import main\nsys.exit(main())\n")
    keep: dict[str, Any] = {"tool": {"name": "memory", "arguments": {"action": "save", "memory": "prefers green tea"}}}
    with ModelServer([{"match": "You are the scribe", **keep}]) as server:
        assert person.contexts(server, "post_turn", user_message="which tea?", assistant_message="green") == []
        assert server.script.unused == ()
    assert "prefers green tea" in person.notes
