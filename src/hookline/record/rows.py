"""From a ``Record`` to the rows of the store: redacted, cut to size, serialised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hookline.record.redact import as_text
from hookline.result import STATUS

if TYPE_CHECKING:
    from hookline.record import Record
    from hookline.record.redact import Redactor
    from hookline.result import Outcome

#: Characters of a hook's stdout and stderr that are kept; all of it may be in a spilled file.
HEAD = 4096
#: Redaction looks this much further, so that a secret that is cut in two is still seen whole.
MARGIN = 8192
#: Characters of one event's data; above it the long texts in it are cut.
DATA_LIMIT = 1 << 20
LEAF_LIMIT = 2048

FiringRow = tuple[Any, ...]
RunRow = tuple[Any, ...]


def firing_row(record: Record, redactor: Redactor, *, id: str, time: float, pid: int) -> FiringRow:  # noqa: A002 - the column's name
    """The columns of ``firings`` in the order of the table, the number apart."""
    event, decision = record.event, record.decision
    clean = Cleaner(redactor)
    return (
        id,
        time,
        clean.text(event.session),
        event.turn,
        clean.text(event.agent),
        event.kind.name,
        clean.text(event.native_name),
        clean.text(event.cwd),
        decision.effect,
        int(decision.granted),
        clean.text(decision.reason),
        clean.json({"hook": decision.aborted.hook, "message": decision.aborted.message}) if decision.aborted else None,
        int(decision.modified),
        record.ms,
        pid,
        clean.json(decision.data or event.data),
        clean.json([_context(injected) for injected in decision.context]) if decision.context else None,
        clean.json([{"hook": m.hook, "text": m.text} for m in decision.messages]) if decision.messages else None,
        clean.json(decision.attributes) if decision.attributes else None,
        clean.json([_conflict(c) for c in decision.conflicts]) if decision.conflicts else None,
        clean.json([{"hook": m.hook, "text": m.text} for m in decision.ignored]) if decision.ignored else None,
    )


def run_rows(record: Record, redactor: Redactor, *, firing: int) -> list[RunRow]:
    """The columns of ``runs``, one row per outcome, in declared order."""
    clean = Cleaner(redactor)
    return [_run(record, clean, outcome, firing, n) for n, outcome in enumerate(record.decision.outcomes)]


def late_row(outcome: Outcome, redactor: Redactor) -> RunRow:
    """The columns that change when a hook that ran on its own has ended."""
    return _came_of(outcome, Cleaner(redactor))


def _run(record: Record, clean: Cleaner, outcome: Outcome, firing: int, position: int) -> RunRow:
    spec = record.specs.get(outcome.id)
    dialect = spec.dialect if spec else ""
    return (firing, position, outcome.id, clean.text(outcome.hook), dialect, *_came_of(outcome, clean))


def _came_of(outcome: Outcome, clean: Cleaner) -> RunRow:
    raw = outcome.raw
    return (
        STATUS[type(outcome)],
        outcome.reply.effect if outcome.reply else None,
        raw.exit_code if raw else None,
        outcome.ms,
        clean.text(outcome.error),
        clean.head(raw.stdout) if raw else "",
        clean.head(raw.stderr) if raw else "",
        clean.json(raw.spilled) if raw and raw.spilled else None,
    )


def _context(injected: Any) -> dict[str, Any]:
    context = injected.context
    return {
        "hook": injected.hook,
        "text": context.text,
        "as": context.placement,
        "label": context.label,
        "attributes": context.attributes,
    }


def _conflict(conflict: Any) -> dict[str, str]:
    return {"pointer": conflict.pointer, "first": conflict.first, "second": conflict.second}


class Cleaner:
    """One redactor, and the forms in which SQLite takes things."""

    __slots__ = ("_redactor",)

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def text(self, text: str) -> str:
        if text and self._redactor.suspects(text):
            text = self._redactor.text(text)
        return text if text.isascii() else text.encode(errors="backslashreplace").decode()

    def head(self, text: str) -> str:
        if len(text) <= HEAD:
            return self.text(text)
        return f"{self.text(text[: HEAD + MARGIN])[:HEAD]}\n[{len(text)} characters in all]"

    def json(self, value: Any) -> str:
        """Serialise, look at the outcome once, and take the value apart only if something in it is suspicious."""
        try:
            serialised = json.dumps(value, default=_plain)
            if not self._redactor.suspects(serialised) and len(serialised) <= DATA_LIMIT:
                return serialised
        except (TypeError, ValueError, RecursionError):
            pass  # keys that are no texts, a cycle, an abyss: the slow way copes with them
        return self._slowly(value)

    def _slowly(self, value: Any) -> str:
        try:
            clean = self._redactor.value(value)
            serialised = json.dumps(clean, default=_plain)
            if len(serialised) <= DATA_LIMIT:
                return serialised
            serialised = json.dumps(_cut(clean), default=_plain)
        except (TypeError, ValueError, RecursionError) as error:
            return json.dumps({"[dropped]": f"the data could not be serialised ({type(error).__name__})"})
        if len(serialised) <= DATA_LIMIT:
            return serialised
        return json.dumps({"[dropped]": f"{len(serialised)} characters, more than are kept"})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return list(value)
    return as_text(value)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LEAF_LIMIT:
        return f"{value[:LEAF_LIMIT]}[{len(value)} characters in all]"
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value
