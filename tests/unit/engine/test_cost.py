"""What hooks cost: answers that are given again, and hooks that are over the budget they state."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from tests.recording import MemoryRecorder

from hookline.core.hook import Command, CostPolicy, Function, HookSpec, Origin
from hookline.core.result import Failed, Replied, Skipped, Started
from hookline.engine.cost import FRESH, MIN_RUNS, over_budget
from hookline.engine.engine import Engine
from hookline.state.record.store import Store

ORIGIN = Origin(file="/x/hookline.toml")


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def spec_of(call: Any, event: str = "PostToolUse", **fields: Any) -> HookSpec:
    return HookSpec(
        id="h",
        name="h",
        dialect="native",
        event=event,
        origin=ORIGIN,
        action=Function(target="x:y", call=call),
        **fields,
    )


def counting() -> tuple[list[Any], Any]:
    calls: list[Any] = []

    def call(event: Any) -> dict[str, str]:
        calls.append(event.data)
        return {"context": f"answer {len(calls)}"}

    return calls, call


def fired(engine: Engine, event: str = "PostToolUse", **data: Any) -> Any:
    return engine.fire_sync(event, {"tool_name": "Bash", "tool_input": {"command": "ls"}, **data})


# ── answers that are given again ─────────────────────────────────────────────────────────────────────


def test_the_same_question_is_answered_from_memory_and_says_so() -> None:
    calls, call = counting()
    recorder = MemoryRecorder()
    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))], recorder=recorder)

    first, second = fired(engine, tool_use_id="1", session_id="a"), fired(engine, tool_use_id="2", session_id="b")

    assert len(calls) == 1
    assert first.context == second.context
    assert isinstance(second.outcomes[0], Replied)
    assert "cached" in recorder.records[1].decision.outcomes[0].error
    assert not recorder.records[0].decision.outcomes[0].error


@pytest.mark.parametrize(
    "other", [{"tool_input": {"command": "rm"}}, {"tool_name": "Read"}, {"cwd": "/tmp"}, {"permission_mode": "plan"}]
)
def test_another_question_is_asked(other: dict[str, Any]) -> None:
    calls, call = counting()
    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))])

    fired(engine)
    fired(engine, **other)

    assert len(calls) == 2


def test_an_answer_grows_old() -> None:
    calls, call = counting()
    clock = Clock()
    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))], clock=clock)

    fired(engine)
    clock.now += 9.9
    fired(engine)
    clock.now += 0.2
    fired(engine)
    clock.now -= 3600  # the clock was set back
    fired(engine)

    assert len(calls) == 3


def test_failures_are_never_kept() -> None:
    calls: list[int] = []

    def call(_event: Any) -> dict[str, str]:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("not yet")
        return {"context": "now"}

    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))])

    assert isinstance(fired(engine).outcomes[0], Failed)
    assert isinstance(fired(engine).outcomes[0], Replied)
    fired(engine)
    assert len(calls) == 2


def test_a_refusal_that_is_given_again_refuses() -> None:
    engine = Engine(
        specs=[spec_of(lambda _event: {"effect": "deny", "reason": "no"}, "PreToolUse", thrift=CostPolicy(cache=10))]
    )

    assert [fired(engine, "PreToolUse").effect for _ in range(2)] == ["deny", "deny"]


def test_a_program_that_was_changed_is_asked_again(tmp_path: Path) -> None:
    program = tmp_path / "hook.sh"

    def write(text: str) -> None:
        program.write_text(f"#!/bin/sh\necho {text}\n")
        program.chmod(0o700)

    write("one")
    spec = HookSpec(
        id="h", name="h", dialect="native", event="PostToolUse", origin=ORIGIN, thrift=CostPolicy(cache=60),
        action=Command(form="argv", argv=("./hook.sh",), base=str(tmp_path)),
    )  # fmt: skip
    engine = Engine(specs=[spec], cwd=str(tmp_path))

    outputs = [fired(engine).outcomes[0].raw, fired(engine).outcomes[0].raw]
    write("another")
    outputs.append(fired(engine).outcomes[0].raw)

    assert [raw and raw.stdout for raw in outputs] == ["one\n", None, "another\n"]


def test_what_cannot_be_written_down_is_asked_every_time() -> None:
    calls, call = counting()
    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))])

    fired(engine, odd=object())
    fired(engine, odd=object())

    assert len(calls) == 2


def test_only_so_many_answers_are_kept() -> None:
    from hookline.engine.cost import MAX_ANSWERS

    calls, call = counting()
    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))])

    for number in range(MAX_ANSWERS + 1):
        fired(engine, number=number)
    fired(engine, number=0)

    assert len(calls) == MAX_ANSWERS + 2


def test_inside_a_loop_it_is_the_same() -> None:
    calls, call = counting()
    engine = Engine(specs=[spec_of(call, thrift=CostPolicy(cache=10))])

    async def twice() -> list[Any]:
        return [await engine.fire("PostToolUse", {"tool_name": "Bash"}) for _ in range(2)]

    first, second = asyncio.run(twice())
    assert (len(calls), first.context) == (1, second.context)


# ── budgets ──────────────────────────────────────────────────────────────────────────────────────────


def slow(_event: Any) -> dict[str, str]:
    time.sleep(0.005)
    return {"context": "slow"}


LATE = 0.001


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "hookline.db"))


@pytest.mark.parametrize("recorded", [True, False])
def test_a_hook_over_its_budget_is_skipped_where_it_asks_for_that(store: Store, recorded: bool) -> None:
    more: dict[str, Any] = {"recorder": store} if recorded else {}
    clock = Clock()
    with Engine(
        specs=[spec_of(slow, thrift=CostPolicy(budget=LATE, over_budget="skip"))], clock=clock, **more
    ) as engine:
        for _ in range(MIN_RUNS):
            assert isinstance(fired(engine).outcomes[0], Replied)
            clock.now += 10

        skipped = fired(engine).outcomes[0]
        event = engine.event("PostToolUse", {"tool_name": "Bash"})
        explained = engine.explain(event)[0].why

        assert isinstance(skipped, Skipped)
        assert "over its budget of 1 ms" in skipped.error
        assert "over its budget" in explained
        # It is not left out for ever: what it took an hour ago says nothing any more.
        clock.now += FRESH
        assert isinstance(fired(engine).outcomes[0], Replied)


def test_a_hook_over_its_budget_goes_to_the_background_and_back(store: Store) -> None:
    pauses = [0.55] * MIN_RUNS

    def call(_event: Any) -> dict[str, str]:
        time.sleep(pauses.pop() if pauses else 0)
        return {"context": "x"}

    clock = Clock()
    spec = spec_of(call, thrift=CostPolicy(budget=0.5, over_budget="background"))
    with Engine(specs=[spec], recorder=store, clock=clock) as engine:
        for _ in range(MIN_RUNS):
            fired(engine)
            clock.now += 6
        started = fired(engine).outcomes[0]
        engine.join()
        from hookline.state.record.query import firings, load_runs

        last = firings(store, last=1)[0].number
        run = load_runs(store, [last])[last][0]

        assert isinstance(started, Started)
        assert "in the background: over its budget" in started.error
        assert (run.status, "over its budget" in run.error) == ("replied", True)
        for _ in range(25):
            clock.now += 6
            fired(engine)
            engine.join()
        assert isinstance(fired(engine).outcomes[0], Replied)


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "PreToolUse", "thrift": CostPolicy(budget=LATE, over_budget="skip")},
        {"event": "PreToolUse", "thrift": CostPolicy(budget=LATE, over_budget="background")},
        {"on_failure": "deny", "thrift": CostPolicy(budget=LATE, over_budget="skip")},
        {"on_failure": "abort", "thrift": CostPolicy(budget=LATE, over_budget="background")},
        {"thrift": CostPolicy(budget=LATE)},
    ],
)
def test_a_guard_runs_whatever_it_costs(fields: dict[str, Any]) -> None:
    engine = Engine(specs=[spec_of(slow, **fields)])

    outcomes = [fired(engine, fields.get("event", "PostToolUse")).outcomes[0] for _ in range(MIN_RUNS + 2)]

    assert all(isinstance(one, Replied) for one in outcomes)


def test_few_runs_say_nothing_and_one_outlier_in_twenty_neither() -> None:
    spec = spec_of(slow, thrift=CostPolicy(budget=0.05))

    assert over_budget(spec, [900.0] * (MIN_RUNS - 1)) == ""
    assert over_budget(spec, [10.0] * 19 + [900.0]) == ""
    assert over_budget(spec, [10.0] * 18 + [900.0] * 2) == "over its budget of 50 ms: 95 of 100 runs took up to 900 ms"
