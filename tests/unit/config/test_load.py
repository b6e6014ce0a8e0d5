"""Layers, sources and named files: what is loaded, in which order, and what is said about the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.config.conftest import World

from hookline import dialects
from hookline.core.errors import UsageError
from hookline.core.hook import Command
from hookline.core.loaded import Loaded
from hookline.dialects.base import Include, Layer, Parsed

HOOK = '[[hook]]\nname = "{0}"\non = "Stop"\nshell = "true"\n'


def hooks(*names: str) -> str:
    return "".join(HOOK.format(name) for name in names)


def names(loaded: Loaded) -> list[str]:
    return [spec.name for spec in loaded.specs]


def findings(loaded: Loaded) -> list[tuple[str, int, str]]:
    return [(Path(one.file).name, one.line, one.finding) for one in loaded.problems]


# ── layers ───────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_anywhere_is_nothing_loaded(world: World) -> None:
    loaded = world.load()
    assert (loaded.specs, loaded.problems) == ((), ())
    assert [source.found for source in loaded.sources] == [False] * 4  # machine, user, lazy-harness's two places


def test_layers_stand_from_low_to_high(world: World) -> None:
    for layer in ("local", "project", "user", "machine"):
        world.layer(layer, hooks(f"of-{layer}"))
    loaded = world.load()
    assert names(loaded) == ["of-machine", "of-user", "of-project", "of-local"]
    assert [spec.origin.layer for spec in loaded.specs] == ["machine", "user", "project", "local"]
    assert not loaded.problems


def test_an_override_keeps_the_place_of_the_first_definition(world: World) -> None:
    world.layer("user", hooks("a", "b"))
    world.layer("local", hooks("c") + '[[hook]]\nname = "a"\ntimeout = "3s"\n')
    assert names(world.load()) == ["a", "b", "c"]
    assert world.load().specs[0].timeout == 3.0


def test_a_broken_layer_costs_its_own_hooks_only(world: World) -> None:
    world.layer("user", hooks("a"))
    world.layer("project", "[[hook]\n")
    world.layer("local", hooks("b"))
    loaded = world.load()
    assert names(loaded) == ["a", "b"]
    assert [(file, line) for file, line, _ in findings(loaded)] == [("hookline.toml", 1)]


@pytest.mark.parametrize("kind", ["directory", "fifo", "binary", "latin", "loop"])
def test_a_layer_that_is_no_text_is_a_problem(world: World, kind: str) -> None:
    world.layer("user", hooks("a"))
    path = world.layer("project", "")
    path.unlink()
    match kind:
        case "directory":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "binary":
            path.write_bytes(b"\0\1\2")
        case "latin":
            path.write_bytes(b"# \xe9")
        case _:
            path.symlink_to(path)
    loaded = world.load()
    assert names(loaded) == ["a"]
    assert len(loaded.problems) == 1


# ── files that somebody named ────────────────────────────────────────────────────────────────────────


def test_named_files_are_all_that_is_read(world: World) -> None:
    world.layer("user", hooks("a"))
    world.layer("project", hooks("b"))
    world.write("home/project/x.toml", hooks("x"))
    world.write("home/y.toml", hooks("y"))
    loaded = world.load(files=["x.toml", str(world.home / "y.toml")])
    assert names(loaded) == ["x", "y"]
    assert {spec.origin.layer for spec in loaded.specs} == {"command line"}


def test_the_home_in_a_named_path_is_the_callers(world: World) -> None:
    world.write("home/y.toml", hooks("y"))
    assert names(world.load(files=["~/y.toml"])) == ["y"]


def test_a_named_file_that_is_missing_is_an_error(world: World) -> None:
    [problem] = world.load(files=["gone.toml"]).problems
    assert (problem.file, problem.severity) == (str(world.project / "gone.toml"), "error")


def test_no_named_files_is_not_the_same_as_none_given(world: World) -> None:
    world.layer("project", hooks("a"))
    assert names(world.load(files=[])) == []


def test_a_dialect_reads_its_named_files(world: World) -> None:
    path = world.write(
        "home/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    [spec] = world.load(files=[str(path)], dialect="letta").specs
    assert (spec.dialect, spec.event, spec.origin.layer) == ("letta", "Stop", "command line")


def test_a_dialect_without_files_reads_its_own_places(world: World) -> None:
    world.layer("project", hooks("ours"))
    world.write(
        "home/project/.letta/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
    )
    loaded = world.load(dialect="letta")
    assert [(spec.dialect, spec.origin.layer) for spec in loaded.specs] == [("letta", "project")]


def test_an_unknown_dialect_is_the_callers_mistake(world: World) -> None:
    with pytest.raises(UsageError):
        world.load(dialect="latin")


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────


def test_hooks_of_a_source_stand_where_its_table_stands(world: World) -> None:
    source = '[[source]]\ndialect = "native"\npath = "more.toml"\n'
    world.layer("project", hooks("a") + source + hooks("z"))
    world.layer("local", hooks("last"))
    world.write("home/project/more.toml", hooks("m", "n"))
    loaded = world.load()
    assert names(loaded) == ["a", "m", "n", "z", "last"]
    assert {spec.origin.layer for spec in loaded.specs} == {"project", "local"}


def test_a_source_is_looked_up_from_the_root_and_then_from_the_file(world: World) -> None:
    world.layer("project", '[[source]]\ndialect = "native"\npaths = ["one.toml", "two.toml"]\n')
    world.write("home/project/one.toml", hooks("root"))
    world.write("home/project/.hookline/one.toml", hooks("beside"))
    world.write("home/project/.hookline/two.toml", hooks("two"))
    assert names(world.load()) == ["root", "two"]


def test_the_find_paths_a_source_are_layers_of_one_another(world: World) -> None:
    world.layer("user", '[[source]]\ndialect = "native"\npaths = ["one.toml", "~/two.toml"]\n')
    world.write("home/.config/hookline/one.toml", hooks("a"))
    world.write("home/two.toml", '[[hook]]\nname = "a"\nenabled = false\n')
    assert [(spec.name, spec.enabled) for spec in world.load().specs] == [("a", False)]


def test_a_source_in_another_dialect_is_used_as_it_is(world: World) -> None:
    world.layer("project", '[[source]]\ndialect = "letta"\npath = "s.json"\n' + hooks("after"))
    world.write("home/project/s.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}')
    assert [spec.dialect for spec in world.load().specs] == ["letta", "native"]


def test_a_source_without_a_path_means_the_systems_own_places(world: World) -> None:
    world.layer("user", '[[source]]\ndialect = "letta"\n')
    world.write(
        "home/project/.letta/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
    )
    [spec] = world.load().specs
    assert (spec.dialect, spec.origin.layer) == ("letta", "project")


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ('dialect = "letta"\npath = "gone.json"', "there is no such file"),
        ('dialect = "latin"\npath = "x"', "unknown dialect"),
        ('path = "x"', "names no dialect"),
        ('dialect = "native"', "needs a path"),
        ('dialect = 3\npath = "x"', "dialect must be text"),
        ('dialect = "letta"\npath = "x"\npaths = ["y"]', "both path and paths"),
        ('dialect = "native"\npath = ".hookline/hookline.toml"', "leads back to this file"),
    ],
)
def test_a_bad_source_is_a_problem_at_its_line_and_costs_nobody_else(world: World, table: str, part: str) -> None:
    world.layer("project", hooks("a") + f"[[source]]\n{table}\n" + hooks("z"))
    loaded = world.load()
    assert names(loaded) == ["a", "z"]
    [(file, line, finding)] = findings(loaded)
    assert part in finding
    assert (file, line in {5, 6, 7, 8}) == ("hookline.toml", True)


def test_a_source_that_is_turned_off_is_not_read(world: World) -> None:
    world.layer("project", '[[source]]\ndialect = "letta"\npath = "gone.json"\nenabled = false\n')
    assert world.load().problems == ()


def test_sources_that_go_round_in_a_circle_end(world: World) -> None:
    world.write("home/a.toml", hooks("a") + '[[source]]\ndialect = "native"\npath = "b.toml"\n')
    world.write("home/b.toml", hooks("b") + '[[source]]\ndialect = "native"\npath = "a.toml"\n')
    loaded = world.load(files=["~/a.toml"])
    assert names(loaded) == ["a", "b"]
    assert [(file, line) for file, line, _ in findings(loaded)] == [("b.toml", 5)]


def test_files_that_all_name_one_another_are_read_once_each(world: World) -> None:
    """Else ten such files would keep the engine busy for hours, and every hook would run on every path."""
    everybody = [f"{number}.toml" for number in range(10)]
    tables = "".join(f'[[source]]\ndialect = "native"\npath = "{name}"\n' for name in everybody)
    for name in everybody:
        world.write(f"home/{name}", tables + hooks(name))
    world.write("home/all.toml", tables)
    loaded = world.load(files=["~/all.toml"])
    assert sorted(names(loaded)) == everybody
    assert len(loaded.problems) <= 110


def test_sources_of_sources_have_a_depth(world: World) -> None:
    for number in range(30):
        world.write(f"home/{number}.toml", f'[[source]]\ndialect = "native"\npath = "{number + 1}.toml"\n')
    assert [finding for _, _, finding in findings(world.load(files=["~/0.toml"]))] == ["sources of sources go too deep"]


# ── dialects with bugs ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["parse", "includes", "places"])
def test_a_dialect_that_raises_costs_its_own_hooks_only(
    world: World, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    class Broken:
        name = "broken"
        syntax = "json"

        def places(self, *_: object) -> object:
            return self._do("places", ())

        def includes(self, *_: object) -> object:
            return self._do("includes", ((), ()))

        def parse(self, *_: object) -> object:
            return self._do("parse", Parsed())

        def _do(self, called: str, value: object) -> object:
            if called == method:
                raise RuntimeError("oops")
            return value

    monkeypatch.setattr(dialects, "_installed", lambda _name: Broken())
    table = '[[source]]\ndialect = "broken"\n' + ("" if method == "places" else 'path = "x.json"\n')
    world.layer("project", hooks("a") + table)
    world.write("home/project/x.json", "{}")
    loaded = world.load()
    assert names(loaded) == ["a"]
    assert ["oops" in finding for _, _, finding in findings(loaded)] == [True]


class Including:
    """Names what it includes in a list, and turns every layer it gets into nothing but a note of its path."""

    name = "including"
    syntax = "json"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def includes(self, layer: Layer, _lookup: object) -> object:
        folder = os.path.dirname(layer.path)
        return [Include(path=os.path.join(folder, name), optional=name.startswith("?")) for name in layer.tree], ()

    def parse(self, layers: list[Layer], _lookup: object) -> Parsed:
        self.seen += [Path(layer.path).name for layer in layers]
        return Parsed()


@pytest.fixture
def including(monkeypatch: pytest.MonkeyPatch) -> Including:
    speaker = Including()
    monkeypatch.setattr(dialects, "_installed", lambda _name: speaker)
    return speaker


def test_an_include_ranks_just_below_the_file_that_names_it(world: World, including: Including) -> None:
    for name, text in {"a": '["b", "c"]', "b": '["d"]', "c": "[]", "d": "[]", "z": '["?gone"]'}.items():
        world.write(f"home/{name}", text)
    loaded = world.load(files=["~/a", "~/z"], dialect="including")
    assert including.seen == ["d", "b", "c", "a", "z"]
    assert loaded.problems == ()


def test_includes_in_a_circle_and_missing_ones_are_problems(world: World, including: Including) -> None:
    world.write("home/a", '["b", "gone"]')
    world.write("home/b", '["a", "b"]')
    loaded = world.load(files=["~/a"], dialect="including")
    assert including.seen == ["b", "a"]
    assert [finding.split(" (")[0] for _, _, finding in findings(loaded)] == ["includes itself"] * 2 + [
        "there is no such file"
    ]


def test_includes_that_multiply_end(world: World, including: Including) -> None:
    for number in range(14):
        world.write(f"home/{number}", f'["{number + 1}", "{number + 1}", "{number + 1}"]')
    world.write("home/14", "[]")
    loaded = world.load(files=["~/0"], dialect="including")
    assert len(including.seen) <= 1100
    assert any("too many files" in finding for _, _, finding in findings(loaded))


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────


def test_relative_programs_start_at_the_file_that_names_them(world: World) -> None:
    world.layer("user", '[[hook]]\nname = "a"\non = "Stop"\nrun = "./x.sh"\n')
    world.layer("project", '[[hook]]\nname = "a"\nrun = "./y.sh"\n')
    [spec] = world.load().specs
    assert spec.action == Command(form="argv", argv=("./y.sh",), base=str(world.project / ".hookline"))
    assert spec.extra["project"] == str(world.project)


def test_settings_of_all_layers_are_merged(world: World) -> None:
    world.layer("machine", '[record]\nredact = ["a+"]\nkeep_days = 3\n[limits]\ngrace = "2s"\n')
    world.layer("user", '[record]\nredact = ["b+"]\n[models]\nhaiku = "x:y"\n')
    settings = world.load().settings
    assert settings.record.redact == ("a+", "b+")
    assert (settings.record.keep_days, settings.limits.grace, dict(settings.models)) == (3, 2.0, {"haiku": "x:y"})
    assert settings.state_dir == world.paths.state


def test_a_hook_name_is_found_in_the_users_directories_and_nowhere_else(world: World) -> None:
    from hookline.config.discover import lookup_for

    world.write("home/.config/lazy-harness/hooks/note.py", "")
    world.write("home/.config/lazy-harness/hooks/note", "")
    world.write("home/.config/hookline/hooks/plain", "")
    lookup = lookup_for(cwd=str(world.project), home=str(world.home), environ={}, paths=world.paths)
    assert lookup.find("note") == str(world.home / ".config/lazy-harness/hooks/note.py")
    assert lookup.find("plain") == str(world.home / ".config/hookline/hooks/plain")
    assert [lookup.find(name) for name in ("gone", "../hooks/note", "", "..", "a\0b", "/etc/passwd")] == [None] * 6
    assert "session-export" in lookup.builtins


def test_loading_native_hooks_imports_no_other_syntax(world: World) -> None:
    path = world.layer("project", hooks("a"))
    code = (
        "import sys; from hookline.config.load import load; from hookline.core.paths import find_paths\n"
        f"loaded = load(cwd={str(path.parent)!r}, home='/x', environ={{}}, paths=find_paths({{}}, '/x'))\n"
        "assert len(loaded.specs) == 1, loaded\n"
        "bad = {'yaml', 'regex', 'asyncio', 'configparser', 'http.client', 'urllib.request'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_layer_that_is_a_link_to_nothing_is_a_problem(world: World) -> None:
    file = world.layer("project", "")
    file.unlink()
    file.symlink_to("/nowhere/hookline.toml")
    assert [finding for _, _, finding in findings(world.load())] == [
        "this link leads to /nowhere/hookline.toml, which does not exist"
    ]
