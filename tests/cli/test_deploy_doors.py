"""The doors that deploy chooses from, what each needs, and what is said of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def guarded(project):
    """A hook after tools: without a hook nothing is registered."""
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[[hook]]\nname = "own"\non = "PostToolUse"\nshell = "true"\n')


def hooks_of(project, file=".claude/settings.json"):
    return json.loads((project.home / file).read_text())["hooks"]


def run_without_client(project, *words):
    """As from a pure wheel on a machine without a compiler: this tree may have a client, as other wheels do."""
    code = (
        "import sys, hookline.daemon.client.build as b; b.SHIPPED = ''; from hookline.cli import main; sys.exit(main())"
    )
    environ = {"HOME": str(project.home), "PATH": str(project.path / "no-programs"), "LANG": "C.UTF-8"}
    line = [sys.executable, "-c", code, *words]
    done = subprocess.run(line, cwd=project.path, env=environ, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_compiler_the_command_is_registered_and_the_faster_way_told(project):
    assert "faster, with a C compiler: hookline deploy --door client" in run_without_client(
        project, "deploy", "--agent", "claude"
    )
    again = run_without_client(project, "deploy", "--agent", "claude", "--json")
    assert json.loads(again)["agents"][0]["door"] == "command"


@COMPILER
def test_with_a_compiler_the_client_is_built_and_a_dry_run_foretells_it(project):
    foretold = project.run("deploy", "--agent", "claude", "--dry-run").out
    done = project.run("deploy", "--agent", "claude")
    assert "through the native client" in done.out
    program = hooks_of(project)["PostToolUse"][0]["hooks"][0]["command"].split(" ")[1]
    assert program in foretold
    project.run("deploy", "--agent", "gemini")
    project.run("undeploy", "--agent", "claude")
    assert os.path.exists(program)
    project.run("undeploy", "--agent", "gemini")
    assert not os.path.exists(os.path.dirname(program))


def test_opencode_is_asked_over_the_socket(project):
    assert "over the daemon's socket" in project.run("deploy", "--agent", "opencode").out


@COMPILER
def test_the_client_is_built_registered_answers_and_is_the_choice_from_then_on(project):
    done = project.run("deploy", "--agent", "claude", "--door", "client")
    assert "through the native client" in done.out
    line = hooks_of(project)["PostToolUse"][0]["hooks"][0]["command"]
    program = line.split(" ")[1]
    assert program.endswith("/hookline/bin/hookline")
    assert os.access(program, os.X_OK)
    payload = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "session_id": "s"}
    told = subprocess.run(
        ["/bin/sh", "-c", line], input=json.dumps(payload).encode(), capture_output=True, check=False, timeout=200,
        env={"HOME": str(project.home), "PATH": os.environ["PATH"], "HOOKLINE_DAEMON": "off"},
    )  # fmt: skip
    assert told.returncode == 0, told.stderr

    assert project.run("deploy", "--status", "--agent", "claude").code == 0
    assert "nothing to change" in project.run("deploy", "--agent", "claude").out
    # Others get it without being asked: it is there, and keeps every guarantee.
    assert "through the native client" in project.run("deploy", "--agent", "gemini").out
    project.run("undeploy", "--agent", "claude")
    assert not (project.home / ".claude/settings.json").exists()


@COMPILER
def test_a_client_of_another_version_is_built_anew(project):
    project.run("deploy", "--agent", "claude", "--door", "client")
    binary = project.home / ".local/share/hookline/bin/hookc"
    if not binary.exists():
        binary = next(project.home.parent.rglob("hookc"))
    binary.write_bytes(b"\x7fELF another")
    assert "through the native client" in project.run("deploy", "--agent", "gemini").out
    assert binary.stat().st_size > 1000
    binary.write_bytes(b"\x7fELF another")
    assert "through the command hookline" in run_without_client(project, "deploy", "--agent", "codex")


def test_a_dry_run_builds_nothing(project):
    project.run("deploy", "--agent", "claude", "--dry-run", "--door", "client")
    assert not list(project.home.parent.rglob("hookc"))


def test_the_http_door_is_refused_with_what_to_type_instead(project):
    done = project.run("deploy", "--agent", "claude", "--door", "http")
    assert done.code == 64, done
    assert "http was removed, because it could not enforce guards; use --door client" in done.err


TOKEN = "oC-2X2464OJOzwFF-55Qdy7OFFViLgm-if3Z_XwR3Z8"
POSTED = ("claude", "claude-code"), ("qwen", "qwen-code")


def posted(project, short, agent):
    """The file, the ledger and the token that the version before the removal wrote, byte for byte."""
    file = project.home / f".{short}/settings.json"
    url = f"http://127.0.0.1:48091/hookline/{TOKEN}/{agent}/PostToolUse/user:{agent}/60"
    entry = {"hooks": [{"type": "http", "url": url, "timeout": 70}]}
    text = json.dumps({"hooks": {"PostToolUse": [entry]}}, indent=2) + "\n"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    kept = {
        "agent": agent, "scope": "user", "before": None, "made": [str(file.parent)], "version": "", "roots": [],
        "digest": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), "hookline": "0.1.0",
        "only": ["PostToolUse"], "door": "http",
    }  # fmt: skip
    state = project.home / ".local/state/hookline"
    state.mkdir(parents=True, mode=0o700)
    (state / "deployed.json").write_text(json.dumps({str(file): kept}, indent=1) + "\n", encoding="utf-8")
    (state / "http.json").write_text(json.dumps({"port": 48091, "token": TOKEN}), encoding="utf-8")
    return file


@pytest.mark.parametrize(("short", "agent"), POSTED)
def test_entries_of_the_removed_http_door_become_commands(project, short, agent):
    file = posted(project, short, agent)
    status = project.run("deploy", "--status", "--agent", agent)
    assert "drift" in status.out
    assert f"hookline deploy --agent {agent}" in status.out
    assert project.run("deploy", "--agent", agent, "--events", "PostToolUse").code == 0
    hooks = json.loads(file.read_text())["hooks"]
    assert [one["type"] for entry in hooks["PostToolUse"] for one in entry["hooks"]] == ["command"]
    assert "127.0.0.1" not in file.read_text()
    assert not list(project.home.rglob("http.json"))
    assert "nothing to change" in project.run("deploy", "--agent", agent, "--events", "PostToolUse").out
    assert project.run("undeploy", "--agent", agent).code == 0
    assert not file.exists()


@pytest.mark.parametrize("edited", [False, True])
def test_undeploy_removes_entries_of_the_removed_http_door(project, edited):
    file = posted(project, "claude", "claude-code")
    if edited:
        file.write_text(json.dumps({**json.loads(file.read_text()), "model": "opus"}), encoding="utf-8")
    assert project.run("undeploy", "--agent", "claude").code == 0
    assert json.loads(file.read_text()) == {"model": "opus"} if edited else not file.exists()
    assert not list(project.home.rglob("http.json"))


def test_the_doctor_names_entries_of_the_removed_http_door(project):
    posted(project, "claude", "claude-code")
    told = project.run("doctor", "--agent", "claude")
    assert "PostToolUse: posted over HTTP, where hookline no longer listens" in told.out, told


def test_an_installation_in_a_cache_is_pointed_out(project):
    """As by uvx: once the cache is emptied, the agent is refused every call."""
    code = "import sys; sys.prefix = '/home/me/.cache/uv/archive-v0/x'; from hookline.cli import main; sys.exit(main())"
    line = [sys.executable, "-c", code]
    environ = {"HOME": str(project.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(
        [*line, "deploy", "--agent", "claude-code"], cwd=project.path, env=environ, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "runs from a cache (/home/me/.cache/uv/archive-v0/x)" in done.stderr
    assert "runs from a cache" not in project.run("deploy", "--agent", "claude-code").err


def test_the_launcher_of_a_hookline_that_was_uninstalled_says_so(project):
    run_without_client(project, "deploy", "--agent", "claude-code")
    launcher = project.home / ".local/share/hookline/launcher/hookline"
    launcher.write_text(launcher.read_text().replace("start.py", "gone.py"))
    done = subprocess.run([launcher, "hook"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (127, "hookline is no longer installed where it was\n")
