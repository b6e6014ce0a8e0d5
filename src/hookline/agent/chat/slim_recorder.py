"""Records without the conversation: every event carries it, and the transcript has it already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookline.state.record import NullRecorder, WrappedRecorder

if TYPE_CHECKING:
    from hookline.state.record import Record, Recorder

#: Otherwise records would grow with the square of a session's length.
_LEFT_OUT = frozenset({"history"})


def slim(recorder: Recorder) -> Recorder:
    """Wrap the recorder; one that keeps nothing stays as it is."""
    return recorder if isinstance(recorder, NullRecorder | _SlimRecorder) else _SlimRecorder(recorder)


class _SlimRecorder(WrappedRecorder):
    def write(self, record: Record) -> str | None:
        event, decision = record.event, record.decision
        if "history" in event.data:
            event = replace(event, data=_without(event.data))
            decision = replace(decision, data=_without(decision.data))
            record = replace(record, event=event, decision=decision)
        return super().write(record)


def _without(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in _LEFT_OUT or isinstance(value, bool)}
