"""What of a project's files is read, and what of it counts."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.unit.config.conftest import World

from hookline import dialects
from hookline.config.layers import MOST_BYTES, MOST_HOOKS, ProjectGate
from hookline.core.hook import HookSpec
from hookline.dialects.base import Layer, Parsed

HOOK = '[[hook]]\nname = "{0}"\non = "Stop"\nshell = "true"\n'
OWN = HOOK.format("own")
REDACT = '[record]\nredact = ["(?s).+"]\n'


@dataclass(frozen=True, kw_only=True)
class Approved:
    """A person who approved these files by name, and the contents of some."""

    files: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()

    def knows(self, file: str) -> bool:
        return file.endswith(self.files)

    def covers(self, contents: HookSpec) -> bool:
        return contents.name in self.contents


def names(world: World, gate: ProjectGate, dialect: str | None = None) -> list[str]:
    return [spec.name for spec in world.load(gate=gate, dialect=dialect).specs]


def test_of_a_file_that_is_not_approved_nothing_is_read(world: World) -> None:
    world.layer("user", OWN)
    world.layer("project", "this is [ not TOML" + "\0")
    loaded = world.load(gate=ProjectGate("approved", Approved()))
    assert ([spec.name for spec in loaded.specs], loaded.problems, loaded.contents) == (["own"], (), ())
    assert [one.inert for one in loaded.sources if one.layer == "project"] == [True]


def test_only_the_files_that_were_approved_are_read(world: World) -> None:
    world.layer("project", HOOK.format("known"))
    world.layer("local", HOOK.format("unknown"))
    assert names(world, ProjectGate("approved", Approved(files=("hookline.toml",)))) == ["known"]
    assert names(world, ProjectGate("inspect", Approved())) == ["known", "unknown"]


@pytest.mark.parametrize(("covered", "counts"), [((), False), (("hookline.toml",), True)])
@pytest.mark.parametrize("mode", ["approved", "inspect"])
def test_settings_count_as_they_were_approved(world: World, mode: str, covered: tuple[str, ...], counts: bool) -> None:
    world.layer("project", REDACT)
    approved = Approved(files=("hookline.toml",), contents=covered)
    settings = world.load(gate=ProjectGate(mode, approved)).settings  # type: ignore[arg-type]  # parametrized
    assert settings.record.redact == (("(?s).+",) if counts else ())


def test_what_a_file_holds_besides_hooks_does_not_depend_on_its_hooks(world: World) -> None:
    world.layer("project", REDACT)
    (before,) = world.load().contents
    world.layer("project", "# more\n" + HOOK.format("a") + REDACT)
    (after,) = world.load().contents
    world.layer("project", REDACT.replace("+", "*"))
    (other,) = world.load().contents
    assert (before == after, before == other) == (True, False)


def test_a_source_is_followed_as_it_was_approved_and_shown_to_who_looks(world: World) -> None:
    world.write("home/.letta/settings.json", _letta("mine"))
    world.write("home/project/.letta/settings.json", _letta("theirs"))
    world.layer("project", '[[source]]\ndialect = "letta"\n')
    files = ("hookline.toml", "settings.json")
    assert names(world, ProjectGate("approved", Approved(files=files))) == []
    assert len(names(world, ProjectGate("inspect", Approved(files=files)))) == 1
    assert len(names(world, ProjectGate("approved", Approved(files=files, contents=("hookline.toml",))))) == 2


def _letta(command: str) -> str:
    return f'{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}'


# ── the budget ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "#" + "x" * MOST_BYTES,
        "".join(HOOK.format(n) for n in range(MOST_HOOKS + 1)),
        '[[hook]]\nname = "a"\nshell = "x"\non = [' + '"Stop",' * (MOST_HOOKS + 1) + "]\n",
    ],
    ids=["bytes", "hooks", "events"],
)
def test_a_project_over_its_budget_costs_only_itself(world: World, text: str) -> None:
    world.layer("user", OWN)
    world.layer("project", text)
    loaded = world.load(gate=ProjectGate("inspect", Approved()))
    assert [spec.name for spec in loaded.specs] == ["own"]
    (problem,) = loaded.problems
    assert problem.file.endswith("project/.hookline/hookline.toml")
    assert len(world.load().specs) >= 1  # who trusts everything has no budget to keep


def test_the_files_of_a_project_share_one_budget(world: World) -> None:
    half = "#" + "x" * (MOST_BYTES * 2 // 3) + "\n"
    world.layer("project", half + HOOK.format("first"))
    world.layer("local", half + HOOK.format("second"))
    assert names(world, ProjectGate("inspect", Approved())) == ["first"]


def test_other_dialects_have_the_budget_too(world: World) -> None:
    hooks = ",".join('{"type": "command", "command": "x"}' for _ in range(MOST_HOOKS + 1))
    world.write("home/project/.letta/settings.json", f'{{"hooks": {{"Stop": [{{"hooks": [{hooks}]}}]}}}}')
    world.write("home/.letta/settings.json", _letta("mine"))
    loaded = world.load(gate=ProjectGate("inspect", Approved()), dialect="letta")
    assert [spec.origin.layer for spec in loaded.specs] == ["user"]
    assert "more than" in loaded.problems[0].finding


def test_aliases_do_not_make_a_small_file_a_huge_one(world: World) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 9)]
    world.write("home/project/lectic.yaml", "\n".join(lines) + "\nhooks: [{on: user_message, do: date}]\n")
    loaded = world.load(gate=ProjectGate("inspect", Approved()), dialect="lectic")
    assert (loaded.specs, "more than 100000 values" in loaded.problems[0].finding) == ((), True)


def test_a_project_that_finds_a_bug_of_ours_costs_no_hook_of_ones_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dialects.dialect_named("letta").parse

    def parse(layers: list[Layer], lookup: object) -> Parsed:
        if any(layer.name == "project" for layer in layers):
            raise ValueError("found it")
        return real(layers, lookup)  # type: ignore[arg-type]  # passed on

    world.write("home/.letta/settings.json", _letta("mine"))
    world.write("home/project/.letta/settings.json", _letta("theirs"))
    monkeypatch.setattr(dialects.dialect_named("letta"), "parse", parse)
    loaded = world.load(dialect="letta")
    assert ([spec.origin.layer for spec in loaded.specs], "found it" in loaded.problems[0].finding) == (["user"], True)


def test_a_file_that_is_nested_deeply_is_refused_and_nothing_else(world: World) -> None:
    world.layer("user", OWN)
    for depth in (100, 400, 900, 5000):
        world.layer("project", f"[limits]\na = {'[' * depth}{']' * depth}\n")
        assert names(world, ProjectGate("inspect", Approved())) == ["own"]
