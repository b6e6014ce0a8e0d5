"""``hookline purge`` deletes what was kept, and nothing that decides."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.cli.conftest import Project

HOOK = '[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "exit 2"\n'


def _state(project: Project) -> Path:
    return project.home / ".local" / "state" / "hookline"


def _records(project: Project) -> int:
    return len(project.run("log", "--json").out.splitlines())


def _used(project: Project) -> Path:
    """A project with a record, a backup and an approval."""
    project.write(".hookline/hookline.toml", HOOK)
    project.run("trust", "--yes")
    assert project.fire("PreToolUse", {"tool_name": "Bash"}).code == 1
    backup = _state(project) / "compact-backups" / "s.jsonl"
    backup.parent.mkdir()
    backup.write_text("kept")
    return backup


def test_everything_that_was_kept_goes_and_guards_stay(project: Project):
    backup = _used(project)
    done = project.run("purge", "--yes", "--json")

    assert done.code == 0
    assert {row["kind"]: row["deleted"] for row in done.json["kinds"]}["records"] is True
    assert not backup.exists()
    assert _records(project) == 0
    assert project.fire("PreToolUse", {"tool_name": "Bash"}).code == 1


def test_a_dry_run_deletes_nothing(project: Project):
    backup = _used(project)
    done = project.run("purge", "--dry-run", "--json")

    assert {row["kind"]: row["records"] or row["files"] for row in done.json["kinds"]}["records"] == 1
    assert backup.exists()
    assert _records(project) == 1


def test_what_is_younger_stays(project: Project):
    backup = _used(project)
    old = backup.with_name("old.jsonl")
    old.write_text("old")
    os.utime(old, (time.time() - 10 * 86_400,) * 2)
    project.run("purge", "--yes", "--older-than", "7d")

    assert (backup.exists(), old.exists()) == (True, False)
    assert _records(project) == 1


def test_a_link_is_not_followed(project: Project, tmp_path: Path):
    backup = _used(project)
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "file").write_text("mine")
    (backup.parent / "link").symlink_to(treasure)
    project.run("purge", "--yes", "--only", "transcripts")

    assert (treasure / "file").read_text() == "mine"


def test_without_a_terminal_it_wants_a_yes(project: Project):
    backup = _used(project)
    done = project.run("purge")

    assert done.code == 64
    assert "add --yes, or --dry-run" in done.err
    assert backup.exists()


def test_an_age_that_is_none_is_named(project: Project):
    done = project.run("purge", "--older-than", "soon")

    assert (done.code, "--older-than 'soon' is not a duration" in done.err) == (64, True)
