"""What hooks cost: cached answers, and budgets of time.

A hook with ``cache`` is pure: the same event in the same directory has the same answer. One with a ``budget`` is
measured by its latest runs; if it is over budget it is reported, and on request skipped or moved to the background.
Never a hook that could deny: a slow machine must not disable a guard.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from math import ceil

from hookline.core._dataclass import dataclass
from hookline.core.event import Event, event_kind
from hookline.core.hook import Command, HookSpec, Plugin
from hookline.core.result import Outcome, Replied
from hookline.core.typed import Any, TypeAlias

#: The latest runs that count, the fewest that are needed, and the seconds after which they expire: a hook that was
#: skipped is tried again then.
_SAMPLE, MIN_RUNS, FRESH = 20, 5, 3600.0
#: Seconds until a verdict is made anew.
_VERDICT_SECONDS = 5.0
#: Answers that one engine keeps, and the characters of the longest event that is cached.
MAX_ANSWERS, _MAX_QUESTION = 256, 1 << 20
#: Fields that differ from call to call, and are no part of the cache key.
_VOLATILE = frozenset(
    {
        "session_id", "tool_use_id", "tool_call_id", "prompt_id", "turn_id", "turn", "agent_id", "run_id", "started_at",
        "timestamp", "time", "transcript_path", "generation_id", "conversation_id", "message_id", "call_id",
    }
)  # fmt: skip

#: The latest times of a hook since a moment, in milliseconds.
Times: TypeAlias = "Callable[[HookSpec, float], Sequence[float]]"
_Key: TypeAlias = "tuple[Any, ...]"


def over_budget(spec: HookSpec, times: Sequence[float]) -> str:
    """By how much a hook with these latest runs is over its budget; "" if it is not, or has none."""
    budget = spec.thrift.budget if spec.thrift is not None else None
    if budget is None or len(times) < MIN_RUNS:
        return ""
    slow = _p95(times)
    if slow <= budget * 1000:
        return ""
    return f"over its budget of {_duration(budget * 1000)}: 95 of 100 runs took up to {_duration(slow)}"


def _p95(times: Sequence[float]) -> float:
    """The nearest rank: a time that was really measured."""
    ordered = sorted(times)
    return ordered[ceil(0.95 * len(ordered)) - 1]


def can_be_skipped(spec: HookSpec) -> bool:
    """A hook that could deny, or whose failure counts, runs whatever it costs."""
    return spec.mode == "sync" and spec.on_failure == "ignore" and not event_kind(spec.event).deniable


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedReply:
    outcome: Replied
    since: float


class CostTracker:
    """The cached answers and the budgets of one engine's hooks. Thread-safe."""

    def __init__(self, times: Times | None = None, clock: Callable[[], float] = time.time) -> None:
        self._times = times
        self._clock = clock
        self._answers: OrderedDict[_Key, _CachedReply] = OrderedDict()
        self._measured: dict[str, deque[tuple[float, float]]] = {}
        self._verdicts: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()

    # ── budgets ──────────────────────────────────────────────────────────────────────────────────────

    def why_skip(self, spec: HookSpec) -> str:
        """Why this hook should be skipped or moved to the background now; "" when it should run."""
        if spec.thrift is None or spec.thrift.over_budget == "report" or not can_be_skipped(spec):
            return ""
        now = self._clock()
        known = self._verdicts.get(spec.id)
        if known is None or not known[0] <= now < known[0] + _VERDICT_SECONDS:
            known = self._verdicts[spec.id] = now, over_budget(spec, self._latest(spec, now - FRESH))
        return known[1]

    def measure(self, spec: HookSpec, ms: float) -> None:
        """For engines that keep no record."""
        if self._times is None and spec.thrift is not None and spec.thrift.budget is not None:
            self._measured.setdefault(spec.id, deque(maxlen=_SAMPLE)).append((self._clock(), ms))

    def _latest(self, spec: HookSpec, since: float) -> Sequence[float]:
        if self._times is not None:
            return self._times(spec, since)
        return [ms for when, ms in tuple(self._measured.get(spec.id, ())) if when >= since]

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────

    def cache_key(self, spec: HookSpec, event: Event) -> _Key | None:
        """Two events with the same key have the same answer; None where nothing is cached."""
        if spec.thrift is None or not spec.thrift.cache:
            return None
        data = {name: value for name, value in event.data.items() if name not in _VOLATILE}
        try:
            text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return None
        if len(text) > _MAX_QUESTION:
            return None
        return spec.id, event.kind.name, event.agent, event.cwd, event.mode, text, _files(spec, event.cwd)

    def recall(self, key: _Key, spec: HookSpec) -> Replied | None:
        """The cached answer, as an outcome that says so."""
        assert spec.thrift is not None
        now = self._clock()
        with self._lock:
            cached = self._answers.get(key)
            if cached is None:
                return None
            if not cached.since <= now < cached.since + spec.thrift.cache:
                del self._answers[key]
                return None
        earlier = cached.outcome
        why = f"not run: cached answer from {now - cached.since:.1f} s ago"
        return Replied(id=earlier.id, hook=earlier.hook, error=why, reply=earlier.reply)

    def store(self, key: _Key, outcome: Outcome) -> None:
        """Only answers: what failed or timed out is tried again."""
        if not isinstance(outcome, Replied):
            return
        with self._lock:
            self._answers[key] = _CachedReply(outcome=outcome, since=self._clock())
            self._answers.move_to_end(key)
            while len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)


def _files(spec: HookSpec, cwd: str) -> tuple[Any, ...]:
    """The state of the files that the hook's command names: a changed program may answer differently."""
    action = spec.action
    words: tuple[str, ...] = (action.path,) if isinstance(action, Plugin) else ()
    base = ""
    if isinstance(action, Command):
        words, base = action.argv or tuple(action.text.split()), action.base
    found: list[Any] = []
    for word in words:
        for folder in dict.fromkeys((cwd, base, os.path.dirname(base))):
            try:
                status = os.stat(os.path.join(folder, word))
            except (OSError, ValueError):
                continue
            found.append((word, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return tuple(found)


def _duration(ms: float) -> str:
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"
