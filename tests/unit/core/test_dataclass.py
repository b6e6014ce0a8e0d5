"""To everybody but the clock, our dataclasses are dataclasses."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import pytest

from hookline.core._dataclass import dataclass, empty, fast_constructor, field, replace, swift


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    size: int = 1
    tags: list[str] = field(default_factory=list[str], repr=False)
    seen: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel(Part):
    spokes: int = 32


@dataclass(slots=True)
class Tally:
    count: int
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2 * self.count


def test_a_value_is_compared_shown_and_replaced_by_its_fields():
    part = Part(name="axle", tags=["steel"], seen=4)

    assert part == Part(name="axle", tags=["steel"])
    assert part != Part(name="axle")
    assert repr(part) == "Part(name='axle', size=1, seen=4)"
    assert replace(part, size=2) == Part(name="axle", size=2, tags=["steel"])


def test_the_standard_functions_work_on_it():
    part = Part(name="axle")

    assert dataclasses.is_dataclass(part)
    assert [one.name for one in dataclasses.fields(part)] == ["name", "size", "tags", "seen"]
    assert dataclasses.asdict(part) == {"name": "axle", "size": 1, "tags": [], "seen": 0}
    assert dataclasses.replace(part, name="hub") == Part(name="hub")


def test_a_frozen_value_stays_as_it_is():
    part = Part(name="axle")

    with pytest.raises(dataclasses.FrozenInstanceError):
        part.size = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del part.size


def test_an_heir_has_the_fields_of_both():
    assert repr(Wheel(name="front")) == "Wheel(name='front', size=1, seen=0, spokes=32)"
    assert Wheel(name="front") != Part(name="front")


def test_what_is_missing_is_a_type_error_from_the_first_instance_on():
    with pytest.raises(TypeError, match="name"):
        Wheel()  # type: ignore[call-arg]


@pytest.mark.parametrize("number", range(8))
def test_the_first_instances_are_made_as_the_later_ones(number: int):
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Value:
        name: str
        size: int = 1
        data: Any = field(default_factory=empty)

    @swift
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Swift:
        name: str
        size: int = 1
        data: Any = field(default_factory=empty)

    makers: list[Any] = [Value, fast_constructor(Value), Swift, fast_constructor(Swift)]
    for make in makers:
        for _ in range(number):
            make(name="a")
        made = make(name="a", size=2)
        assert (made.name, made.size, dict(made.data)) == ("a", 2, {})
        assert make(name="a", size=2) == made
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.size = 3
        for wrong in ({}, {"name": "a", "colour": "red"}):
            with pytest.raises(TypeError):
                make(**wrong)


def test_an_instance_is_made_by_position_from_the_first_on():
    for count in range(8):
        assert Tally(count) == Tally(count=count)
        for wrong in ((), (1, 2)):
            with pytest.raises(TypeError):
                Tally(*wrong)
        with pytest.raises(TypeError):
            Tally(1, count=2)  # type: ignore[misc]  # that is the mistake


def test_it_can_be_copied_and_pickled():
    part = Part(name="axle", tags=["steel"])

    assert copy.deepcopy(part) == part
    assert pickle.loads(pickle.dumps(part)) == part


def test_a_hash_fits_equality_and_mutable_values_have_none():
    assert hash(Part(name="a", tags=())) == hash(Part(name="a", tags=(), seen=9))  # type: ignore[arg-type]
    assert Tally(2) == Tally(2)
    assert Tally(2).twice == 4
    with pytest.raises(TypeError):
        hash(Tally(2))


def test_the_engine_is_imported_without_slow_modules_of_the_standard():
    ours = ("engine.build", "gateway.handler", "state.record.store", "state.sessions.sqlite", "cli.commands.hook")
    imports = ", ".join(f"hookline.{name}" for name in ours)
    slow = "{'dataclasses', 'inspect', 'typing', 'tomllib'}"
    # What the environment loads by itself, such as the measuring of ``make coverage``, is not ours.
    code = f"import sys; before = set(sys.modules); import {imports}; print({slow} & (set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"
