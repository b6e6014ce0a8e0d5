"""``hookline list`` and ``hookline hooks list``: the hooks somebody wrote, and whether they are trusted."""

from __future__ import annotations

from pathlib import Path

ECHO = Path(__file__).parents[1] / "processes" / "plugins" / "echo_plugin.py"


def test_the_hooks_of_a_plugin_are_trusted_with_it_and_only_those_that_somebody_wrote_are_listed(project):
    project.write("plugins.conf", f"[plugins]\necho = {ECHO}\n")
    project.write(".hookline/hookline.toml", '[[source]]\ndialect = "lash"\npath = "plugins.conf"\n')
    assert {one["trust"] for one in project.run("list", "--json").json["hooks"]} == {"unknown"}
    assert project.run("trust", "--yes").code == 0
    for words in (("list",), ("hooks", "list")):
        hooks = project.run(*words, "--json").json["hooks"]
        assert {one["trust"] for one in hooks} == {"trusted"}
        assert "plugin.describe" not in {name for one in hooks for name in one.get("events", [one.get("event")])}
        assert hooks
