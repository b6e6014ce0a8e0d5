"""Medians of variants that are measured turn by turn in one run, so that a noisy neighbour meets them all alike."""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Mapping

#: Seconds to wait for the others on this machine, and the share of a core that counts as quiet.
PATIENCE = 20.0
QUIET = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table. ``value`` is what the target speaks of: a ratio, or milliseconds, or kilobytes."""

    what: str
    shown: str
    value: float
    unit: str = "x"
    target: float
    aim: float | None = None

    @property
    def holds(self) -> bool:
        return self.value <= self.target


def interleaved(
    variants: Mapping[str, Callable[[int], object]],
    *,
    rounds: int,
    inner: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Seconds per call of each variant: the median over ``rounds``, each of ``inner`` calls, round robin.

    What never waits is measured in processor time: on a busy machine a long variant is interrupted in every round
    and a short one in none, and the ratio would tell of the neighbours.
    """
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds + 2):
        for name, act in variants.items():
            began = clock()
            act(inner)
            if number >= 2:  # two rounds to warm up
                taken[name].append((clock() - began) / inner)
    return {name: median(times) for name, times in taken.items()}


def repeated(act: Callable[[], object]) -> Callable[[int], None]:
    def times(number: int) -> None:
        for _ in range(number):
            act()

    return times


def awaited(loop: asyncio.AbstractEventLoop, act: Callable[[], Coroutine[Any, Any, object]]) -> Callable[[int], None]:
    """The same under a loop that is running: to start and end one is not what is measured."""

    async def times(number: int) -> None:
        for _ in range(number):
            await act()

    return lambda number: loop.run_until_complete(times(number))


def load() -> float:
    """Busy share of all cores over a fifth of a second; 0 where the system does not tell."""
    try:
        before = _ticks()
        time.sleep(0.2)
        after = _ticks()
    except OSError:
        return 0.0
    total = after[1] - before[1]
    return (after[0] - before[0]) / total if total else 0.0


def _ticks() -> tuple[int, int]:
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [int(word) for word in file.readline().split()[1:9]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


def wait_until_quiet(patience: float = PATIENCE) -> str:
    """Wait for at most ``patience`` seconds; says how it ended."""
    deadline = time.monotonic() + patience
    busy = load()
    while busy > QUIET and time.monotonic() < deadline:
        busy = load()
    if busy > QUIET:
        return f"NOT quiet ({busy:.0%} busy): read the ratios with care"
    return f"quiet ({busy:.0%} busy)"


def machine() -> str:
    return f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def resident() -> int:
    """Kilobytes of memory that this process holds."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"
