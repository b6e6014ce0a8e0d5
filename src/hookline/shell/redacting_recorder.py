"""Hooks get values of the environment, but records do not: they only show the length of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.state.record import WrappedRecorder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.result import Outcome
    from hookline.state.record import Record, Recorder

#: Event -> the fields of its data with values of the environment.
_HIDDEN: Mapping[str, tuple[str, ...]] = {"env.change": ("value", "old"), "process.pre_spawn": ("env",)}


class RedactingRecorder(WrappedRecorder):
    """Passes every record on, with the values of the environment masked."""

    def __init__(self, inner: Recorder) -> None:
        super().__init__(inner)
        #: Events whose late answers may contain a value too.
        self._secret: set[str] = set()

    def write(self, record: Record) -> str | None:
        fields = _HIDDEN.get(record.event.kind.name)
        if fields is None or not any(record.event.data.get(field) for field in fields):
            return self._inner.write(record)
        decision = record.decision
        if any(outcome.raw is None for outcome in decision.outcomes):
            self._secret.add(record.event.id)
        return self._inner.write(
            replace(
                record,
                event=replace(record.event, data=_mask_fields(record.event.data, fields)),
                decision=replace(
                    decision,
                    data=_mask_fields(decision.data, fields),
                    outcomes=tuple(map(_mask_output, decision.outcomes)),
                ),
            )
        )

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        late = _mask_output(outcome) if event_id in self._secret else outcome
        self._secret.discard(event_id)
        self._inner.amend(event_id, late, aborts=aborts)


def _mask_fields(data: Mapping[str, Any], fields: tuple[str, ...]) -> Mapping[str, Any]:
    return {name: _mask(value) if name in fields else value for name, value in data.items()}


def _mask(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _mask(each) for name, each in value.items()}
    return value if value is None else f"[{len(str(value))} characters, not recorded]"


def _mask_output(outcome: Outcome) -> Outcome:
    """A hook's output may repeat the value; its decision is kept, its output is not."""
    raw = outcome.raw
    if raw is None or not (raw.stdout or raw.stderr):
        return outcome
    return replace(outcome, raw=replace(raw, stdout="[not recorded]" if raw.stdout else "", stderr="", value=None))
