"""What an agent must be registered for, and how long it waits: only what hooks need, and time for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.core._dataclass import replace
from hookline.core.agents import AGENTS
from hookline.core.event import EVENTS
from hookline.core.hook import Gates
from hookline.engine.decorator import hook
from hookline.gateway.derived import BASES
from hookline.gateway.handler import answer_seconds
from hookline.gateway.required_events import event_reasons

CLAUDE, CODEX, LETTA = AGENTS["claude-code"], AGENTS["codex"], AGENTS["letta-code"]


def listening(event: str, seconds: float | None = 60, **gates: Any) -> Any:
    made = hook(event)(lambda _event: None).spec
    return replace(made, name="mine", timeout=seconds, gates=Gates(**gates))


@pytest.mark.parametrize(("derived", "bases"), BASES.items())
def test_the_base_of_what_is_hooked_is_registered(derived: str, bases: tuple[str, ...]) -> None:
    assert set(event_reasons([listening(derived)], CODEX)) == {derived, *bases}


def test_an_agent_that_fires_failures_itself_needs_no_base_for_them() -> None:
    assert set(event_reasons([listening("PostToolUseFailure")], CLAUDE)) == {"PostToolUseFailure"}


def test_every_base_is_an_event() -> None:
    assert set(EVENTS) >= {*BASES, *(base for bases in BASES.values() for base in bases)}


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "UserPromptSubmit"])
def test_a_guard_is_reported_on_when_a_session_begins(event: str) -> None:
    assert set(event_reasons([listening(event)], CLAUDE)) == {event, "SessionStart"}


@pytest.mark.parametrize(
    "gates", [{"every_n_turns": 2}, {"min_turn": 3}, {"needs_turn": True}, {"message_contains": ("deploy",)}]
)
def test_turns_are_counted_where_a_hook_asks_for_them(gates: dict[str, Any]) -> None:
    found = event_reasons([listening("PostToolUse", **gates)], CLAUDE)
    assert found == {"UserPromptSubmit": ("to count turns for hook mine",), "PostToolUse": ("hook mine",)}


def test_an_agent_whose_stop_does_not_say_that_it_was_sent_on_is_asked_for_its_turns() -> None:
    assert set(event_reasons([listening("Stop")], CLAUDE)) == {"Stop"}
    assert set(event_reasons([listening("Stop")], LETTA)) == {"Stop", "UserPromptSubmit"}


def test_hooks_that_are_off_or_for_another_agent_need_nothing() -> None:
    assert event_reasons([replace(listening("Stop"), enabled=False), listening("Stop", agent=("codex",))], CLAUDE) == {}


def test_there_is_time_for_all_hooks_of_an_event_and_for_those_derived_from_it() -> None:
    assert answer_seconds([listening("Stop", 90), listening("AssistantMessage", 80)], "Stop", "claude-code") >= 170


@pytest.mark.parametrize(
    ("event", "seconds", "given", "expected"),
    [
        ("Stop", 1.0, 0.0, 60.0), ("Stop", 5000.0, 0.0, 599.0), ("Stop", None, 0.0, 599.0), ("Stop", 300.0, 40.0, 40.0),
        ("SessionEnd", 300.0, 0.0, 59.0),
    ],
)  # fmt: skip
def test_the_answer_comes_before_the_agent_gives_up(
    event: str, seconds: float | None, given: float, expected: float
) -> None:
    assert answer_seconds([listening(event, seconds)], event, "claude-code", given) == expected
