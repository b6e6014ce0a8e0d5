"""From a ``Record`` to the rows of the store: redacted, cut to size, serialised."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hookline.record.redact import as_text
from hookline.result import STATUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.record import Record
    from hookline.record.redact import Redactor
    from hookline.result import Outcome, Raw

#: Characters of a hook's stdout and stderr that are kept; all of it may be in a spilled file.
HEAD = 4096
#: Redaction looks this much further, so that a secret that is cut in two is still seen whole.
MARGIN = 8192
#: Characters of one event's data; above it the long texts in it are cut.
DATA_LIMIT = 1 << 20
LEAF_LIMIT = 2048

Columns = tuple[Any, ...]
T = TypeVar("T")


def _stderr(raw: Raw) -> str:
    """What the hook said there, and what its runner has to say of it: a process that was left alone, a cut-off output."""
    return (
        "\n".join((raw.stderr.rstrip("\n"), *(f"hookline: {note}" for note in raw.notes))) if raw.notes else raw.stderr
    )


def environ_of(record: Record) -> Mapping[str, str]:
    """Every variable that a hook of this firing could print: the caller's, and what the hooks' definitions add."""
    own: dict[str, str] = {}
    for outcome in record.decision.outcomes:
        spec = record.specs.get(outcome.id)
        if spec is not None and spec.environ:
            own.update(spec.environ)
    return {**own, **record.event.environ} if own else record.event.environ


def rows_of(record: Record, redactor: Redactor, *, name: str, time: float, pid: int) -> tuple[Columns, list[Columns]]:
    """The columns of ``firings`` without the number, and those of ``runs`` without the firing's number."""

    def made(form: Plain) -> tuple[Columns, list[Columns]]:
        runs = [_run(record, form, outcome, position) for position, outcome in enumerate(record.decision.outcomes)]
        return _firing(record, form, name, time, pid), runs

    return _clean(made, redactor)


def late_row(outcome: Outcome, redactor: Redactor) -> Columns:
    """The columns that change when a hook that ran on its own has ended."""
    return _clean(lambda form: _came_of(outcome, form), redactor)


def _clean(made: Callable[[Plain], T], redactor: Redactor) -> T:
    """Most firings hold no secret: one look at everything at once spares them being taken apart."""
    plain = Plain()
    try:
        rows = made(plain)
        whole = "\n".join(plain.seen)
        if not redactor.suspects(whole):
            if not whole.isascii():
                whole.encode()  # SQLite takes nothing that is not UTF-8
            return rows
        redactor = redactor.narrowed(whole)
    except (TypeError, ValueError, RecursionError):
        # Keys that are no texts, a cycle, an abyss, too much of it, a lone surrogate: the slow way copes with them.
        pass
    return made(Redacted(redactor))


def _firing(record: Record, form: Plain, name: str, time: float, pid: int) -> Columns:
    event, decision = record.event, record.decision
    aborted = decision.aborted
    return (
        form.text(name),
        time,
        form.text(event.session),
        event.turn,
        form.text(event.agent),
        form.text(event.kind.name),
        form.text(event.native_name),
        form.text(event.cwd),
        decision.effect,
        int(decision.granted),
        form.text(decision.reason),
        form.json({"hook": aborted.hook, "message": aborted.message}) if aborted else None,
        int(decision.modified),
        record.ms,
        pid,
        form.json(decision.data or event.data),
        form.json(event.data) if decision.modified else None,
        form.json([_context(injected) for injected in decision.context]) if decision.context else None,
        form.json([{"hook": m.hook, "text": m.text} for m in decision.messages]) if decision.messages else None,
        form.json(decision.attributes) if decision.attributes else None,
        form.json([_conflict(c) for c in decision.conflicts]) if decision.conflicts else None,
        form.json([{"hook": m.hook, "text": m.text} for m in decision.ignored]) if decision.ignored else None,
    )


def _run(record: Record, form: Plain, outcome: Outcome, position: int) -> Columns:
    spec = record.specs.get(outcome.id)
    dialect = spec.dialect if spec else ""
    return (position, outcome.id, form.text(outcome.hook), dialect, *_came_of(outcome, form))


def _came_of(outcome: Outcome, form: Plain) -> Columns:
    raw = outcome.raw
    return (
        STATUS[type(outcome)],
        outcome.reply.effect if outcome.reply else None,
        raw.exit_code if raw else None,
        outcome.ms,
        form.text(outcome.error),
        form.head(raw.stdout) if raw else "",
        form.head(_stderr(raw)) if raw else "",
        form.json(raw.spilled) if raw and raw.spilled else None,
        form.json(raw.usage) if raw and raw.usage else None,
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


class Plain:
    """Things as they are, with all their text gathered in ``seen`` for one look at it."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen: list[str] = []

    def text(self, text: str) -> str:
        self.seen.append(text)
        return text

    def head(self, text: str) -> str:
        if len(text) <= HEAD:
            return self.text(text)
        return f"{self.text(text[: HEAD + MARGIN])[:HEAD]}\n[{len(text)} characters in all]"

    def json(self, value: Any) -> str:
        serialised = _ENCODER.encode(value)
        if len(serialised) > DATA_LIMIT:
            raise ValueError("more than is kept")
        self.seen.append(serialised)
        return serialised


class Redacted(Plain):
    """The same without secrets and within the limits, whatever it is."""

    __slots__ = ("_redactor",)

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def text(self, text: str) -> str:
        return storable(self._redactor.text(text)) if text else ""

    def json(self, value: Any) -> str:
        try:
            clean = self._redactor.value(value)
            serialised = json.dumps(clean)
            if len(serialised) > DATA_LIMIT:
                serialised = json.dumps(_cut(clean))
        except (TypeError, ValueError, RecursionError) as error:
            return json.dumps({"[dropped]": f"the data could not be serialised ({type(error).__name__})"})
        if len(serialised) <= DATA_LIMIT:
            return serialised
        return json.dumps({"[dropped]": f"{len(serialised)} characters, more than are kept"})


def storable(text: str) -> str:
    """SQLite takes UTF-8 only; a lone surrogate (from a file name, say) is kept in a readable form."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return list(value)
    return as_text(value)


_ENCODER = json.JSONEncoder(default=_plain)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LEAF_LIMIT:
        return f"{value[:LEAF_LIMIT]}[{len(value)} characters in all]"
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value
