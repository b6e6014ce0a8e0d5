"""lazy-harness's ``config.toml`` counts without being named, and its tables stand in our own file too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hookline.core.hook import Command, Function

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.config.conftest import World

    from hookline.core.loaded import Loaded

HOOKS = '[hooks.session_start]\nscripts = ["context-inject", "mine"]\n'
THEIRS = "home/.config/lazy-harness"


def named(loaded: Loaded) -> list[tuple[str, str]]:
    return [(spec.name, spec.origin.layer) for spec in loaded.specs]


@pytest.fixture
def mine(world: World) -> Path:
    return world.write(f"{THEIRS}/hooks/mine.py", "")


def test_it_is_read_where_lazy_harness_keeps_it(world: World, mine: Path) -> None:
    file = world.write(f"{THEIRS}/config.toml", HOOKS)
    loaded = world.load()
    assert named(loaded) == [("context-inject", "user"), ("mine", "user")]
    builtin, own = (spec.action for spec in loaded.specs)
    assert builtin == Function(target="hookline.memory.inject.context_inject:context_inject")
    assert own == Command(form="argv", argv=("python3", str(mine)))
    assert loaded.specs[0].origin.file == str(file)
    assert not loaded.problems


def test_one_in_our_own_directory_comes_first(world: World) -> None:
    world.write(f"{THEIRS}/config.toml", HOOKS)
    own = world.layer("user", "").parent
    (own / "config.toml").write_text('[hooks.session_stop]\nscripts = ["session-export", "note"]\n')
    (own / "hooks").mkdir()
    (own / "hooks/note").write_text("#!/bin/sh\n")
    loaded = world.load()
    assert named(loaded) == [("session-export", "user"), ("note", "user")]
    assert loaded.specs[1].action == Command(form="argv", argv=(str(own / "hooks/note"),))


def test_its_tables_stand_in_our_own_file_too(world: World) -> None:
    own = world.layer("user", f'{HOOKS}[[hook]]\nname = "other"\non = "Stop"\nshell = "true"\n').parent
    (own / "hooks").mkdir()
    (own / "hooks/mine.py").write_text("")
    loaded = world.load()
    assert named(loaded) == [("context-inject", "user"), ("mine", "user"), ("other", "user")]
    assert not loaded.problems


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("enabled", [True, False])
def test_a_source_of_that_dialect_takes_its_place(world: World, enabled: bool) -> None:
    world.write(f"{THEIRS}/config.toml", HOOKS)
    world.layer("user", f'[[source]]\ndialect = "lazy-harness"\nenabled = {str(enabled).lower()}\n')
    assert len(world.load().specs) == (2 if enabled else 0)


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("enabled", [True, False])
def test_a_project_can_neither_take_it_away_nor_double_it(world: World, enabled: bool) -> None:
    world.write(f"{THEIRS}/config.toml", HOOKS)
    world.layer("project", f'[[source]]\ndialect = "lazy"\nenabled = {str(enabled).lower()}\n')
    assert named(world.load()) == [("context-inject", "user"), ("mine", "user")]


def test_a_variable_that_points_into_the_project_does_not_say_where_it_is(world: World) -> None:
    evil = world.write(
        "home/project/evil/config.toml", '[hooks.session_start]\nexternal = ["touch /tmp/evil"]\n'
    ).parent
    assert world.load(environ={"LH_CONFIG_DIR": str(evil)}).specs == ()


def test_a_file_inside_the_project_is_the_projects_whatever_a_variable_calls_it(world: World) -> None:
    evil = world.write(
        "home/project/evil/config.toml", '[hooks.session_start]\nexternal = ["touch /tmp/evil"]\n'
    ).parent
    world.layer("user", '[[source]]\ndialect = "lazy"\n')
    loaded = world.load(environ={"LH_CONFIG_DIR": str(evil)})
    assert [spec.origin.layer for spec in loaded.specs] == ["project"]


def test_10_a_file_with_the_name_of_a_built_in_does_not_take_its_place(world: World) -> None:
    world.write(f"{THEIRS}/hooks/context-inject.py", "")
    world.write(f"{THEIRS}/config.toml", '[hooks.session_start]\nscripts = ["context-inject"]\n')
    assert isinstance(world.load().specs[0].action, Function)


def test_11_a_file_without_an_ending_runs_by_its_own_first_line(world: World) -> None:
    file = world.write(f"{THEIRS}/hooks/note", "#!/bin/sh\n")
    world.write(f"{THEIRS}/config.toml", '[hooks.session_start]\nscripts = ["note"]\n')
    assert world.load().specs[0].action == Command(form="argv", argv=(str(file),))


def test_a_name_that_leads_nowhere_is_a_problem_and_costs_nothing_else(world: World) -> None:
    world.write(f"{THEIRS}/config.toml", '[hooks.session_start]\nscripts = ["../x", "gone", "context-inject"]\n')
    loaded = world.load()
    assert named(loaded) == [("context-inject", "user")]
    assert [problem.pointer for problem in loaded.problems] == [
        "$.hooks.session_start.scripts[0]", "$.hooks.session_start.scripts[1]",
    ]  # fmt: skip


def test_lists_under_our_name_for_tables_are_a_mistake_that_is_said(world: World) -> None:
    world.layer("user", '[[hooks]]\non = "Stop"\n')
    (problem,) = world.load().problems
    assert "[[hook]]" in problem.fix
    assert problem.severity == "error"
