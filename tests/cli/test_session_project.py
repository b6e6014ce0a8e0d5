"""The guards of the project in which a session began stay, wherever the agent works."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Project

GUARD = "[[hook]]\nname = 'guard'\non = 'PreToolUse'\nshell = 'echo no >&2; exit 2'\non_failure = 'deny'\n"
PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "session_id": "s"}


@pytest.fixture
def guarded(project: Project) -> Project:
    project.write(".hookline/hookline.toml", GUARD)
    assert project.run("trust", "--yes").code == 0
    return project


def ask(project: Project, cwd: Path | str, **environ: str) -> str:
    """The reason for which the call is refused; "" if it is not."""
    sent = json.dumps({**PAYLOAD, "cwd": str(cwd)})
    result = project.run("hook", "--agent", "claude-code", "--cold", stdin=sent, cwd=project.home, **environ)
    assert result.code == 0, result.err
    return str(json.loads(result.out or "{}").get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))


def new_repository(project: Project) -> Path:
    sub = project.path / "sub"
    subprocess.run(["git", "init", "-q", str(sub)], check=True)
    return sub


def empty_configuration(project: Project) -> Path:
    project.write("sub/.hookline/local.toml", "")
    return project.path / "sub"


def repository_with_configuration(project: Project) -> Path:
    new_repository(project)
    return empty_configuration(project)


@pytest.mark.parametrize("make", [new_repository, empty_configuration, repository_with_configuration])
@pytest.mark.parametrize("told", [True, False])
def test_something_new_further_down_takes_no_guard_away(
    guarded: Project, make: Callable[[Project], Path], told: bool
) -> None:
    environ = {"CLAUDE_PROJECT_DIR": str(guarded.path)} if told else {}
    assert ask(guarded, make(guarded), **environ) == "no"


@pytest.mark.parametrize("cwd", ["/tmp", "/"])
def test_the_project_of_the_session_counts_wherever_the_agent_works(guarded: Project, cwd: str) -> None:
    assert ask(guarded, cwd, CLAUDE_PROJECT_DIR=str(guarded.path)) == "no"


@pytest.mark.parametrize("agent", ["codex", "letta", "claude-code"])
@pytest.mark.parametrize("cwd", ["/usr", "/not/there"])
def test_the_project_that_an_agent_starts_its_hooks_in_counts_if_it_tells_none(
    guarded: Project, agent: str, cwd: str
) -> None:
    sent = json.dumps({**PAYLOAD, "cwd": cwd, "working_directory": cwd})
    result = guarded.run("hook", "--agent", agent, "--event", "PreToolUse", "--cold", stdin=sent)
    assert "no" in (result.out + result.err).split() or '"no"' in result.out, (result.out, result.err)


@pytest.mark.parametrize("agent", ["codex", "letta"])
def test_the_project_that_a_session_began_in_counts_wherever_the_agent_and_its_process_are(
    guarded: Project, agent: str
) -> None:
    def answer(event: str, cwd: Path | str, session: str = "s") -> list[str]:
        sent = {
            **PAYLOAD,
            "hook_event_name": event,
            "session_id": session,
            "cwd": str(cwd),
            "working_directory": str(cwd),
        }
        result = guarded.run(
            "hook", "--agent", agent, "--event", event, "--cold", stdin=json.dumps(sent), cwd=guarded.home
        )
        return (result.out + result.err).replace('"', " ").split()

    answer("SessionStart", guarded.path / "deeper")
    assert "no" in answer("PreToolUse", "/usr")
    answer("SessionStart", "/usr")  # sent by whoever wants to get rid of the guard
    assert "no" in answer("PreToolUse", "/usr")
    assert answer("PreToolUse", "/usr", "another session") == []


def test_a_project_that_was_moved_away_is_missed(guarded: Project) -> None:
    moved = guarded.path.with_name("moved")
    guarded.path.rename(moved)
    assert "guard" in ask(guarded, moved, CLAUDE_PROJECT_DIR=str(guarded.path))


def moved_whole(project: Project) -> Path:
    return project.path.rename(project.path.with_name("moved"))


def moved_further_down(project: Project) -> Path:
    project.path.with_name("outer").mkdir()
    return project.path.rename(project.path.with_name("outer") / "moved")


def moved_piece_by_piece(project: Project) -> Path:
    new = project.path.with_name("moved")
    new.mkdir()
    for piece in list(project.path.iterdir()):
        piece.rename(new / piece.name)
    return new


def moved_without_its_configuration(project: Project) -> Path:
    moved = moved_whole(project)
    (moved / ".hookline" / "hookline.toml").unlink()
    return moved


def moved_and_then_below_it(project: Project) -> Path:
    sub = moved_whole(project) / "sub"
    subprocess.run(["git", "init", "-q", str(sub)], check=True)
    return sub


@pytest.mark.parametrize(
    "move",
    [moved_whole, moved_further_down, moved_piece_by_piece, moved_without_its_configuration, moved_and_then_below_it],
)
@pytest.mark.parametrize("emptied", [False, True])
def test_a_moved_project_is_missed_where_no_agent_says_where_it_was(
    guarded: Project, move: Callable[[Project], Path], emptied: bool
) -> None:
    where = move(guarded)
    if emptied:  # the list of guards that are expected remembers it too
        (guarded.home / ".local/state/hookline/trust.json").write_text('{"approvals": []}')
    assert "it was trusted in " in ask(guarded, where)


def test_a_moved_project_is_approved_again_with_one_command(guarded: Project) -> None:
    moved = moved_whole(guarded)
    assert "hookline trust" in ask(guarded, moved)
    assert guarded.run("trust", "--yes", cwd=moved).code == 0
    assert ask(guarded, moved) == "no"


def copied(project: Project) -> Path:
    return shutil.copytree(project.path, project.path.with_name("copy"), symlinks=True)


def cloned(project: Project) -> Path:
    git = ["git", "-C", str(project.path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "all"], check=True)
    assert project.run("trust", "--yes").code == 0
    clone = project.path.with_name("clone")
    subprocess.run(["git", "clone", "-q", str(project.path), str(clone)], check=True)
    return clone


@pytest.mark.parametrize("make", [copied, cloned])
def test_a_copy_is_a_project_that_nobody_has_approved(guarded: Project, make: Callable[[Project], Path]) -> None:
    assert ask(guarded, make(guarded)) == ""


@pytest.mark.parametrize("make", [copied, cloned])
@pytest.mark.parametrize("emptied", [False, True])
def test_a_copy_whose_original_is_gone_is_the_project_that_was_approved(
    guarded: Project, make: Callable[[Project], Path], emptied: bool
) -> None:
    copy = make(guarded)
    shutil.rmtree(guarded.path)
    if emptied:
        (guarded.home / ".local/state/hookline/trust.json").write_text('{"approvals": []}')
    assert "it was trusted in " in ask(guarded, copy)
    assert guarded.run("trust", "--yes", cwd=copy).code == 0
    assert ask(guarded, copy) == "no"


def test_another_project_in_place_of_a_deleted_one_is_one_that_nobody_has_approved(guarded: Project) -> None:
    copy = copied(guarded)
    (copy / ".hookline" / "hookline.toml").write_text(GUARD + "# another\n")
    shutil.rmtree(guarded.path)
    assert ask(guarded, copy) == ""


def test_a_worktree_that_was_moved_is_missed(guarded: Project) -> None:
    cloned(guarded)
    tree, moved = guarded.path.with_name("tree"), guarded.path.with_name("moved")
    subprocess.run(["git", "-C", str(guarded.path), "worktree", "add", "-q", str(tree)], check=True)
    assert ask(guarded, tree) == "no"
    tree.rename(moved)
    assert "it was trusted in " in ask(guarded, moved)


def test_a_deleted_configuration_is_missed(guarded: Project) -> None:
    shutil.rmtree(guarded.path / ".hookline")
    assert "guard" in ask(guarded, guarded.path)


def test_approvals_that_were_deleted_are_missed(guarded: Project) -> None:
    (guarded.home / ".claude").mkdir()
    assert guarded.run("deploy", "--agent", "claude").code == 0
    for file in (guarded.home / ".local/state/hookline").glob("trust.json*"):
        file.unlink()
    assert "trust.json is gone, though hooks were approved" in ask(guarded, guarded.path)
    assert guarded.run("trust", "--yes").code == 0
    assert ask(guarded, guarded.path) == "no"


def test_another_name_of_the_project_is_the_project(guarded: Project) -> None:
    link = guarded.home / "link"
    link.symlink_to(guarded.path)
    assert ask(guarded, link) == "no"
    assert ask(guarded, f"/{guarded.path}") == "no"
    assert ask(guarded, guarded.home, CLAUDE_PROJECT_DIR=str(link)) == "no"
