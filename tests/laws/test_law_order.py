"""Law 6: reports are in declared order, whatever finished first; and what runs is chosen in that order."""

from __future__ import annotations

import asyncio
import itertools
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import Engine
from hookline.core.event import Event, event_kind
from hookline.core.hook import Gates, HookSpec, Matcher, Pattern
from hookline.core.session_facts import Facts
from hookline.engine.match import Index, in_order
from hookline.testing import event, hook_spec

PATTERNS = st.sampled_from(
    [
        Pattern(),
        Pattern(style="full", text="Bash"),
        Pattern(style="full", text="Edit|Write"),
        Pattern(style="search", text="a.*h"),
        Pattern(style="exact", options=("Bash", "Read")),
        Pattern(style="glob", text="mcp__*"),
    ]
)
TOOLS = st.sampled_from(["Bash", "Edit", "Write", "Read", "apply_patch", "mcp__a__b", ""])


@st.composite
def hook_sets(draw: st.DrawFn) -> list[HookSpec]:
    return [
        hook_spec(
            f"hook-{number}",
            event=draw(st.sampled_from(["PreToolUse", "PostToolUse"])),
            order=draw(st.integers(-1, 1)),
            phase=draw(st.integers(-1, 1)),
            dialect=draw(st.sampled_from(["native", "lectic"])),
            enabled=draw(st.booleans()),
            gates=draw(st.sampled_from([Gates(), Gates(min_turn=2)])),
            matcher=Matcher(subject=draw(PATTERNS)),
        )
        for number in range(draw(st.integers(0, 8)))
    ]


@given(hook_sets(), TOOLS, st.integers(0, 3))
def test_what_is_selected_is_a_subset_in_running_order(specs, tool, turn):
    happening = event("PreToolUse", tool_name=tool)
    index = Index(specs)
    chosen = index.select(happening, Facts(turn=turn)).chosen
    listening = index.listening("PreToolUse")
    assert [spec for spec in listening if spec in chosen] == list(chosen)
    assert all(spec.enabled and spec.event == "PreToolUse" for spec in chosen)


@given(hook_sets(), TOOLS, st.integers(0, 3))
def test_selecting_and_explaining_agree_on_every_hook(specs, tool, turn):
    happening, facts = event("PreToolUse", tool_name=tool), Facts(turn=turn)
    index = Index(specs)
    selection = index.select(happening, facts)
    held = selection.held or {}
    runs = {spec.id for spec in selection.chosen if spec.id not in held}
    assert runs == {spec.id for spec in index.listening("PreToolUse") if not index.why_not(spec, happening, facts)}


@given(hook_sets())
def test_declared_order_is_moved_only_by_order_and_by_phase_among_neighbours_of_a_dialect(specs):
    ordered = in_order(specs)
    assert sorted(map(id, ordered)) == sorted(map(id, specs))
    at = {spec.id: position for position, spec in enumerate(specs)}
    for one, other in itertools.pairwise(ordered):
        assert one.order <= other.order
        if one.order == other.order and at[one.id] > at[other.id]:
            between = specs[at[other.id] : at[one.id] + 1]
            assert one.phase < other.phase
            assert len({spec.dialect for spec in between}) == 1


@given(st.permutations(range(4)))
@settings(max_examples=24, deadline=None)
def test_parallel_hooks_are_reported_in_declared_order_whatever_finished_first(finishing):
    """Each hook waits for the one that must finish before it: the order is forced, not slept for."""
    done = [threading.Event() for _ in finishing]
    before = {now: earlier for earlier, now in itertools.pairwise(finishing)}

    def hook(number: int):
        def call(_event: Event):
            if number in before:
                assert done[before[number]].wait(60)
            done[number].set()
            return {"effect": "allow", "reason": str(number), "context": str(number)}

        return hook_spec(f"hook-{number}", call, flow="parallel")

    decision = Engine(specs=tuple(hook(number) for number in range(4))).fire_sync("PreToolUse", tool_name="X")
    assert [outcome.hook for outcome in decision.outcomes] == [f"hook-{number}" for number in range(4)]
    assert decision.reason == "0\n1\n2\n3"
    assert [injected.context.text for injected in decision.context] == list("0123")


def test_under_a_loop_too_reports_are_in_declared_order():
    async def main():
        last = asyncio.Event()

        async def slow(_event):
            await last.wait()
            return {"effect": "allow", "reason": "slow"}

        async def quick(_event):
            last.set()
            return {"effect": "allow", "reason": "quick"}

        specs = (hook_spec("slow", slow, flow="parallel"), hook_spec("quick", quick, flow="parallel"))
        return await Engine(specs=specs).fire("PreToolUse", tool_name="X")

    decision = asyncio.run(main())
    assert [outcome.hook for outcome in decision.outcomes] == ["slow", "quick"]
    assert decision.reason == "slow\nquick"


def test_an_event_without_a_row_is_carried():
    assert event_kind("gemini:Odd").name == "gemini:Odd"
    decision = Engine(specs=(hook_spec("odd", event="gemini:Odd"),)).fire_sync("gemini:Odd", a=1)
    assert [outcome.hook for outcome in decision.outcomes] == ["odd"]
