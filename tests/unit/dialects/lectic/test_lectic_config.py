"""Where Lectic's files are, what they import, and how layers become hooks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from hookline.config.load import load
from hookline.config.syntax.yaml import read
from hookline.core.hook import Command, HookSpec
from hookline.core.loaded import Loaded
from hookline.core.paths import find_paths
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.lectic import DIALECT


def layer(text: str, path: str = "/p/lectic.yaml", name: str = "project") -> Layer:
    document = read(path, text)
    return Layer(path=path, name=name, syntax="yaml", text=text, tree=document.tree, line=document.line)


def parsed(*texts: str) -> Parsed:
    return DIALECT.parse([layer(text, f"/p{n}/lectic.yaml") for n, text in enumerate(texts)], Lookup())


def text_of(spec: HookSpec) -> str:
    assert isinstance(spec.action, Command)
    return spec.action.text


def loaded(cwd: Path, home: Path, **environ: str) -> Loaded:
    around = {"HOME": str(home), **environ}
    return load(cwd=str(cwd), home=str(home), environ=around, paths=find_paths(around, str(home)), dialect="lectic")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def hook(name: str, on: str = "user_message") -> str:
    return f"hooks:\n  - {{name: {name}, on: {on}, do: echo {name}}}\n"


# ── where ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_users_file_is_below_the_nearest_one_upwards(tmp_path: Path) -> None:
    write(tmp_path / "home" / ".config" / "lectic" / "lectic.yaml", hook("user"))
    write(tmp_path / "work" / "lectic.yaml", hook("far"))
    write(tmp_path / "work" / "project" / "lectic.yaml", hook("near"))
    (tmp_path / "work" / "project" / "deep").mkdir()
    found = loaded(tmp_path / "work" / "project" / "deep", tmp_path / "home")
    assert [(spec.name, spec.origin.layer) for spec in found.specs] == [("user", "user"), ("near", "project")]
    assert found.problems == ()


def test_the_users_directory_can_be_named(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "lectic.yaml", hook("user"))
    found = loaded(tmp_path, tmp_path / "home", LECTIC_CONFIG=str(tmp_path / "elsewhere"))
    assert [spec.name for spec in found.specs] == ["user"]


def test_a_file_that_is_the_users_and_the_nearest_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / ".config" / "lectic" / "lectic.yaml", "hooks:\n  - {on: run_end, do: echo}\n")
    assert len(loaded(tmp_path / ".config" / "lectic", tmp_path).specs) == 1


# ── imports ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_plugin_is_found_at_any_depth_and_by_root_order(tmp_path: Path) -> None:
    write(tmp_path / "runtime" / "a" / "b" / "shout" / "lectic.yaml", hook("from-runtime"))
    write(tmp_path / "data" / "shout" / "lectic.yaml", hook("from-data"))
    write(tmp_path / "work" / "lectic.yaml", "imports: [{plugin: shout}]\n")
    found = loaded(
        tmp_path / "work", tmp_path, LECTIC_RUNTIME=str(tmp_path / "runtime"), LECTIC_DATA=str(tmp_path / "data")
    )
    assert [spec.name for spec in found.specs] == ["from-runtime"]


def test_a_plugin_that_is_there_twice_is_a_problem(tmp_path: Path) -> None:
    for place in ("a", "b"):
        write(tmp_path / "runtime" / place / "shout" / "lectic.yaml", hook(place))
    write(tmp_path / "work" / "lectic.yaml", "imports: [{plugin: shout}]\n")
    found = loaded(tmp_path / "work", tmp_path, LECTIC_RUNTIME=str(tmp_path / "runtime"))
    assert found.specs == ()
    assert "more than once" in found.problems[0].finding


def test_a_file_imported_twice_counts_once_at_its_lowest_place(tmp_path: Path) -> None:
    write(tmp_path / "base.yaml", "hooks:\n  - {on: user_message, do: echo base}\n")
    write(tmp_path / "mid.yaml", "imports: [base.yaml]\n" + hook("mid"))
    write(tmp_path / "lectic.yaml", "imports: [base.yaml, mid.yaml]\n" + hook("top"))
    assert [spec.name for spec in loaded(tmp_path, tmp_path / "home").specs] == ["echo base", "mid", "top"]


def test_a_circle_of_imports_is_a_problem_and_the_hooks_load(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "imports: [lectic.yaml]\n" + hook("a"))
    write(tmp_path / "lectic.yaml", "imports: [a.yaml]\n" + hook("top"))
    found = loaded(tmp_path, tmp_path / "home")
    assert [spec.name for spec in found.specs] == ["a", "top"]
    assert len(found.problems) == 1


@pytest.mark.parametrize("item", ["3", "{optional: true}", "{plugin: a/b}", "{path: ''}", "{path: x, optional: maybe}"])
def test_a_strange_import_is_a_problem(item: str) -> None:
    found, problems = DIALECT.includes(layer(f"imports: [{item}]\n"), Lookup())
    assert list(found) == []
    assert problems[0].pointer == "$.imports[0]"
    assert problems[0].finding.startswith("Error resolving imports in /p/lectic.yaml: ")


# ── hooks ────────────────────────────────────────────────────────────────────────────────────────────


def test_each_event_of_a_hook_is_one_spec_with_its_policy() -> None:
    text = "hooks:\n  - on: [tool_use_pre, tool_use_post, user_first, run_end]\n    do: x\n"
    specs = parsed(text).specs
    assert [(spec.event, spec.native_event, spec.phase, spec.on_failure) for spec in specs] == [
        ("PreToolUse", "tool_use_pre", 0, "deny"),
        ("PostToolUse", "tool_use_post", 0, "abort"),
        ("PostToolUseFailure", "tool_use_post", 0, "abort"),
        ("UserPromptSubmit", "user_first", 1, "abort"),
        ("RunEnd", "run_end", 0, "abort"),
    ]
    assert len({spec.id for spec in specs}) == len(specs)
    assert {(spec.flow, spec.after_deny, spec.timeout) for spec in specs} == {("chain", "stop", 600.0)}


def test_the_address_of_a_hook_is_that_of_who_wrote_last() -> None:
    specs = parsed("hooks:\n  - {name: a, on: run_end, do: x}\n", "hooks:\n\n\n  - {name: a, do: y}\n").specs
    assert [(spec.origin.file, spec.origin.line, spec.origin.pointer) for spec in specs] == [
        ("/p1/lectic.yaml", 4, "$.hooks[0]")
    ]


def test_a_definition_from_a_higher_layer_answers_for_its_uses() -> None:
    low = "hook_defs:\n  - {name: d, on: run_end, do: x}\nhooks:\n  - use: d\n"
    (spec,) = parsed(low, "hook_defs:\n  - {name: d, do: y}\n").specs
    assert (spec.origin.file, spec.origin.pointer) == ("/p1/lectic.yaml", "$.hook_defs[0]")


def test_interlocutor_is_laid_over_the_entry_of_its_name() -> None:
    text = """
interlocutor: {name: B, hooks: [{name: h, do: new}]}
interlocutors:
  - {name: A, hooks: [{name: a, on: run_end, do: a}]}
  - {name: B, hooks: [{name: h, on: run_end, do: old}]}
"""
    specs = parsed(text).specs
    assert [(spec.name, text_of(spec), spec.scope.name, spec.scope.default) for spec in specs] == [
        ("h", "new", "B", True),
        ("a", "a", "A", False),
    ]


def test_kits_unfold_and_a_circle_of_kits_ends() -> None:
    text = """
kits:
  - {name: k, tools: [{kit: k}, {name: t, exec: x, hooks: [{name: own, on: tool_use_pre, do: x}]}]}
interlocutor: {name: B, tools: [{kit: k}, {kit: gone}]}
"""
    result = parsed(text)
    assert [(spec.name, spec.scope.kind, spec.scope.name) for spec in result.specs] == [("own", "tool", "t")]
    assert [problem.finding for problem in result.problems] == [
        "Kit expansion cycle detected at k",
        "Unknown kit reference: gone",
    ]


@pytest.mark.parametrize(
    ("do", "finding"),
    [
        ("local:x", "local: paths must start with ./ or ../"),
        ("exec:local:./x", "local: does not compose with exec:"),
        ("local:file:./x", "use file:local:./... instead of local:file:..."),
    ],
)
def test_a_local_path_that_is_none_is_a_problem(do: str, finding: str) -> None:
    result = parsed(f"hooks:\n  - {{on: run_end, do: {do}}}\n")
    assert result.specs == ()
    assert [problem.finding for problem in result.problems] == [finding]


def test_a_local_path_stays_one_word_whatever_its_directory_is_called() -> None:
    from hookline.dialects.lectic.tokens import expand_argv

    given = layer("hooks:\n  - {on: run_end, do: 'local:../x.sh $A'}\n", "/my own/dir $A/lectic.yaml")
    (spec,) = DIALECT.parse([given], Lookup()).specs
    assert expand_argv(text_of(spec), {"A": "1"}) == ("/my own/x.sh", "1")
    given = layer("hooks:\n  - {on: run_end, do: '\"local:./a b.sh\"'}\n", "/d $A/lectic.yaml")
    (spec,) = DIALECT.parse([given], Lookup()).specs
    assert expand_argv(text_of(spec), {"A": "1"}) == ("/d $A/a b.sh",)


def test_variables_are_texts_and_a_bad_one_costs_only_itself() -> None:
    text = "hooks:\n  - {on: run_end, do: x, env: {A: 1, B: true, C: , D: 1.5, E: {x: y}, 'F=G': z}}\n"
    result = parsed(text)
    assert dict(result.specs[0].environ) == {"A": "1", "B": "true", "C": "", "D": "1.5", "E": '{"x":"y"}'}
    assert [problem.pointer for problem in result.problems] == ["$.hooks[0].env.F=G"]


def test_every_problem_has_its_line() -> None:
    (problem,) = parsed("hooks:\n  - on: run_end\n    do: x\n    mode: never\n").problems
    assert (problem.line, problem.pointer) == (4, "$.hooks[0].mode")


@pytest.mark.parametrize(
    "tree", [[], "text", 3, True, {"hooks": {"a": 1}}, {"interlocutor": 3}, {"interlocutors": 1}, {"kits": 2}]
)
def test_a_tree_of_the_wrong_shape_is_a_problem(tree: Any) -> None:
    given = Layer(path="/x", name="user", syntax="yaml", text="", tree=tree)
    result = DIALECT.parse([given, layer(hook("good"))], Lookup())
    assert [spec.name for spec in result.specs] == ["good"]
    assert len(result.problems) == 1


def test_a_tree_that_contains_itself_ends() -> None:
    loop: dict[str, Any] = {"name": "x"}
    loop["tools"] = [loop, loop, loop]
    given = Layer(path="/x", name="user", syntax="yaml", text="", tree={"interlocutor": loop})
    result = DIALECT.parse([given, layer(hook("good"))], Lookup())
    assert [spec.name for spec in result.specs] == ["good"]


def test_places_ask_nothing_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "stat", None)
    monkeypatch.setattr("sys.platform", "linux")
    places = DIALECT.places("/a/b", "/home/me", {})
    assert [place.path for place in places] == [
        "/home/me/.config/lectic/lectic.yaml",
        "/lectic.yaml",
        "/a/lectic.yaml",
        "/a/b/lectic.yaml",
    ]
