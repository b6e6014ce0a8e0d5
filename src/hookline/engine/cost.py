"""What hooks cost, and what is done about it: answers that are given again, and hooks that take longer than they may.

A hook that states ``cache`` says of itself that it is pure: the same event in the same directory has the same answer.
One that states a ``budget`` is measured by its latest runs; what is over it is told, and by choice left out of the way.
Never a hook that could refuse: a guard is not to be lost because a machine is slow.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict, deque
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

from hookline.core._dataclass import dataclass
from hookline.core.event import event_kind
from hookline.core.hook import Command, Plugin
from hookline.core.result import Replied

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import Outcome

#: The latest runs that a hook is judged by, the fewest that say anything, and the seconds after which they say no more:
#: a hook that was left out is tried again then.
_SAMPLE, MIN_RUNS, FRESH = 20, 5, 3600.0
#: Seconds for which a judgement stands.
_STANDS = 5.0
#: Answers that one engine keeps, and the characters of the longest question that is kept.
MAX_ANSWERS, _MAX_QUESTION = 256, 1 << 20
#: What names one call, one session or one moment, and is no part of what was asked.
_PASSING = frozenset(
    {
        "session_id", "tool_use_id", "tool_call_id", "prompt_id", "turn_id", "turn", "agent_id", "run_id", "started_at",
        "timestamp", "time", "transcript_path", "generation_id", "conversation_id", "message_id", "call_id",
    }
)  # fmt: skip

#: The latest times of a hook (by its id) since a moment, in milliseconds.
Times: TypeAlias = "Callable[[str, float], Sequence[float]]"
_Key: TypeAlias = "tuple[Any, ...]"


def over_budget(spec: HookSpec, times: Sequence[float]) -> str:
    """What there is to tell of a hook whose latest runs took so long; "" where it keeps its budget, or has none."""
    budget = spec.thrift.budget if spec.thrift is not None else None
    if budget is None or len(times) < MIN_RUNS:
        return ""
    slow = _p95(times)
    if slow <= budget * 1000:
        return ""
    return f"over its budget of {_told(budget * 1000)}: 95 of 100 runs took up to {_told(slow)}"


def _p95(times: Sequence[float]) -> float:
    """The nearest rank: a time that was really measured."""
    ordered = sorted(times)
    return ordered[ceil(0.95 * len(ordered)) - 1]


def can_be_skipped(spec: HookSpec) -> bool:
    """A hook that could refuse, or whose failure counts, runs whatever it costs."""
    return spec.mode == "sync" and spec.on_failure == "ignore" and not event_kind(spec.event).deniable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    outcome: Replied
    since: float


class CostTracker:
    """One engine's: the answers it remembers, and how its hooks stand to their budgets. For several threads."""

    def __init__(self, times: Times | None = None, clock: Callable[[], float] = time.time) -> None:
        self._times = times
        self._clock = clock
        self._answers: OrderedDict[_Key, _Kept] = OrderedDict()
        self._own: dict[str, deque[tuple[float, float]]] = {}
        self._judged: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()

    # ── budgets ──────────────────────────────────────────────────────────────────────────────────────

    def judged(self, spec: HookSpec) -> str:
        """Why this hook is to be left out of the way now; "" when it is to run as it is written."""
        if spec.thrift is None or spec.thrift.over_budget == "report" or not can_be_skipped(spec):
            return ""
        now = self._clock()
        known = self._judged.get(spec.id)
        if known is None or not known[0] <= now < known[0] + _STANDS:
            known = self._judged[spec.id] = now, over_budget(spec, self._latest(spec.id, now - FRESH))
        return known[1]

    def measured(self, spec: HookSpec, ms: float) -> None:
        """For engines that keep no record."""
        if self._times is None and spec.thrift is not None and spec.thrift.budget is not None:
            self._own.setdefault(spec.id, deque(maxlen=_SAMPLE)).append((self._clock(), ms))

    def _latest(self, hook: str, since: float) -> Sequence[float]:
        if self._times is not None:
            return self._times(hook, since)
        return [ms for when, ms in tuple(self._own.get(hook, ())) if when >= since]

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────

    def asked(self, spec: HookSpec, event: Event) -> _Key | None:
        """What makes two questions the same; None where nothing is to be kept."""
        if spec.thrift is None or not spec.thrift.cache:
            return None
        data = {name: value for name, value in event.data.items() if name not in _PASSING}
        try:
            text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return None
        if len(text) > _MAX_QUESTION:
            return None
        return spec.id, event.kind.name, event.agent, event.cwd, event.mode, text, _files(spec, event.cwd)

    def known(self, key: _Key, spec: HookSpec) -> Replied | None:
        """The earlier answer, as an outcome that says so."""
        assert spec.thrift is not None
        now = self._clock()
        with self._lock:
            kept = self._answers.get(key)
            if kept is None:
                return None
            if not kept.since <= now < kept.since + spec.thrift.cache:
                del self._answers[key]
                return None
        earlier = kept.outcome
        why = f"not run: the same was answered {now - kept.since:.1f} s ago, and it is cached"
        return Replied(id=earlier.id, hook=earlier.hook, error=why, reply=earlier.reply)

    def keep(self, key: _Key, outcome: Outcome) -> None:
        """Only answers: what failed or timed out is tried again."""
        if not isinstance(outcome, Replied):
            return
        with self._lock:
            self._answers[key] = _Kept(outcome=outcome, since=self._clock())
            self._answers.move_to_end(key)
            while len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)


def _files(spec: HookSpec, cwd: str) -> tuple[Any, ...]:
    """How the files that a hook's words name stand now: a program that was changed is another one."""
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


def _told(ms: float) -> str:
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"
