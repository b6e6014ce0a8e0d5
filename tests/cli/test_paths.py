"""A relative program is the project's, wherever in the project the agent works."""

from __future__ import annotations

GUARD = """
[[hook]]
name = "guard"
on = "PreToolUse"
run = "./hooks/guard.sh"
on_failure = "deny"
"""
DENY = "#!/bin/sh\necho no >&2\nexit 2\n"


def test_a_guard_is_found_from_a_subdirectory(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.write("hooks/guard.sh", DENY, mode=0o755)
    project.run("trust", "--yes")
    below = project.write("sub/keep", "").parent
    assert project.run("fire", "PreToolUse", "--json", cwd=below).json["reason"] == "no"


def test_nothing_can_be_put_in_front_of_an_approved_guard(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.write("hooks/guard.sh", DENY, mode=0o755)
    project.run("trust", "--yes")
    below = project.write("sub/hooks/guard.sh", "#!/bin/sh\nexit 0\n", mode=0o755).parent.parent
    assert project.run("fire", "PreToolUse", "--json", cwd=below).json["effect"] == "deny"


def test_a_persons_own_hook_is_not_looked_for_in_a_project(project):
    own = project.home / ".config" / "hookline"
    own.mkdir(parents=True)
    (own / "hookline.toml").write_text(GUARD, encoding="utf-8")
    (own / "hooks").mkdir()
    (own / "hooks" / "guard.sh").write_text(DENY, encoding="utf-8")
    (own / "hooks" / "guard.sh").chmod(0o755)
    project.write("hooks/guard.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    assert project.run("fire", "PreToolUse", "--json").json["reason"] == "no"
