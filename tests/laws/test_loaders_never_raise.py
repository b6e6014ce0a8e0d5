"""Law 7: loading never raises on a bad file. Law 8: what is rendered is read back as it was."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.config.load import load
from hookline.config.syntax import parse_text
from hookline.core.event import EVENTS
from hookline.core.hook import HookSpec, Origin
from hookline.core.paths import Paths
from hookline.core.problem import Problem
from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.base import Layer, Lookup, Syntax
from hookline.dialects.native import DIALECT
from hookline.dialects.native.fields import ACTIONS, HOOK_FIELDS, WHEN_FIELDS
from hookline.dialects.native.settings import read_settings

SYNTAXES: tuple[Syntax, ...] = get_args(Syntax)
#: Pieces that configurations are made of, so that a random text gets past the first character.
PIECES = (
    "[[hook]]\n", "[hooks]\n", "hooks:\n", " - ", "on: ", "on = ", '"PreToolUse"', "name", " = ", ": ", "{", "}", "[", "]", "\n", "  ",
    '"', "'", '"""', "'''", "\\", "#", "%", "%(a)s", "&a ", "*a", "---\n", "...", "...\n", "true", "1", "1e9", ",", ".", "|\n", "[A]\n",
    "a=1\n", "\t", "\r\n", "\x00", "é", "\ufeff", "?", "!", "!!int ", "<<", "inf", "nan", "1979-05-27",
)  # fmt: skip
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["PreToolUse", "*", "5s", "native"]),
)
known_keys = st.sampled_from(
    sorted(
        {field.key for field in (*HOOK_FIELDS, *WHEN_FIELDS)}
        | {"hook", "hooks", "source", "limits", "record", "command", "type", "do", "matcher", "scripts"}
    )
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(known_keys, st.text(max_size=8)), inner, max_size=5)
    ),
    max_leaves=20,
)


def loaded_from(directory: str, content: bytes, dialect: str) -> tuple[tuple[HookSpec, ...], tuple[Problem, ...]]:
    path = os.path.join(directory, "config")
    with open(path, "wb") as file:
        file.write(content)
    paths = Paths(config=directory, state=directory, data=directory, machine=directory)
    loaded = load(cwd=directory, home=directory, environ={}, paths=paths, files=[path], dialect=dialect)
    return loaded.specs, loaded.problems


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=200), texts.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_any_bytes_are_loaded_or_reported(dialect: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        _, problems = loaded_from(directory, content, dialect)
    assert not [problem for problem in problems if "report this as a bug" in problem.fix]


@pytest.mark.parametrize("syntax", SYNTAXES)
@settings(max_examples=100, deadline=None)
@given(text=texts)
def test_any_text_is_a_tree_or_a_problem_and_every_pointer_has_a_line(syntax: Syntax, text: str) -> None:
    document = parse_text("f", text, syntax)
    assert document.tree is not None or document.problems
    last = text.count("\n") + 1
    for pointer in ("$", "$.hook[0].name", "$.hooks", "$.a.b[3]"):
        assert 0 <= document.line(pointer) <= last
    assert all(0 <= problem.line <= last + 1 for problem in document.problems)


#: The trees of the other syntaxes have a fixed shape, which their readers make.
TREE_LIKE = [name for name in DIALECTS if dialect_named(name).syntax in {"toml", "json", "yaml"}]


@pytest.mark.parametrize("dialect", TREE_LIKE)
@settings(max_examples=100, deadline=None)
@given(tree=trees)
def test_any_tree_is_parsed_or_reported(dialect: str, tree: Any) -> None:
    speaker = dialect_named(dialect)
    layer = Layer(path="/x/f", name="user", syntax=speaker.syntax, text="", tree=tree)
    speaker.includes(layer, Lookup())
    speaker.parse([layer], Lookup())


@settings(max_examples=100, deadline=None)
@given(tree=trees)
def test_any_tree_has_settings(tree: Any) -> None:
    layers = [Layer(path="/x/f", name=name, syntax="toml", text="", tree=tree) for name in ("user", "project")]
    read_settings(layers)


# ── rendering ────────────────────────────────────────────────────────────────────────────────────────

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12).filter(
    str.strip
)
durations = st.one_of(st.integers(1, 10**6), st.floats(0.001, 10**6))
PYTHON = "pkg.mod:function"
actions = st.one_of(
    st.fixed_dictionaries({"run": st.lists(words, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"shell": words}),
    st.fixed_dictionaries({"script": words.map(lambda text: "#!" + text)}),
    st.just({"python": PYTHON}),
    st.fixed_dictionaries({"prompt": words}, optional={"model": words}),
    st.fixed_dictionaries({"plugin": words.map(lambda text: "/" + text)}),
    st.fixed_dictionaries(
        {
            "http": st.fixed_dictionaries(
                {"url": st.just("https://h/x")}, optional={"headers": st.dictionaries(st.just("A"), words)}
            )
        }
    ),
    st.fixed_dictionaries(
        {
            "agent": st.fixed_dictionaries(
                {"prompt": words},
                optional={"model": words, "tools": st.lists(words, max_size=2), "steps": st.integers(1, 9)},
            )
        }
    ),
)
patterns = st.sampled_from(["Bash", "Edit|Write", "(?i)mcp__.*", r"a\.b", "[ab]+"])
fields = st.fixed_dictionaries(
    {},
    optional={
        "match": st.one_of(
            patterns,
            st.dictionaries(words, st.one_of(patterns, st.booleans(), st.integers(-5, 5), st.lists(patterns, min_size=1, max_size=2)), max_size=2),
        ),
        "timeout": durations,
        "on_failure": st.sampled_from(["ignore", "deny", "abort"]),
        "on_unsupported": st.sampled_from(["ignore", "deny"]),
        "mode": st.sampled_from(["sync", "background", "apply-later"]),
        "order": st.integers(-9, 9),
        "flow": st.sampled_from(["chain", "parallel"]),
        "after_deny": st.sampled_from(["stop", "always-stop", "continue"]),
        "enabled": st.booleans(),
        "description": words,
        "label": words,
        "prefix": words,
        "inject": st.sampled_from(["none", "context", "attachment", "comment", True]),
        "env": st.dictionaries(st.sampled_from(["A", "B_C", "d.e"]), words, max_size=2),
        "when": st.fixed_dictionaries(
            {}, optional={"every_n_turns": st.integers(1, 9), "agent": words, "once": st.booleans(), "debounce": durations, "cwd": st.lists(words, min_size=1)}
        ),
    },
)  # fmt: skip
events = st.lists(st.sampled_from([*EVENTS, "gemini:Odd"]), min_size=1, max_size=4)


@st.composite
def hook_tables(draw: st.DrawFn) -> dict[str, Any]:
    named = draw(st.lists(words, unique=True, max_size=4))
    return {"hook": [{"name": name, "on": draw(events), **draw(actions), **draw(fields)} for name in named]}


@settings(max_examples=100, deadline=None)
@given(tree=hook_tables())
def test_what_is_rendered_is_read_back_as_it_was(tree: dict[str, Any]) -> None:
    lookup = Lookup(project="/x")
    first = DIALECT.parse([Layer(path="/x/f.toml", name="user", syntax="toml", text="", tree=tree)], lookup)
    assert not [problem for problem in first.problems if problem.severity == "error"], first.problems
    rendered = DIALECT.render(first.specs)
    assert rendered.losses == ()
    document = parse_text("/x/f.toml", rendered.text, "toml")
    assert document.problems == ()
    layer = Layer(path="/x/f.toml", name="user", syntax="toml", text="", tree=document.tree)
    again = DIALECT.parse([layer], lookup)
    assert [_bare(spec) for spec in again.specs] == [_bare(spec) for spec in first.specs], rendered.text


def _bare(spec: HookSpec) -> HookSpec:
    return replace(spec, id="", origin=Origin(file=""))


def test_the_law_knows_every_action() -> None:
    assert {action.key for action in ACTIONS} == {
        "run",
        "shell",
        "script",
        "python",
        "http",
        "prompt",
        "agent",
        "plugin",
    }
