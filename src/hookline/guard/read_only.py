"""Commands that provably only read."""

from __future__ import annotations

from collections.abc import Iterable

from hookline.guard.call import Scene
from hookline.guard.effects import Effect
from hookline.guard.reading import Reading


def only_reads(reading: Reading, scene: Scene, effects: Iterable[Effect]) -> bool:
    return False
