"""A project inside another one that is approved."""

from __future__ import annotations

import pytest
from tests.cli.conftest import Project

GUARD = '[[hook]]\nname = "{0}"\non = "PreToolUse"\nshell = "echo {0} >&2; exit 2"\non_failure = "deny"\n'


@pytest.fixture
def inner(project: Project) -> Project:
    project.write(".hookline/hookline.toml", GUARD.format("outer"))
    assert project.run("trust", "--yes").code == 0
    below = project.path / "inner"
    (below / ".git").mkdir(parents=True)
    return Project(below, project.home)


def test_its_file_is_named_by_every_command_that_shows_hooks(inner):
    assert inner.fire("PreToolUse").json["reason"] == "outer"  # and keeps what it has found
    file = inner.write(".hookline/hookline.toml", GUARD.format("inner"))
    told = f"{file}: not approved, so nothing of it has any effect; review it with: hookline trust"
    assert told in inner.run("list").err
    assert told in inner.run("check").out
    assert told in inner.run("status").out
    assert f"{file} is not approved" in inner.run("doctor").out
    fired = inner.fire("PreToolUse")
    assert (fired.json["reason"], told in fired.err) == ("outer", True)


def test_it_can_be_approved_and_then_counts_instead(inner):
    inner.write(".hookline/hookline.toml", GUARD.format("inner"))
    done = inner.run("trust", "--yes")
    assert (done.code, "Approved 1 hook." in done.out) == (0, True)
    assert "those count instead" in done.err
    assert inner.fire("PreToolUse").json["reason"] == "inner"
    outer = Project(inner.path.parent, inner.home)
    assert outer.fire("PreToolUse").json["reason"] == "outer"


def test_what_changed_around_it_is_asked_about_first(inner):
    file = inner.write(".hookline/hookline.toml", GUARD.format("inner"))
    outer = Project(inner.path.parent, inner.home)
    outer.write(".hookline/hookline.toml", GUARD.format("changed"))
    done = inner.run("trust", "--yes")
    assert f"{file} comes after" in done.err
    assert ("changed on" in done.out, "inner on" in done.out) == (True, False)
    assert "inner on PreToolUse" in inner.run("trust", "--yes").out
