"""A guard of one's own that is deployed stays in force until a person confirms its change."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Project

GUARD = "[[hook]]\nname = 'guard'\non = 'PreToolUse'\nmatch = 'Bash'\nshell = 'echo no >&2; exit 2'\n"
MORE = "[[hook]]\nname = 'more'\non = 'PreToolUse'\nmatch = 'Read'\nshell = 'echo more >&2; exit 2'\n"
PAYLOAD = {"hook_event_name": "PreToolUse", "tool_input": {}, "session_id": "s"}
EDITS = {
    "emptied": "",
    "loosened": GUARD.replace("Bash", "Nothing"),
    "switched off": f"{GUARD}enabled = false\n",
    "another command": GUARD.replace("exit 2", "exit 0"),
    "broken": "[[hook\n",
    "renamed": GUARD.replace("'guard'", "'other'").replace("exit 2", "exit 0"),
}


@pytest.fixture
def deployed(project: Project) -> Project:
    own_file(project).parent.mkdir(parents=True)
    own_file(project).write_text(GUARD)
    (project.home / ".claude").mkdir()
    assert project.run("deploy", "--agent", "claude").code == 0
    return project


def own_file(project: Project) -> Path:
    return project.home / ".config" / "hookline" / "hookline.toml"


def ask(project: Project, tool: str = "Bash") -> tuple[str, str]:
    result = project.run("hook", "--agent", "claude-code", "--cold", stdin=json.dumps({**PAYLOAD, "tool_name": tool}))
    said = json.loads(result.out or "{}").get("hookSpecificOutput", {})
    return str(said.get("permissionDecisionReason", "")), result.err


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_guard_stays_in_force_and_every_answer_says_so(deployed: Project, edit: str) -> None:
    own_file(deployed).write_text(EDITS[edit])
    for _ in range(2):
        reason, notice = ask(deployed)
        assert reason == "no"
        why = "has errors, so guard" if edit == "broken" else "guard changed since the last deploy and"
        assert f"{why} stays in force as it was" in notice


def test_a_guard_whose_file_is_gone_stays_in_force(deployed: Project) -> None:
    own_file(deployed).unlink()
    assert ask(deployed)[0] == "no"


SOURCES = {
    "native": ("more.toml", GUARD),
    "letta": (
        "letta.json",
        '{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}',
    ),
}


@pytest.mark.parametrize("what", ["table", "file", "both"])
@pytest.mark.parametrize("dialect", SOURCES)
def test_a_guard_of_a_source_stays_in_force(deployed: Project, dialect: str, what: str) -> None:
    name, text = SOURCES[dialect]
    file = own_file(deployed).with_name(name)
    file.write_text(text)
    own_file(deployed).write_text(f"[[source]]\ndialect = '{dialect}'\npath = '{name}'\n")
    assert deployed.run("deploy", "--agent", "claude").code == 0
    assert ask(deployed) == ("no", "")
    if what != "file":
        own_file(deployed).write_text("")
    if what != "table":
        file.unlink()
    reason, notice = ask(deployed)
    assert reason == "no"
    assert f"{file}: " in notice
    assert "stays in force as it was" in notice


def entry(project: Project) -> str:
    """The reason for which the entry in the agent's file refuses."""
    settings = json.loads((project.home / ".claude/settings.json").read_text())
    done = subprocess.run(
        ["/bin/sh", "-c", settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]],
        input=json.dumps({**PAYLOAD, "tool_name": "Bash"}), cwd=project.path, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home), "HOOKLINE_DAEMON": "off"}, timeout=100,
    )  # fmt: skip
    said = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
    return str(said.get("permissionDecisionReason", ""))


@pytest.mark.parametrize("name", ["deployed.json", "own-guards.json"])
@pytest.mark.parametrize("text", [None, "{}", "damaged"])
def test_a_deployment_whose_ledger_is_gone_refuses(deployed: Project, name: str, text: str | None) -> None:
    file = deployed.home / ".local/state/hookline" / name
    assert entry(deployed) == "no"
    own_file(deployed).write_text("")
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    kept = name == "deployed.json"
    assert ("no" if kept else "hookline deploy") in entry(deployed)


def test_a_deployment_without_its_state_directory_refuses_until_it_is_deployed_again(deployed: Project) -> None:
    shutil.rmtree(deployed.home / ".local/state/hookline")
    own_file(deployed).unlink()
    assert "hookline deploy" in entry(deployed)
    own_file(deployed).write_text(GUARD)
    assert deployed.run("deploy", "--agent", "claude").code == 0
    assert entry(deployed) == "no"


def test_a_pipe_in_the_files_place_is_not_waited_for(deployed: Project) -> None:
    own_file(deployed).unlink()
    os.mkfifo(own_file(deployed))
    assert ask(deployed)[0] == "no"


def test_what_is_added_works_at_once_and_needs_no_confirmation(deployed: Project) -> None:
    own_file(deployed).write_text(f"# mine\n{MORE}\n{GUARD}")
    assert ask(deployed, "Read") == ("more", "")
    assert ask(deployed) == ("no", "")


def test_deploy_accepts_the_change(deployed: Project) -> None:
    own_file(deployed).write_text(MORE)
    assert deployed.run("deploy", "--agent", "claude").code == 0
    assert ask(deployed) == ("", "")


def test_deleting_a_hook_with_hookline_needs_no_confirmation(deployed: Project) -> None:
    assert deployed.run("hooks", "remove", "guard").code == 0
    assert ask(deployed) == ("", "")


def test_without_a_registration_the_file_counts_as_it_is(deployed: Project) -> None:
    assert deployed.run("undeploy").code == 0
    own_file(deployed).write_text(MORE)
    assert ask(deployed) == ("", "")


@pytest.mark.parametrize(("answer", "after"), [("y", ""), ("n", "no")])
def test_a_person_at_a_terminal_is_asked_once(deployed: Project, answer: str, after: str) -> None:
    own_file(deployed).write_text(MORE)
    first, second = at_a_terminal(deployed, answer), at_a_terminal(deployed, answer)
    assert "-name = 'guard'" in first
    assert "Is this change yours?" in first
    assert "Is this change yours?" not in second
    assert ask(deployed)[0] == after


def at_a_terminal(project: Project, answer: str) -> str:
    near, far = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "hookline", "list"], stdin=far, stdout=far, stderr=far, cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home), "LANG": "C.UTF-8"},
    ) as process:  # fmt: skip
        os.close(far)
        os.write(near, f"{answer}\n".encode())
        shown = b""
        while chunk := _read(near):
            shown += chunk
        process.wait(timeout=60)
    os.close(near)
    return shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""
