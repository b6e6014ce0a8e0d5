"""Switching hooks off by hand."""

from __future__ import annotations

import json
import os
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from hookline.core.errors import StateError
from hookline.core.hook import HookSpec, Origin
from hookline.state.disabled import Switches, why
from hookline.testing import hook_spec

GUARD = hook_spec("guard", origin=Origin(file="/p/hookline.toml", pointer="$.hook[1]"), id="place-1")
LINT = hook_spec("lint", origin=Origin(file="/p/hookline.toml", pointer="$.hook[0]"), id="place-0")


class Clock:
    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Switches:
    return Switches(str(tmp_path / "state" / "switches.json"), clock=clock)


def test_nothing_is_off_at_first_and_nothing_is_written(store: Switches, tmp_path: Path) -> None:
    assert store.off(GUARD) is None
    assert store.list() == ()
    assert not (tmp_path / "state").exists()


def test_what_is_switched_off_stays_off_for_every_process(store: Switches) -> None:
    store.switch_off([GUARD])
    elsewhere = Switches(store.path)
    assert elsewhere.off(GUARD)
    assert elsewhere.off(LINT) is None


def test_a_hook_can_be_switched_on_again(store: Switches) -> None:
    store.switch_off([GUARD, LINT])
    assert store.switch_on([GUARD]) == 1
    assert store.off(GUARD) is None
    assert store.off(LINT)
    assert store.switch_on([GUARD]) == 0


def test_off_for_an_hour_ends_after_an_hour(store: Switches, clock: Clock) -> None:
    store.switch_off([GUARD], until=clock.now + 3600)
    clock.now += 3599
    assert store.off(GUARD)
    clock.now += 1
    assert store.off(GUARD) is None
    assert store.list() == ()


def test_switching_again_replaces_the_end(store: Switches, clock: Clock) -> None:
    store.switch_off([GUARD], until=clock.now + 60)
    store.switch_off([GUARD])
    clock.now += 120
    assert len(store.list()) == 1
    assert store.off(GUARD)


def test_what_has_ended_is_forgotten_at_the_next_change(store: Switches, clock: Clock) -> None:
    store.switch_off([GUARD], until=clock.now + 1)
    clock.now += 2
    store.switch_off([LINT])
    assert [one["name"] for one in json.loads(Path(store.path).read_text())["off"]] == ["lint"]


def test_a_hook_that_moved_in_its_file_keeps_its_switch(store: Switches) -> None:
    store.switch_off([GUARD])
    moved = replace(GUARD, id="place-7", origin=Origin(file="/p/hookline.toml", pointer="$.hook[7]"))
    assert store.off(moved)


def test_a_hook_that_moves_into_the_place_of_another_does_not_inherit_its_switch(store: Switches) -> None:
    store.switch_off([LINT])
    in_its_place = replace(GUARD, id=LINT.id, origin=LINT.origin)
    assert store.off(in_its_place) is None


def test_the_same_name_in_another_file_is_another_hook(store: Switches) -> None:
    store.switch_off([LINT])
    assert store.off(replace(LINT, id="other", origin=Origin(file="/q/hookline.toml"))) is None


def test_namesakes_in_one_file_are_told_apart_by_their_place(store: Switches) -> None:
    twin = replace(LINT, id="place-4")
    store.switch_off([LINT], among=[LINT, twin, GUARD])
    assert store.off(LINT)
    assert store.off(twin) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"off": [{}]}', '{"off": 3}', "\x00" * 50, "[" * 100_000])
def test_a_broken_file_switches_nothing_off_and_says_so(store: Switches, content: str) -> None:
    os.makedirs(os.path.dirname(store.path))
    Path(store.path).write_text(content)
    Path(store.path).chmod(0o600)
    assert store.off(GUARD) is None
    assert "nothing is switched off" in store.note


def test_a_file_that_others_can_write_switches_nothing_off(store: Switches) -> None:
    store.switch_off([GUARD])
    Path(store.path).chmod(0o666)
    assert Switches(store.path).off(GUARD) is None


def test_a_fifo_in_its_place_does_not_hang_us(store: Switches) -> None:
    os.makedirs(os.path.dirname(store.path))
    os.mkfifo(store.path, 0o600)
    assert store.off(GUARD) is None


def test_the_file_is_private(store: Switches) -> None:
    store.switch_off([GUARD])
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(store.path)).st_mode) == 0o700


def test_many_at_once_lose_nothing(store: Switches) -> None:
    specs = [hook_spec(f"hook-{number}", origin=Origin(file="/p")) for number in range(12)]

    def switch(spec: HookSpec) -> None:
        Switches(store.path).switch_off([spec])

    threads = [threading.Thread(target=switch, args=[spec]) for spec in specs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.name for one in store.list()} == {spec.name for spec in specs}


def test_a_directory_that_cannot_be_made_is_a_state_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError):
        Switches(str(tmp_path / "file" / "switches.json")).switch_off([GUARD])


def test_the_person_reads_until_when_and_how_to_change_it(store: Switches, clock: Clock) -> None:
    store.switch_off([GUARD], until=clock.now + 3600)
    switch = store.off(GUARD)
    assert switch is not None
    told = why(switch, clock.now)
    assert told.startswith("switched off until ")
    assert told.endswith("; to change it: hookline hooks")
