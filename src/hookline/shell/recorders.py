"""The recorders of a shell: records written while a command runs, and environment values left out."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any, TypeVar

from hookline.core._dataclass import replace
from hookline.core.result import Outcome
from hookline.state.record import Record, Recorder, WrappedRecorder

#: Event -> the fields of its data with values of the environment.
_HIDDEN: Mapping[str, tuple[str, ...]] = {"env.change": ("value", "old"), "process.pre_spawn": ("env",)}
#: Variables that hookline sets itself.
_PUBLIC = frozenset({"LASH_DISPLAY"})
#: A quote may still be open: keys are recorded with the line so far.
_VALUE = r"""(?:'[^']*(?:'|$)|"(?:\\(?:.|\n|$)|[^"\\])*(?:"|$)|`[^`]*(?:`|$)|\$?\([^)]*(?:\)|$)|\\(?:.|\n)|[^\s;&|()<>'"`\\])*"""
_NAME = r"\$?[A-Za-z_]\w*(?:\[[^]\s]*\])?"
_NAMED = rf"{_NAME}\+?={_VALUE}"
_EXPORTS = ("export", "declare", "typeset", "local", "readonly", "env", "set", "sudo", "doas")
#: Assignments before a command, after one that exports, as xonsh writes them, and as it reports them: as no command.
_ASSIGNMENTS = re.compile(
    rf"(?:\$[A-Za-z_]\w*|[\[{{]\s*['\"]\w+['\"]\s*[\]}}])\s*\+?=(?!=)\s*{_VALUE}"
    rf"|(?:^|[!;&|({{\n`]|\s-\w*c\s+['\"]|\b(?:if|elif|while|until|then|do|else|coproc|noglob|nocorrect|repeat\s+\w+|not found:)(?!\w)"
    rf"|\balias\s+[\w.-]+=['\"]?|\b(?:{'|'.join(_EXPORTS)}|time|eval)\b(?:\s+-[\w-]+)*\s*['\"]?)\s*{_NAMED}(?:\s+{_NAMED})*"
)
_ASSIGNED = re.compile(rf"((?:{_NAME}|[\]}}])\s*\+?=\s*)(?!=){_VALUE}")
#: A word after one that exports; its quotes are gone, so that all of it is the value.
_ASSIGNING = re.compile(rf"({_NAME}\+?=).*", re.DOTALL)
#: Tables of variables in xonsh.
_TABLE = re.compile(r"(\b(?:swap|update)\(\{)[^}]+")
_MASKED = "[not recorded]"


def _mask_assignments(text: str) -> str:
    """``API=[not recorded] cmd``: what is assigned may be a secret."""
    if "({" in text:
        text = _TABLE.sub(rf"\g<1>{_MASKED}", text)
    if "=" not in text:
        return text
    return _ASSIGNMENTS.sub(lambda found: _ASSIGNED.sub(rf"\g<1>{_MASKED}", found[0]), text)


def _mask_texts(value: Any) -> Any:
    if isinstance(value, str):
        return _mask_assignments(value)
    if isinstance(value, list):
        return [_mask_texts(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    found = {name: _mask_texts(each) for name, each in value.items()}
    if found.get("command") in _EXPORTS and isinstance(found.get("args"), list):
        found["args"] = [
            _ASSIGNING.sub(rf"\g<1>{_MASKED}", each) if isinstance(each, str) else each for each in found["args"]
        ]
    return found


class RedactingRecorder(WrappedRecorder):
    """Passes every record on, with the values of the environment masked."""

    def __init__(self, inner: Recorder) -> None:
        super().__init__(inner)
        #: Events whose late answers may contain a value too.
        self._secret: set[str] = set()

    def write(self, record: Record) -> str | None:
        data = _masked(record.event.kind.name, record.event.data)
        if data == record.event.data:
            return self._inner.write(record)
        decision = record.decision
        if any(outcome.raw is None for outcome in decision.outcomes):
            self._secret.add(record.event.id)
        return self._inner.write(
            replace(
                record,
                event=replace(record.event, data=data, native=MappingProxyType({})),
                decision=replace(
                    decision,
                    data=_masked(record.event.kind.name, decision.data),
                    reason=_mask_assignments(decision.reason),
                    outcomes=tuple(map(_mask_output, decision.outcomes)),
                ),
            )
        )

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        late = _mask_output(outcome) if event_id in self._secret else outcome
        self._secret.discard(event_id)
        self._inner.amend(event_id, late, aborts=aborts)


def _masked(event: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    hidden = _HIDDEN.get(event, ())
    masked = {name: _mask(value) if name in hidden and value else value for name, value in data.items()}
    found: Mapping[str, Any] = _mask_texts(masked)
    return found


def _mask(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: each if name in _PUBLIC else _mask(each) for name, each in value.items()}
    return value if value is None else f"[{len(str(value))} characters, not recorded]"


def _mask_output(outcome: Outcome) -> Outcome:
    """A hook's output may repeat the value; its decision is kept, its output and what it changed are not."""
    if (reply := outcome.reply) is not None and reply.data:
        outcome = replace(
            outcome, reply=replace(reply, data={name: _mask(value) for name, value in reply.data.items()})
        )
    raw = outcome.raw
    if raw is None or not (raw.stdout or raw.stderr):
        return outcome
    return replace(outcome, raw=replace(raw, stdout="[not recorded]" if raw.stdout else "", stderr="", value=None))


_T = TypeVar("_T")

#: Seconds that the end of a shell, or a denial, waits for pending records.
_FLUSH_TIMEOUT = 5.0
#: Seconds after which records are written although the shell is busy.
_MAX_DELAY = 0.05
#: Pending records; beyond that the shell waits for the writer.
_MAX_PENDING = 2000


class DeferredRecorder(WrappedRecorder):
    """Passes everything on in order, from a thread of its own."""

    def __init__(self, inner: Recorder) -> None:
        super().__init__(inner)
        self._todo: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        #: The shell waits for a child, so writing costs nothing.
        self._resting = threading.Event()
        self._hurry = False

    def write(self, record: Record) -> str | None:
        decision = record.decision
        if self._closed or decision.effect != "allow" or decision.modified or self._todo.qsize() > _MAX_PENDING:
            self.catch_up()
            return self._inner.write(record)
        self._later(lambda: self._inner.write(record))
        return record.event.id

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        self._later(lambda: self._inner.amend(event_id, outcome, aborts=aborts))

    def mark(self, event_id: str, text: str) -> None:
        self._later(lambda: self._inner.mark(event_id, text))

    def close(self) -> None:
        self.catch_up()
        self._closed = True
        self._todo.put(None)
        super().close()

    def _later(self, work: Callable[[], object]) -> None:
        self._todo.put(work)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write, name="hookline-records", daemon=True)
                    self._thread.start()

    def rest(self, wait: Callable[[], _T]) -> _T:
        """Wait for something; pending records are written meanwhile."""
        self._resting.set()
        try:
            return wait()
        finally:
            self._resting.clear()

    def _write(self) -> None:
        """Writing would slow down a busy shell, so it starts when the shell waits, or after a short delay."""
        while (work := self._todo.get()) is not None:
            rested = self._hurry or self._resting.wait(_MAX_DELAY)
            work()
            while (not rested or self._hurry or self._resting.is_set()) and not self._todo.empty():
                if (more := self._todo.get()) is None:
                    return
                more()

    def catch_up(self) -> None:
        """Wait until all pending records are written."""
        if self._thread is None or not self._thread.is_alive():
            return
        done = threading.Event()
        self._todo.put(done.set)
        self._hurry = True
        resting = self._resting.is_set()
        self._resting.set()
        done.wait(_FLUSH_TIMEOUT)
        self._hurry = False
        if not resting:
            self._resting.clear()
