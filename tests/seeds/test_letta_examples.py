"""Every example of Letta Code's document, run as it stands, from the places the document names."""

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

EXAMPLES = Path(__file__).parent / "letta"
STANDINS = Path(__file__).parents[1] / "standins" / "bin"


class Project:
    """A directory with ``.letta/settings.json`` and ``hooks/``, and a home directory beside it."""

    def __init__(self, tmp: Path, settings: str | dict[str, Any]) -> None:
        self.cwd, self.home = tmp / "project", tmp / "home"
        shutil.copytree(EXAMPLES / "hooks", self.cwd / "hooks")
        for folder in (self.cwd / ".letta", self.home / ".letta"):
            folder.mkdir(parents=True)
        text = (EXAMPLES / settings).read_text() if isinstance(settings, str) else json.dumps(settings)
        (self.cwd / ".letta" / "settings.json").write_text(text)
        self.environ = {
            "PATH": f"{STANDINS}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "STANDIN_LOG": str(tmp / "standins.log"),
            "HOOKLINE_STATE_DIR": str(tmp / "state"),
            "HOOKLINE_CONFIG_DIR": str(tmp / "config"),
            "HOOKLINE_TRUST": "all",
            "HOOKLINE_DAEMON": "off",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
        }
        self.log = tmp / "standins.log"

    def hook(self, name: str, source: str) -> None:
        path = self.cwd / "hooks" / name
        path.write_text(source)
        path.chmod(0o755)

    def commit_and_change(self) -> None:
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
        (self.cwd / "file").write_text("one\n")
        for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "one"]):
            subprocess.run([*git, *words], cwd=self.cwd, env=self.environ, check=True, capture_output=True)

    def fire(self, event: str, **data: Any) -> dict[str, Any]:
        words = [sys.executable, "-m", "hookline", "fire", event, "--dialect", "letta", "--json", "--data", "-"]
        done = subprocess.run(
            words, cwd=self.cwd, env=self.environ, input=json.dumps(data), capture_output=True, text=True,
            timeout=200, check=False,
        )  # fmt: skip
        assert done.stdout.startswith("{"), done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if told["effect"] == "allow" else 1)
        return told


def test_block_rm_rf_stops_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    project = Project(tmp_path, "block-rm-rf.json")
    refused = project.fire("PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf build"})
    assert (refused["effect"], refused["reason"]) == ("deny", "Blocked: rm -rf commands must be run manually.")
    assert project.fire("PreToolUse", tool_name="Bash", tool_input={"command": "rm build"})["effect"] == "allow"
    assert project.fire("PreToolUse", tool_name="Edit", tool_input={"command": "rm -rf x"})["outcomes"] == []


@pytest.mark.parametrize(
    ("script", "program", "call"),
    [("fix-on-changes.sh", "bun", "bun [run] [fix]"), ("typecheck-on-changes.sh", "tsc", "tsc [--noEmit] [--pretty]")],
)
def test_a_check_on_changes_sends_the_agent_back_with_its_output(
    tmp_path: Path, script: str, program: str, call: str
) -> None:
    settings = json.loads((EXAMPLES / "fix-on-changes.json").read_text())
    settings["hooks"]["Stop"][0]["hooks"][0]["command"] = f"./hooks/{script}"
    project = Project(tmp_path, settings)
    project.commit_and_change()
    assert project.fire("Stop", stop_reason="end_turn")["effect"] == "allow"
    assert not project.log.exists()

    (project.cwd / "file").write_text("two\n")
    assert project.fire("Stop", stop_reason="end_turn")["effect"] == "allow"
    assert project.log.read_text() == f"{call}\n"

    project.environ |= {f"STANDIN_EXIT_{program}": "1", f"STANDIN_SAYS_{program}": "file:1: error"}
    refused = project.fire("Stop", stop_reason="end_turn")
    assert (refused["effect"], refused["reason"]) == ("deny", "file:1: error")


def test_log_reasoning_writes_what_the_agent_thought_and_said(tmp_path: Path) -> None:
    project = Project(tmp_path, "log-reasoning.json")
    told = json.loads((EXAMPLES / "input-stop.json").read_text())
    assert project.fire("Stop", **told)["outcomes"][0]["status"] == "replied"
    written = (project.home / ".letta" / "reasoning.log").read_text()
    assert "(Stop) ===" in written
    assert f"Reasoning: {told['preceding_reasoning']}\nMessage: {told['assistant_message']}\n" in written


@pytest.mark.parametrize(
    ("level", "subtitle"), [("error", ' subtitle "Error"'), ("warning", ' subtitle "Warning"'), (None, "")]
)
def test_a_desktop_notification_names_its_level(tmp_path: Path, level: str | None, subtitle: str) -> None:
    project = Project(tmp_path, "desktop-notification.json")
    project.fire("Notification", message="Approval needed", **({"level": level} if level else {}))
    shown = f'display notification "Approval needed" with title "Letta Code"{subtitle}'
    assert project.log.read_text() == f"osascript [-e] [{shown}]\n"


@pytest.mark.parametrize("example", ["context-top.json", "context-nested.json"])
def test_additional_context_reaches_the_agent_from_both_places(tmp_path: Path, example: str) -> None:
    project = Project(
        tmp_path, {"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": f"cat {EXAMPLES / example}"}]}]}}
    )
    told = json.loads((EXAMPLES / example).read_text())
    text = told.get("additionalContext") or told["hookSpecificOutput"]["additionalContext"]
    fired = project.fire("PostToolUse", tool_name="Bash", tool_input={}, tool_output="ok")
    assert [one["text"] for one in fired["context"]] == [text]


def test_a_tool_hook_with_a_matcher_reads_the_documented_input(tmp_path: Path) -> None:
    project = Project(tmp_path, "structure-tool.json")
    project.hook("validate-bash.sh", "#!/bin/bash\ncat > seen.json\n")
    told = json.loads((EXAMPLES / "input-pre-tool-use.json").read_text())
    project.fire("PreToolUse", tool_name=told["tool_name"], tool_input=told["tool_input"])
    assert json.loads((project.cwd / "seen.json").read_text()) == told | {"working_directory": str(project.cwd)}


def test_a_simple_hook_needs_no_matcher_and_reads_the_documented_input(tmp_path: Path) -> None:
    project = Project(tmp_path, "structure-simple.json")
    project.hook("run-on-stop.sh", "#!/bin/bash\ncat > seen.json\n")
    told = json.loads((EXAMPLES / "input-stop.json").read_text())
    project.fire("Stop", **{key: value for key, value in told.items() if key != "event_type"})
    assert json.loads((project.cwd / "seen.json").read_text()) == told | {"working_directory": str(project.cwd)}


@pytest.mark.parametrize(
    ("example", "seconds"), [("hook-command.json", 60.0), ("hook-timeout.json", 120.0), ("hook-prompt.json", 30.0)]
)
def test_single_hooks_of_the_document_are_read_with_their_timeouts(
    tmp_path: Path, example: str, seconds: float
) -> None:
    from hookline.config.load import load
    from hookline.core.paths import find_paths

    hook = json.loads((EXAMPLES / example).read_text())
    project = Project(tmp_path, {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    paths = find_paths(project.environ, str(project.home))
    loaded = load(cwd=str(project.cwd), home=str(project.home), environ=project.environ, paths=paths, dialect="letta")
    assert loaded.problems == ()
    assert [spec.timeout for spec in loaded.specs] == [seconds]


@pytest.mark.parametrize(
    ("answer", "effect"), [({"ok": True}, "allow"), ({"ok": False, "reason": "It deletes files."}, "deny")]
)
def test_a_prompt_hook_asks_its_model_and_obeys_it(tmp_path: Path, answer: dict[str, Any], effect: str) -> None:
    project = Project(tmp_path, "prompt-hook.json")
    with ModelServer([{"json": answer}]) as server:
        project.environ |= server.environ()
        fired = project.fire("PreToolUse", tool_name="Bash", tool_input={"command": "rm -r /etc"})
        asked = server.requests[0].text
    assert (fired["effect"], fired["reason"], fired["context"]) == (effect, answer.get("reason", ""), [])
    assert "Block any commands that delete files" in asked
    assert "rm -r /etc" in asked
