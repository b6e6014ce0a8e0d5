"""Law 2: each hook of a chain sees the data as the one before left them; the later wins, and that is reported."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookline import Engine
from hookline.core.event import COMMON_FIELDS, EVENTS
from hookline.core.result import Conflict, Replied, Reply
from hookline.engine import fold
from hookline.engine.fold import GONE, diff, graft
from hookline.testing import FakeCrew, hook_spec

KIND = EVENTS["PreToolUse"]
KEYS = st.sampled_from(["command", "path", "flags", "cwd"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab", max_size=3), st.just([1, {"a": 2}]))
TREES = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8)
OBJECTS = st.dictionaries(KEYS, TREES, max_size=4)


def rewriter(name: str, change, **fields):
    """A hook that answers with a changed tool_input, and remembers the one it was given."""
    seen: list[Any] = []

    def call(event):
        seen.append(event.data["tool_input"])
        return {"data": {"tool_input": change(event.data["tool_input"])}}

    return hook_spec(name, call, **fields), seen


@given(OBJECTS, st.lists(st.tuples(KEYS, LEAVES), min_size=1, max_size=4))
def test_each_hook_of_a_chain_sees_the_data_as_left_by_the_one_before(start, steps):
    made = [
        rewriter(f"hook-{number}", lambda old, k=key, v=leaf: {**old, k: v}) for number, (key, leaf) in enumerate(steps)
    ]
    decision = Engine(specs=tuple(spec for spec, _ in made)).fire_sync("PreToolUse", tool_name="X", tool_input=start)
    expected = start
    for (key, leaf), (_, seen) in zip(steps, made, strict=True):
        assert seen == [expected]
        expected = {**expected, key: leaf}
    assert decision.data["tool_input"] == expected


@given(KEYS, st.integers(), st.integers())
def test_two_hooks_that_change_the_same_leaf_are_a_conflict_and_the_later_wins(key, one, other):
    first, _ = rewriter("first", lambda old: {**old, key: ["first", one]})
    second, _ = rewriter("second", lambda old: {**old, key: ["second", other]})
    decision = Engine(specs=(first, second)).fire_sync("PreToolUse", tool_name="X", tool_input={})
    assert decision.data["tool_input"][key] == ["second", other]
    assert decision.conflicts == (Conflict(pointer=f"tool_input.{key}", first="first", second="second"),)


@given(OBJECTS, LEAVES, LEAVES)
def test_parallel_hooks_that_change_different_leaves_both_survive(start, one, other):
    first, _ = rewriter("first", lambda old: {**old, "command": [one]}, flow="parallel")
    second, _ = rewriter("second", lambda old: {**old, "path": [other]}, flow="parallel")
    state = fold.begin(KIND, {"tool_input": start})
    for spec, answer in ((first, {**start, "command": [one]}), (second, {**start, "path": [other]})):
        outcome = Replied(id=spec.id, hook=spec.name, reply=Reply(data={"tool_input": answer}))
        state = fold.step(state, spec, outcome, seen={"tool_input": start})
    decision = fold.finish(state, ())
    assert decision.data == {"tool_input": {**start, "command": [one], "path": [other]}}
    assert decision.conflicts == ()


def test_parallel_rewrites_survive_at_the_engine_too():
    crew = FakeCrew({"a": {"data": {"tool_input": {"x": 1, "y": 0}}}, "b": {"data": {"tool_input": {"x": 0, "y": 1}}}})
    specs = tuple(hook_spec(name, flow="parallel") for name in "ab")
    decision = Engine(specs=specs, crew=crew).fire_sync("PreToolUse", tool_name="X", tool_input={"x": 0, "y": 0})
    assert decision.data["tool_input"] == {"x": 1, "y": 1}


@given(OBJECTS)
def test_an_answer_that_changes_nothing_is_no_modification(start):
    spec, _ = rewriter("same", dict)
    decision = Engine(specs=(spec,)).fire_sync("PreToolUse", tool_name="X", tool_input=start)
    assert not decision.modified
    assert decision.conflicts == ()


@given(st.sampled_from(sorted(EVENTS)), st.data())
def test_read_only_fields_are_restored_and_the_attempt_is_noted(name, data):
    kind = EVENTS[name]
    fixed = [field for field in (*kind.fields, *COMMON_FIELDS) if field not in kind.modifies]
    field = data.draw(st.sampled_from(fixed))
    spec = hook_spec("meddler", event=name)
    outcome = Replied(id=spec.id, hook=spec.name, reply=Reply(data={field: "meddled"}))
    decision = fold.finish(fold.step(fold.begin(kind, {field: "true"}), spec, outcome), [outcome])
    assert decision.data == {field: "true"}
    assert not decision.modified
    assert [note.hook for note in decision.ignored] == ["meddler"]


def test_what_is_refused_is_not_rewritten():
    crew = FakeCrew({"a": {"data": {"tool_input": {"x": 1}}}, "b": {"effect": "deny", "reason": "no"}})
    engine = Engine(specs=(hook_spec("a"), hook_spec("b")), crew=crew)
    decision = engine.fire_sync("PreToolUse", tool_name="X", tool_input={"x": 0})
    assert (decision.effect, decision.modified, decision.data["tool_input"]) == ("deny", False, {"x": 0})


@given(OBJECTS, OBJECTS)
def test_the_changes_between_two_trees_turn_the_one_into_the_other(before, after):
    tree: dict[str, Any] = {"root": before}
    for path, leaf in diff(before, after, ("root",)):
        tree = graft(tree, path, leaf)
    assert tree == {"root": after}


@given(OBJECTS)
def test_a_tree_does_not_differ_from_itself(tree):
    assert list(diff(tree, tree, ())) == []


@given(OBJECTS, KEYS, LEAVES)
def test_grafting_never_changes_the_tree_it_was_given(tree, key, leaf):
    before = repr(tree)
    graft(tree, (key, "deep"), leaf)
    graft(tree, (key,), GONE)
    assert repr(tree) == before
