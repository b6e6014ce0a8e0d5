"""What is made up needs its base: registered, and with time for both."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.core.event import EVENTS
from hookline.deploy.requirements import event_needs
from hookline.engine.decorator import hook
from hookline.gateway.derived import BASES


def listening(event: str, seconds: float) -> Any:
    return hook(event, timeout=seconds)(lambda _event: None).spec


@pytest.mark.parametrize(("made_up", "bases"), BASES.items())
def test_the_base_of_what_is_hooked_is_registered(made_up: str, bases: tuple[str, ...]) -> None:
    needs = {need.event: need for need in event_needs([listening(made_up, 100)], only=[made_up])}
    assert set(needs) == {made_up, *bases}
    assert all(needs[base].seconds >= 100 for base in bases)
    assert not any(needs[base].closed for base in bases)


def test_every_base_is_an_event() -> None:
    assert set(EVENTS) >= {*BASES, *(base for bases in BASES.values() for base in bases)}


def test_time_is_for_both() -> None:
    needs = {need.event: need for need in event_needs([listening("Stop", 90), listening("AssistantMessage", 80)])}
    assert needs["Stop"].seconds >= 170
