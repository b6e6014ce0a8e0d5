"""Where nothing can be kept, every command says so with the next step; guards hold, and everything else goes on."""

from __future__ import annotations

import json
import os

import pytest

GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "exit 0"\non_failure = "deny"\n'
WATCHER = '[[hook]]\nname = "watcher"\non = "PreToolUse"\nshell = "exit 0"\non_failure = "ignore"\n'
NEXT = "move it away, or set XDG_STATE_HOME"
CALL = json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})  # fmt: skip


@pytest.fixture
def spoilt(project):
    """A file where the state directory should be."""
    (project.home / ".claude").mkdir()
    (project.home / ".local").mkdir()
    (project.home / ".local" / "state").touch()
    return project


@pytest.mark.parametrize(
    "words",
    [
        "deploy --agent claude-code", "deploy --agent claude-code --dry-run", "deploy --agent claude-code --status",
        "undeploy --agent claude-code", "log", "log --json", "replay --last 1",
    ],
)  # fmt: skip
def test_what_needs_the_state_directory_ends_with_74_and_the_next_step(spoilt, words):
    done = spoilt.run(*words.split())
    assert (done.code, done.err.count(NEXT), done.out) == (74, 1, "")


@pytest.mark.parametrize("words", ["status", "status hooks", "status queue"])
def test_status_says_that_nothing_is_kept(spoilt, words):
    done = spoilt.run(*words.split())
    assert (done.code, (done.out + done.err).count(NEXT)) == (0, 1)
    assert "nothing is recorded: " in done.out + done.err


def test_status_says_it_in_json_too(spoilt):
    (line,) = spoilt.run("status", "--json").json["attention"]
    assert NEXT in line


def test_doctor_says_it_and_goes_on_to_the_agents(spoilt):
    done = spoilt.run("doctor", "--agent", "claude-code")
    assert (done.code, "claude-code" in done.out.splitlines(), NEXT in done.out) == (1, True, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_nothing_is_registered_where_it_could_not_be_remembered(project):
    """What is written and not remembered is not given back to the byte."""
    (project.home / ".claude").mkdir()
    state = project.home / "state"
    state.mkdir()
    os.chown(state, 65534, 65534)
    done = project.run("deploy", "--agent", "claude-code", HOOKLINE_STATE_DIR=str(state))
    assert (done.code, os.listdir(project.home / ".claude")) == (74, [])


def test_a_broken_ledger_is_no_broken_directory(project):
    ledger = project.home / ".local" / "state" / "hookline" / "deployed.json"
    ledger.parent.mkdir(parents=True)
    ledger.write_text("{", encoding="utf-8")
    done = project.run("deploy", "--agent", "claude-code")
    assert (done.code, "move it away and deploy again" in done.err) == (78, True)


def test_a_trusted_guard_of_a_project_holds_when_nobody_knows_any_more_that_it_was_trusted(project):
    project.write(".hookline/hookline.toml", GUARD)
    assert project.run("trust", "--yes").code == 0
    assert project.run("hook", "--agent", "claude-code", "--event", "PreToolUse", "--cold", stdin=CALL).out == ""
    state = project.home / ".local" / "state"
    state.rename(state.with_name("elsewhere"))
    state.touch()
    told = project.run("hook", "--agent", "claude-code", "--event", "PreToolUse", "--cold", stdin=CALL)
    decision = told.json["hookSpecificOutput"]
    assert decision["permissionDecision"] == "deny"
    assert NEXT in decision["permissionDecisionReason"]


@pytest.mark.parametrize(
    "name", ["trust.json", "trust.json.expected", "packs.json", "deployed.json", "own-guards.json", "hookline.db"]
)
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(project, name):
    project.write(".hookline/hookline.toml", GUARD.replace("exit 0", "echo no >&2; exit 2"))
    assert project.run("trust", "--yes").code == 0
    path = project.home / ".local" / "state" / "hookline" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    told = project.run("hook", "--agent", "claude-code", "--event", "PreToolUse", "--cold", stdin=CALL)
    assert told.json["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("endless", [False, True])
def test_nobody_waits_for_a_worktree_that_names_a_pipe_or_has_no_end(project, endless):
    """Nobody has approved anything in that repository."""
    project.write(".hookline/hookline.toml", GUARD)
    (project.path / ".git").rmdir()
    project.write(".git", "gitdir: own\n")
    own = project.path / "own"
    own.mkdir()
    (own / "commondir").symlink_to("/dev/zero") if endless else os.mkfifo(own / "commondir")
    told = project.run("hook", "--agent", "claude-code", "--event", "PreToolUse", "--cold", stdin=CALL)
    assert (told.code, "not approved" in told.out) == (0, True)


def test_what_is_no_guard_goes_on_with_a_note(spoilt):
    spoilt.write(".hookline/hookline.toml", WATCHER)
    done = spoilt.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert (done.code, done.json["effect"], NEXT in done.err) == (0, "allow", True)


def test_a_persons_own_guard_needs_no_state_to_decide(spoilt):
    own = spoilt.home / ".config" / "hookline" / "hookline.toml"
    own.parent.mkdir(parents=True)
    own.write_text(GUARD.replace("exit 0", "echo no >&2; exit 2"), encoding="utf-8")
    done = spoilt.fire("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert (done.code, done.json["reason"]) == (1, "no")


def test_a_lock_that_cannot_be_taken_is_not_called_held(project):
    """A daemon that ran before the disk became read-only has left its lock behind."""
    run = project.home / ".local" / "state" / "hookline" / "run"
    run.mkdir(parents=True)
    run.chmod(0o700)
    lock = run / "daemon.lock"
    lock.symlink_to("/nowhere")  # opening it fails for root too
    assert "holds its lock" not in project.run("doctor").out
    assert project.run("daemon", "stop").code == 0


def test_a_shell_says_that_nothing_is_recorded_and_runs(spoilt):
    pytest.importorskip("xonsh")
    done = spoilt.run("shell", "-c", "echo hi")
    assert (done.code, done.out, done.err.count(NEXT)) == (0, "hi\n", 1)


def test_a_shell_without_a_usable_home_ends_with_74_and_the_next_step(project):
    pytest.importorskip("xonsh")
    project.home.rmdir()
    project.home.touch()
    done = project.run("shell", "-c", "echo hi")
    assert (done.code, done.out) == (74, "")
    assert f"{project.home} is a file, not a directory; move it away, or set XDG_CONFIG_HOME" in done.err


def test_a_hook_that_cannot_be_added_says_what_is_in_the_way_and_where_else_it_could_stand(project):
    (project.home / ".config").touch()
    done = project.run("hooks", "add", "new", "--on", "Stop", "--run", "true")
    assert done.code == 78
    assert f"{project.home}/.config is a file, not a directory; move it away, or write it elsewhere (--to " in done.err
