"""Every hook there is, and ways to look at them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hookline.core.hook import Command, HookSpec, Origin, Prompt
from hookline.state.disabled import Switch
from hookline.state.record.query import HookStats
from hookline.testing import hook_spec
from hookline.tui.catalog import CatalogView, catalog, find_hooks, groups, visible_hooks


def written(name: str, event: str, file: str = "/p/a.toml", **fields: object) -> HookSpec:
    made = hook_spec(
        name, event=event, origin=Origin(file=file, pointer=f"$.{name}", layer="user"), id=f"{name}-{event}"
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # fields of the spec


GUARD = written("guard", "PreToolUse", action=Command(form="shell", text="exit 2"))
JUDGE = [
    written("judge", event, "/p/b.json", dialect="letta", action=Prompt(text="ok?")) for event in ("Stop", "PreToolUse")
]
HOOKS = catalog([GUARD, *JUDGE], stats={})


def test_one_definition_is_one_hook_whatever_it_listens_to() -> None:
    assert [(hook.name, sorted(hook.events)) for hook in HOOKS] == [
        ("guard", ["PreToolUse"]),
        ("judge", ["PreToolUse", "Stop"]),
    ]


def test_prompt_hooks_are_marked() -> None:
    assert [hook.title for hook in HOOKS] == ["guard", "✦ judge"]


@pytest.mark.parametrize(
    ("by", "keys"),
    [("event", ["", "Stop", "PreToolUse"]), ("dialect", ["", "letta", "native"]), ("source", ["", "/p/a.toml", "/p/b.json"])],
)  # fmt: skip
def test_hooks_are_browsed_by_event_dialect_and_source(by: str, keys: list[str]) -> None:
    view = CatalogView(by=by)  # type: ignore[arg-type]  # one of the three
    assert [group.key for group in groups(HOOKS, view)] == keys
    for group in groups(HOOKS, view):
        assert len(visible_hooks(HOOKS, replace(view, group=group.key))) == group.number


def test_turning_goes_round_and_leaves_the_group() -> None:
    view = CatalogView(group="Stop", words="x")
    assert [view.next_grouping().by, view.next_grouping().next_grouping().by] == ["dialect", "source"]
    assert view.next_grouping().next_grouping().next_grouping() == CatalogView(words="x")


def test_the_filter_wants_every_word_somewhere() -> None:
    assert [hook.name for hook in visible_hooks(HOOKS, CatalogView(words="LETTA stop"))] == ["judge"]
    assert visible_hooks(HOOKS, CatalogView(words="letta exit")) == ()


def test_states_are_on_off_and_switched_off() -> None:
    switch = Switch(id=GUARD.id, name="guard", file="/p/a.toml", event="PreToolUse", since=0, until=7200)
    (switched,) = catalog([GUARD], switch=lambda _spec: switch, stats={})
    (off,) = catalog([replace(GUARD, enabled=False)], stats={})
    assert (HOOKS[0].state, switched.state, off.state) == ("on", "switched off", "off")
    assert switched.state_text(0).startswith("off until ")


def test_numbers_of_all_events_come_together() -> None:
    numbers = {
        "judge-Stop": HookStats(fired=3, failures=1, last_time=10, p50=1, p95=2, last_effect="deny"),
        "judge-PreToolUse": HookStats(fired=2, failures=0, last_time=20, p50=5, p95=9, last_effect=None),
    }
    _, judge = catalog([GUARD, *JUDGE], stats=numbers)
    assert (judge.fired, judge.failures, judge.slowest) == (5, 1, (5, 9))
    assert judge.latest == numbers["judge-PreToolUse"]


def test_a_hook_is_found_by_name_or_by_the_beginning_of_an_id() -> None:
    assert find_hooks(HOOKS, "guard") == (HOOKS[0],)
    assert find_hooks(HOOKS, "judge-St") == (HOOKS[1],)
    assert find_hooks(HOOKS, "jud") == ()
