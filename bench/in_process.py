"""What a firing costs without any process: against one pluggy call, over many hooks, in time and in memory."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pluggy
from measure import Row, awaited, interleaved, repeated, resident, us

from hookline import Engine, hook
from hookline.core.hook import Matcher, Pattern
from hookline.core.session_facts import Facts
from hookline.engine.match import Index
from hookline.testing import event, hook_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls -l"}}


@hook("PreToolUse", match="Bash")
def hears(_event: object) -> None:
    return None


@hook("PreToolUse", match="Edit")
def deaf(_event: object) -> None:
    return None


def fire(short: bool) -> Iterator[Row]:
    loop = asyncio.new_event_loop()
    one, none = Engine(specs=(hears.spec,)), Engine(specs=(deaf.spec,))
    call = _pluggy()
    medians = interleaved(
        {
            "pluggy": repeated(lambda: call(**DATA)),
            "one, fire_sync": repeated(lambda: one.fire_sync("PreToolUse", **DATA)),
            "one, await fire": awaited(loop, lambda: one.fire("PreToolUse", **DATA)),
            "none, fire_sync": repeated(lambda: none.fire_sync("PreToolUse", **DATA)),
            "none, await fire": awaited(loop, lambda: none.fire("PreToolUse", **DATA)),
        },
        rounds=5 if short else 200,
        inner=20 if short else 100,
        clock=time.thread_time,
    )
    loop.close()
    floor = medians.pop("pluggy")
    for name, taken in medians.items():
        hooks, door = name.split(", ")
        target, aim = (10.0, 5.0) if hooks == "one" else (3.0, None)
        what = f"{door}, {'one function' if hooks == 'one' else 'no matching hook'}, against one pluggy call"
        yield Row(what=what, shown=f"{us(taken)} / {us(floor)}", value=taken / floor, target=target, aim=aim)


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """One decision without leaving the process, for the table of all doors: each does its work and gives nothing."""
    engine, call = Engine(specs=(hears.spec,)), _pluggy()

    def fired() -> None:
        engine.fire_sync("PreToolUse", **DATA)

    def called() -> None:
        call(**DATA)

    yield "in-process fire", fired
    yield "pluggy", called


def _pluggy() -> Callable[..., object]:
    wanted, given = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Wanted:
        @wanted
        def pre_tool_use(self, tool_name: str, tool_input: object) -> object: ...

    class Given:
        @given
        def pre_tool_use(self, tool_name: str, tool_input: object) -> object:  # pluggy passes by name
            return None

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Wanted)
    manager.register(Given())
    return manager.hook.pre_tool_use  # type: ignore[no-any-return]


def match(short: bool) -> Iterator[Row]:
    """Three hooks can match, whatever the number of hooks; a subject that was seen before, and one that was not."""
    facts = Facts(turn=1)
    sizes = {size: _index(size) for size in (1_000, 10_000)}
    seen = event("PreToolUse", tool_name="Wanted")
    strangers = iter([event("PreToolUse", tool_name=f"Stranger{number}") for number in range(100_000)])
    medians = interleaved(
        {
            **{f"{size} seen": repeated(lambda i=index: i.select(seen, facts)) for size, index in sizes.items()},  # type: ignore[misc]
            **{
                f"{size} new": repeated(lambda i=index: i.select(next(strangers), facts))  # type: ignore[misc]
                for size, index in sizes.items()
            },
        },
        rounds=5 if short else 30,
        inner=10 if short else 200,
        clock=time.thread_time,
    )
    for case, words in (("seen", "a subject seen before"), ("new", "a new subject")):
        small, large = medians[f"1000 {case}"], medians[f"10000 {case}"]
        yield Row(what=f"match over 10,000 hooks, {words}", shown=us(large), value=large * 1e3, unit="ms", target=1.0)
        grown = f"{us(large)} / {us(small)}"
        yield Row(what=f"  growth from 1,000 to 10,000 hooks, {words}", shown=grown, value=large / small, target=1.5)


def _index(size: int) -> Index:
    many = [
        hook_spec(f"hook-{number}", matcher=Matcher(subject=Pattern(style="full", text=f"Tool{number}|Other{number}")))
        for number in range(size - 3)
    ]
    few = [
        hook_spec("named", matcher=Matcher(subject=Pattern(style="full", text="Wanted"))),
        hook_spec("listed", matcher=Matcher(subject=Pattern(style="exact", options=("Wanted", "Also")))),
        hook_spec("searching", matcher=Matcher(subject=Pattern(style="search", text="^Wan.*d$"))),
    ]
    return Index([*many, *few])


def memory(short: bool) -> Iterator[Row]:
    fires = 2_000 if short else 50_000
    engine = Engine(specs=(hears.spec,))
    for _ in range(1_000):
        engine.fire_sync("PreToolUse", **DATA)
    before = resident()
    for _ in range(fires):
        engine.fire_sync("PreToolUse", **DATA)
    grown = max(0, resident() - before)
    yield Row(what=f"memory after {fires:,} firings", shown=f"+{grown} kB", value=grown, unit="kB", target=512)
