from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from tests.patience import alive
from tests.recording import MemoryRecorder

from hookline import Engine
from hookline.core.hook import AgentRun, Command, FieldTest, Gates, Matcher, Pattern
from hookline.core.result import Blocked, Failed, Replied, RunResult, Skipped, Started
from hookline.engine import fold
from hookline.testing import FakeCrew, event, hook_spec

DENY = {"effect": "deny", "reason": "no"}
_BLOCK = Blocked(reason="untrusted", message="not trusted")


def statuses(decision) -> list[tuple[str, type]]:
    return [(outcome.hook, type(outcome)) for outcome in decision.outcomes]


# ── both doors ───────────────────────────────────────────────────────────────────────────────────────


def test_both_doors_decide_alike():
    specs = (hook_spec("a", lambda _e: {"context": "hello"}), hook_spec("b", lambda _e: DENY), hook_spec("c"))
    sync = Engine(specs=specs).fire_sync("PreToolUse", tool_name="Bash")
    under_a_loop = asyncio.run(Engine(specs=specs).fire("PreToolUse", tool_name="Bash"))
    untimed = [replace(d, outcomes=tuple(replace(o, ms=0, raw=None) for o in d.outcomes)) for d in (sync, under_a_loop)]
    assert untimed[0] == untimed[1]
    assert statuses(sync) == [("a", Replied), ("b", Replied), ("c", Skipped)]


def test_data_may_be_given_as_a_mapping_and_as_fields_and_fields_win():
    decision = Engine().fire_sync("PreToolUse", {"tool_name": "Bash", "x": 1}, x=2)
    assert decision.data == {"tool_name": "Bash", "x": 2}


def test_a_field_may_be_called_name():
    assert Engine().fire_sync("variable.set", {"name": "EDITOR", "data": 1}).data == {"name": "EDITOR", "data": 1}


def test_an_event_that_nobody_hears_is_allowed_granted_by_nobody_and_counted():
    engine = Engine()
    decision = engine.fire_sync("UserPromptSubmit", prompt="hi", session_id="s")
    assert (decision.effect, decision.granted, decision.outcomes) == ("allow", False, ())
    assert engine.sessions.peek("s", "Stop").turn == 1


def test_an_event_that_nobody_hears_is_recorded_all_the_same():
    recorder = MemoryRecorder()
    Engine(recorder=recorder).fire_sync("PreToolUse", tool_name="Bash")
    assert [record.decision.event for record in recorder.records] == ["PreToolUse"]


def test_a_function_gets_the_event_with_what_its_session_knows():
    seen: list[Any] = []
    engine = Engine(specs=(hook_spec("see", seen.append),), agent="codex", cwd="/work", clock=lambda: 5.0)
    engine.fire_sync("UserPromptSubmit", prompt="one", session_id="s")
    engine.fire_sync("PreToolUse", tool_name="Bash", session_id="s", role="admin")
    (happening,) = seen
    assert (happening.session, happening.turn, happening.generation, happening.agent) == ("s", 1, 1, "codex")
    assert (happening.role, happening.cwd, happening.time) == ("admin", "/work", 5.0)


def test_a_coroutine_function_runs_at_both_doors():
    async def refuse(_event):
        await asyncio.sleep(0)
        return DENY

    specs = (hook_spec("refuse", refuse),)
    assert Engine(specs=specs).fire_sync("PreToolUse", tool_name="X").effect == "deny"
    assert asyncio.run(Engine(specs=specs).fire("PreToolUse", tool_name="X")).effect == "deny"


def test_specs_that_share_an_id_are_still_told_apart():
    one = hook_spec("same", lambda _e: {"effect": "allow", "reason": "one"}, flow="parallel")
    other = hook_spec("same", lambda _e: {"effect": "allow", "reason": "two"}, flow="parallel")
    assert Engine(specs=(one, other)).fire_sync("PreToolUse", tool_name="X").reason == "one\ntwo"


# ── background, detached, apply later ────────────────────────────────────────────────────────────────


def test_a_background_hook_is_started_joined_and_recorded_as_it_ended():
    go, recorder = threading.Event(), MemoryRecorder()
    engine = Engine(specs=(hook_spec("slow", lambda _e: go.wait(60) and None, mode="background"),), recorder=recorder)
    decision = engine.fire_sync("PreToolUse", tool_name="X")
    assert statuses(decision) == [("slow", Started)]
    go.set()
    assert [(spec.name, type(outcome)) for spec, outcome in engine.join()] == [("slow", Replied)]
    assert engine.join() == ()
    assert statuses(recorder.records[0].decision) == [("slow", Replied)]


def test_nobody_waits_for_an_agent_that_takes_notes_while_the_session_goes_on():
    go = threading.Event()

    class Waiting:
        def run(self, _job: Any) -> RunResult:
            return RunResult(exit_code=0) if go.wait(60) else RunResult(error="nobody let it go on")

        def close(self) -> None: ...

    class Crew(FakeCrew):
        def __getitem__(self, _action: Any) -> Any:
            return Waiting()

    scribe = hook_spec("scribe", mode="background", event="Stop", action=AgentRun(prompt="p"))
    with Engine(specs=(scribe,), crew=Crew({})) as engine:
        assert statuses(engine.fire_sync("Stop", session_id="s")) == [("scribe", Started)]
        assert engine.join("s", leave="running") == ()
        engine.fire_sync("RunEnd", session_id="s")
        go.set()
        assert [(spec.name, type(outcome)) for spec, outcome in engine.join("s")] == [("scribe", Replied)]


@pytest.mark.parametrize(("on_failure", "effect"), [("abort", "deny"), ("ignore", "allow"), ("deny", "allow")])
def test_a_background_failure_can_still_end_the_run_but_not_deny_what_went_on(on_failure, effect):
    crew = FakeCrew({"slow": RunResult(error="broke")})
    engine = Engine(specs=(hook_spec("slow", mode="background", on_failure=on_failure),), crew=crew)
    decision = fold.amend(engine.fire_sync("PreToolUse", tool_name="X"), engine.join())
    assert decision.effect == effect
    assert (decision.aborted is not None) == (on_failure == "abort")
    assert statuses(decision) == [("slow", Failed)]


def test_the_end_of_a_run_sees_the_failures_of_its_background_hooks():
    seen: list[Any] = []
    specs = (
        hook_spec("slow", mode="background", on_failure="abort"),
        hook_spec("end", event="RunEnd"),
    )
    crew = FakeCrew({"slow": RunResult(error="broke"), "end": lambda job: seen.append(job.event.data)})
    engine = Engine(specs=specs, crew=crew)
    engine.fire_sync("PreToolUse", tool_name="X", session_id="s")
    engine.fire_sync("RunEnd", status="success", session_id="s")
    assert [(data["status"], data["error_message"]) for data in seen] == [("error", "broke")]


def test_a_late_answer_is_applied_while_it_is_current():
    specs = (hook_spec("late", event="prompt.render", mode="apply-later"),)
    engine = Engine(specs=specs, crew=FakeCrew({"late": {"data": {"prompt": "> "}}}))
    assert statuses(engine.fire_sync("prompt.render", prompt="$ ")) == [("late", Started)]
    engine.join()
    assert [(one.hook, one.data) for one in engine.applied_now()] == [("late", {"prompt": "> "})]


def test_a_stale_answer_is_recorded_and_dropped():
    gates = {1: threading.Event(), 2: threading.Event()}
    recorder = MemoryRecorder()

    def late(job):
        assert gates[job.event.generation].wait(60)
        return {"data": {"prompt": str(job.event.generation)}}

    engine = Engine(
        specs=(hook_spec("late", event="prompt.render", mode="apply-later"),),
        crew=FakeCrew({"late": late}),
        recorder=recorder,
    )
    engine.fire_sync("prompt.render", prompt="$ ", session_id="s")
    engine.fire_sync("prompt.render", prompt="$ ", session_id="s")
    for gate in gates.values():
        gate.set()
    engine.join()
    assert [one.data for one in engine.applied_now()] == [{"prompt": "2"}]
    assert recorder.records[0].decision.outcomes[0].error == "stale result dropped"


def test_late_answers_do_not_pile_up():
    engine = Engine(specs=(hook_spec("late", event="prompt.render", mode="apply-later"),))
    for _ in range(3):
        engine.fire_sync("prompt.render", prompt="$ ")
    until(lambda: not engine._executor._running)


def test_at_a_door_without_a_live_object_a_late_hook_is_let_go_of():
    crew = FakeCrew()
    engine = Engine(specs=(hook_spec("late", event="prompt.render", mode="apply-later"),), crew=crew, live=False)
    assert statuses(engine.fire_sync("prompt.render", prompt="$ ")) == [("late", Started)]
    assert (len(crew.runner.started), crew.runner.ran) == (1, [])


def test_late_answers_come_out_of_applied():
    async def main():
        engine = Engine(
            specs=(hook_spec("late", event="prompt.render", mode="apply-later"),),
            crew=FakeCrew({"late": {"data": {"prompt": "> "}}}),
        )
        await engine.fire("prompt.render", prompt="$ ")
        return (await anext(engine.applied())).data

    assert asyncio.run(main()) == {"prompt": "> "}


# ── explaining is firing ─────────────────────────────────────────────────────────────────────────────


def test_what_is_explained_is_what_happens():
    specs = (
        hook_spec("runs"),
        hook_spec("other tool", matcher=Matcher(subject=Pattern(style="full", text="Edit"))),
        hook_spec("other field", matcher=Matcher(fields=(FieldTest(path="tool_name", equals="Edit"),))),
        hook_spec("later", gates=Gates(min_turn=5)),
        hook_spec("once", gates=Gates(once_per_session=True)),
        hook_spec("blocked"),
        hook_spec("undecided", matcher=Matcher(subject=Pattern(style="full", text="("))),
    )
    engine = Engine(specs=specs, blocked=lambda spec: _BLOCK if spec.name == "blocked" else None)
    for _ in range(2):
        would = [
            one.spec.name for one in engine.explain(engine.event("PreToolUse", {"tool_name": "Bash"})) if not one.why
        ]
        did = engine.fire_sync("PreToolUse", tool_name="Bash")
        assert would == [outcome.hook for outcome in did.outcomes if isinstance(outcome, Replied)]


def test_explaining_takes_nothing_and_counts_nothing():
    engine = Engine(specs=(hook_spec("once", gates=Gates(once_per_session=True)),))
    before = engine.sessions.peek("", "PreToolUse")
    for _ in range(3):
        assert [one.why for one in engine.explain(engine.event("PreToolUse", {}))] == [""]
    assert engine.sessions.peek("", "PreToolUse") == before


@pytest.mark.parametrize(("counts", "kind"), [(True, Failed), (False, Skipped)])
def test_a_blocked_hook_does_not_run_and_counts_as_failed_if_it_had_been_trusted(counts, kind):
    crew = FakeCrew()
    engine = Engine(
        specs=(hook_spec("h", on_failure="deny"),),
        crew=crew,
        blocked=lambda _spec: replace(_BLOCK, counts_as_failure=counts),
    )
    decision = engine.fire_sync("PreToolUse", tool_name="X")
    assert statuses(decision) == [("h", kind)]
    assert decision.effect == ("deny" if counts else "allow")
    assert crew.runner.ran == []


# ── claims, modes, continuations ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("gates", "times", "ran"),
    [
        (Gates(once_per_session=True), [0, 1, 1000], 1),
        (Gates(debounce=10), [0, 5, 9.9, 10.5, 30], 3),
        (Gates(max_per_minute=2), [0, 1, 2, 3, 61, 62], 4),
    ],
)
def test_claims_are_taken_by_the_clock(gates, times, ran):
    now = [0.0]
    crew = FakeCrew()
    engine = Engine(specs=(hook_spec("h", gates=gates),), crew=crew, clock=lambda: now[0])
    for moment in times:
        now[0] = 1_000_000 + moment
        engine.fire_sync("PreToolUse", tool_name="X", session_id="s")
    assert len(crew.runner.ran) == ran


def test_a_claim_is_per_session():
    crew = FakeCrew()
    engine = Engine(specs=(hook_spec("h", gates=Gates(once_per_session=True)),), crew=crew)
    for session in ("a", "b", "a"):
        engine.fire_sync("PreToolUse", tool_name="X", session_id=session)
    assert len(crew.runner.ran) == 2


def test_a_claim_that_comes_first_is_taken_although_another_gate_holds_the_hook():
    gates = Gates(once_per_session=True, claim_first=True, message_contains=("deploy",))
    crew = FakeCrew()
    engine = Engine(specs=(hook_spec("h", event="UserPromptSubmit", gates=gates),), crew=crew)
    engine.fire_sync("UserPromptSubmit", prompt="hello")
    engine.fire_sync("UserPromptSubmit", prompt="deploy")
    assert crew.runner.ran == []


def test_a_session_mode_is_passed_on_inside_the_chain_and_kept_for_the_next_event():
    modes = []
    crew = FakeCrew({"set": {"attributes": {"mode": "plan"}}, "see": lambda job: modes.append(job.event.mode)})
    engine = Engine(specs=(hook_spec("set"), hook_spec("see"), hook_spec("see", event="Stop")), crew=crew)
    decision = engine.fire_sync("PreToolUse", tool_name="X", session_id="s")
    engine.fire_sync("Stop", session_id="s")
    engine.fire_sync("Stop", session_id="other")
    assert modes == ["plan", "plan", ""]
    assert decision.attributes == {"mode": "plan"}


def test_a_stop_is_sent_back_eight_times_and_then_allowed_until_the_next_prompt():
    engine = Engine(specs=(hook_spec("again", lambda _e: DENY, event="Stop"),))
    effects = [engine.fire_sync("Stop", session_id="s").effect for _ in range(9)]
    assert effects == ["deny"] * 8 + ["allow"]
    engine.fire_sync("UserPromptSubmit", prompt="go", session_id="s")
    assert engine.fire_sync("Stop", session_id="s").effect == "deny"


def test_the_caller_may_know_better_how_often_it_was_sent_back():
    engine = Engine(specs=(hook_spec("again", lambda _e: DENY, event="Stop"),))
    assert engine.fire_sync("Stop", continuations=8).effect == "allow"


def test_turns_are_counted_from_a_history_that_comes_with_the_event():
    seen: list[Any] = []
    engine = Engine(specs=(hook_spec("see", seen.append, event="Stop"),))
    history = [
        {"role": "user", "text": "one"},
        {"role": "assistant", "text": "ok"},
        {"role": "user", "text": "auto", "meta": {"auto_submit": True}},
        {"role": "user", "text": "two"},
    ]
    engine.fire_sync("Stop", history=history)
    assert seen[0].turn == 2


# ── ending ───────────────────────────────────────────────────────────────────────────────────────────


def until(holds) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_cancelled_fire_leaves_nothing_of_its_hook_running(tmp_path):
    marker = tmp_path / "pids"
    text = f"echo $$ > {marker}.new; sleep 300 & echo $! >> {marker}.new; mv {marker}.new {marker}; wait"
    spec = hook_spec("sleeper", action=Command(form="shell", text=text))

    async def main():
        with Engine(specs=(spec,), cwd=str(tmp_path)) as engine:
            firing = asyncio.create_task(engine.fire("PreToolUse", tool_name="X"))
            await asyncio.to_thread(until, marker.exists)
            firing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await firing
            pids = [int(word) for word in marker.read_text().split()]
            await asyncio.to_thread(until, lambda: not any(alive(pid) for pid in pids))

    asyncio.run(main())


def test_closing_ends_background_hooks_and_closes_what_it_was_given(tmp_path):
    spec = hook_spec("sleeper", mode="background", action=Command(form="shell", text="sleep 300"))
    began = time.monotonic()
    with Engine(specs=(spec,), cwd=str(tmp_path)) as engine:
        engine.fire_sync("PreToolUse", tool_name="X")
    assert time.monotonic() - began < 45


def test_an_event_made_beforehand_is_fired_as_it_stands():
    seen: list[Any] = []
    engine = Engine(specs=(hook_spec("see", seen.append),))
    happening = event("PreToolUse")
    engine.fire_event(happening)
    asyncio.run(engine.fire_event_async(happening))
    assert [(one.session, one.time, one.generation) for one in seen] == [
        (happening.session, happening.time, 1),
        (happening.session, happening.time, 2),
    ]


# ── functions in turn ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("speaks", range(4))
def test_functions_are_called_in_turn_up_to_a_refusal_wherever_it_stands(speaks: int) -> None:
    called: list[int] = []

    def answer(number: int) -> Any:
        def judge(_event: object) -> Any:
            called.append(number)
            return DENY if number == speaks else None

        return judge

    engine = Engine(specs=tuple(hook_spec(f"h{number}", answer(number)) for number in range(4)))
    for _ in range(2):
        called.clear()
        decision = engine.fire_sync("PreToolUse", tool_name="Bash")
        assert called == [*range(speaks + 1)]
        assert statuses(decision) == [(f"h{n}", Replied if n <= speaks else Skipped) for n in range(4)]
        assert decision.effect == "deny"


def test_a_function_after_a_rewrite_is_given_what_was_rewritten() -> None:
    seen: list[Any] = []
    rewrite = hook_spec("rewrite", lambda _event: {"data": {"tool_input": {"command": "ls"}}})
    specs = (hook_spec("before"), rewrite, hook_spec("after", lambda event: seen.append(event.data["tool_input"])))
    Engine(specs=specs).fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "rm"})
    assert seen == [{"command": "ls"}]


def test_each_function_in_turn_has_its_own_time() -> None:
    late = replace(hook_spec("late", lambda _event: time.sleep(5)), timeout=0.05, on_failure="deny")
    started = time.monotonic()
    decision = Engine(specs=(hook_spec("before"), late, hook_spec("after"))).fire_sync("PreToolUse", tool_name="Bash")
    assert [type(one).__name__ for one in decision.outcomes] == ["Replied", "TimedOut", "Skipped"]
    assert decision.outcomes[1].error == "timed out after 0.05 s"
    assert time.monotonic() - started < 60  # in a thread of its own the sleep itself cannot be interrupted


def test_a_block_among_functions_is_asked_for_each_of_them() -> None:
    called: list[str] = []
    specs = (
        hook_spec("a", lambda _event: called.append("a")), hook_spec("b", lambda _event: called.append("b")),
        hook_spec("c", lambda _event: called.append("c")),
    )  # fmt: skip
    engine = Engine(specs=specs, blocked=lambda spec: _BLOCK if spec.name == "b" else None)
    assert [type(one) for one in engine.fire_sync("PreToolUse", tool_name="Bash").outcomes] == [
        Replied,
        Skipped,
        Replied,
    ]
    assert called == ["a", "c"]
