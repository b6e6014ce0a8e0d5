"""From a ``Record`` to the rows of the store: redacted, cut to size, serialised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import compress
from operator import is_not, itemgetter

from hookline.core.event import Event
from hookline.core.fast_json import dumps, writer
from hookline.core.result import NO_OPINION, STATUS, Decision, Outcome, RunResult
from hookline.core.typed import Any, TypeAlias
from hookline.state.database import storable
from hookline.state.record import Record
from hookline.state.record.redact import Redactor, as_text, redact_file

#: Characters of a hook's stdout and stderr that are kept; all of it may be in a spilled file.
HEAD = 4096
#: Redaction looks this much further, so that a secret that is cut in two is still seen whole.
_MARGIN = 8192
#: Characters of one event's data; above it the long texts in it are cut.
DATA_LIMIT = 1 << 20
_LEAF_LIMIT = 2048

Columns = tuple[Any, ...]
#: Writes a value as JSON, in ASCII.
Writer: TypeAlias = "Callable[[Any], str]"


def _stderr(raw: RunResult) -> str:
    """The hook's stderr and its runner's notes: a process that was left running, output that was cut off."""
    return "\n".join((raw.stderr.rstrip("\n"), *(f"hookline: {note}" for note in raw.notes)))


def record_environ(record: Record) -> Mapping[str, str]:
    """Every variable that a hook of this firing could print: the caller's, and what the hooks' definitions add."""
    specs, environ = record.specs, record.event.environ
    own: dict[str, str] = {}
    for outcome in record.decision.outcomes:
        spec = specs.get(outcome.id)
        if spec is not None and spec.environ:
            own.update(spec.environ)
    return {**own, **environ} if own else environ


def make_rows(
    record: Record, redactor: Redactor, *, name: str, time: float, pid: int, written: Writer | None = None
) -> tuple[Columns, list[Columns]]:
    """The columns of ``firings`` without the number, and those of ``runs`` without the firing's number.

    ``written`` is ``in_json``, or a quicker one.
    """
    rows = [(_firing(record, name, time, pid), _FIRING)]
    for position, outcome in enumerate(record.decision.outcomes):
        rows.append((run_columns(record, outcome, position), _RUN))
        _redact_spilled(outcome, redactor)
    firing, *others = _clean(rows, redactor, written or in_json)
    return firing, others


def _redact_spilled(outcome: Outcome, redactor: Redactor) -> None:
    """The output that did not fit in memory is in files; it is kept without secrets too."""
    for path in outcome.raw.spilled if outcome.raw else ():
        redact_file(path, redactor)


def late_row(outcome: Outcome, redactor: Redactor) -> Columns:
    """The columns that change when a background hook has ended."""
    _redact_spilled(outcome, redactor)
    return _clean([(_result_columns(outcome), _RESULT)], redactor, in_json)[0]


class _Kinds:
    """Which columns of a row are texts, texts of which only the beginning is kept, and values to be written as JSON."""

    __slots__ = ("_nothing", "_values", "heads", "jsons", "lengthy", "texts", "visible")

    def __init__(self, *, texts: tuple[int, ...], heads: tuple[int, ...] = (), jsons: tuple[int, ...] = ()) -> None:
        self.texts, self.heads, self.jsons = texts, heads, jsons
        #: Of a row, everything that could hold a secret.
        self.visible = itemgetter(*texts, *heads, *jsons)
        #: What may be longer than is kept.
        self.lengthy = itemgetter(*heads) if heads else None
        self._values, self._nothing = itemgetter(*jsons), (None,) * len(jsons)

    def values_in(self, row: Columns) -> Iterable[int]:
        """Where there is something to be written as JSON; mostly in one column of many."""
        return compress(self.jsons, map(is_not, self._values(row), self._nothing))


_FIRING = _Kinds(texts=(0, 2, 4, 5, 6, 7, 10), jsons=(11, 15, 16, 17, 18, 19, 20, 21, 22))
_RESULT = _Kinds(texts=(4,), heads=(5, 6), jsons=(7, 8, 9))
_RUN = _Kinds(texts=(2, 8), heads=(9, 10), jsons=(11, 12, 13))


def _clean(rows: list[tuple[Columns, _Kinds]], redactor: Redactor, written: Writer) -> list[Columns]:
    """Most firings hold no secret: one test of everything at once avoids examining each part."""
    try:
        seen: list[str] = []
        plain = [_unredacted(row, kinds, seen, written) for row, kinds in rows]
        whole = "\n;\n".join(seen)  # what stands in one column is not the name of what stands in the next
        if not redactor.suspects(whole):
            if not whole.isascii():
                whole.encode()  # SQLite takes nothing that is not UTF-8
            return plain
        redactor = redactor.narrowed(whole)
    except (TypeError, ValueError, RecursionError):
        # Keys that are no texts, a cycle, deep nesting, too much data, a lone surrogate: handled the slow way.
        pass
    return [_redacted(row, kinds, redactor) for row, kinds in rows]


def _firing(record: Record, name: str, time: float, pid: int) -> Columns:
    event, decision = record.event, record.decision
    aborted = decision.aborted
    return (
        name,
        time,
        event.session,
        event.turn,
        event.agent,
        event.kind.name,
        event.native_name,
        event.cwd,
        decision.effect,
        int(decision.granted),
        decision.reason,
        {"hook": aborted.hook, "message": aborted.message} if aborted else None,
        int(decision.modified),
        record.ms,
        pid,
        decision.data or event.data,
        event.data if decision.modified else None,
        [_context(injected) for injected in decision.context] if decision.context else None,
        [{"hook": m.hook, "text": m.text} for m in decision.messages] if decision.messages else None,
        decision.attributes or None,
        [_conflict(c) for c in decision.conflicts] if decision.conflicts else None,
        [{"hook": m.hook, "text": m.text} for m in decision.ignored] if decision.ignored else None,
        wire_columns(event, decision),
    )


def wire_columns(event: Event, decision: Decision) -> dict[str, Any] | None:
    """What the agent sent and got, as far as the other columns do not say it; mostly nothing.

    ``own`` are fields of the payload that are not among the data, ``added`` those of the data that were not sent.
    """
    wire: dict[str, Any] = {}
    native, data = event.native, event.data
    if native:
        own = {name: value for name, value in native.items() if data.get(name) is not value and data.get(name) != value}
        if own.get("hook_event_name") == event.native_name:
            del own["hook_event_name"]
        if "tool_name" in own and own["tool_name"] == data.get("native_tool_name"):
            del own["tool_name"]
        if own:
            wire["own"] = own
        if added := [name for name in data if name not in native and name != "native_tool_name"]:
            wire["added"] = added
    if decision.answer is not None:
        wire["answer"] = decision.answer
    if "TRACEPARENT" in event.environ:
        wire["traceparent"] = event.environ["TRACEPARENT"]
    return wire or None


def run_columns(record: Record, outcome: Outcome, position: int) -> Columns:
    spec = record.specs.get(outcome.id)
    columns = _result_columns(outcome, record.decision.reason)
    return (position, outcome.id, outcome.hook, spec.dialect if spec else "", *columns)


def _result_columns(outcome: Outcome, reason: str = "") -> Columns:
    reply, raw = outcome.reply, outcome.raw
    head = (STATUS[type(outcome)], None if reply is None else reply.effect)
    detail = None if reply is NO_OPINION and outcome.not_run is None else _detail(outcome, reason)
    if raw is None:
        return (*head, None, outcome.ms, outcome.error, "", "", None, None, detail)
    stderr = _stderr(raw) if raw.notes else raw.stderr
    return (
        *head, raw.exit_code, outcome.ms, outcome.error, raw.stdout, stderr, raw.spilled or None, raw.usage or None,
        detail,
    )  # fmt: skip


def _detail(outcome: Outcome, reason: str) -> dict[str, Any] | None:
    """What the hook itself said and changed, where the decision does not say the same, and why it was not run."""
    reply = outcome.reply
    detail: dict[str, Any] = {}
    if reply is not None and reply.reason and reply.reason != reason:
        detail["reason"] = reply.reason
    if reply is not None and reply.data:
        detail["data"] = reply.data
    if outcome.not_run is not None:
        detail["skip"] = outcome.not_run
    if outcome.raw is not None and outcome.raw.notes:
        detail["notes"] = list(outcome.raw.notes)
    return detail or None


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


def _unredacted(row: Columns, kinds: _Kinds, seen: list[str], written: Writer) -> Columns:
    """The row as it is kept if it holds no secret, with all its text gathered in ``seen`` for one test.

    No call for every column: each firing passes here before it is answered.
    """
    kept = list(row)
    for at in kinds.values_in(row):
        kept[at] = serialised = written(row[at])
        if len(serialised) > DATA_LIMIT:
            raise ValueError("more than is kept")
    if kinds.lengthy is not None and max(map(len, kinds.lengthy(row))) > HEAD:
        for at in kinds.heads:
            if len(row[at]) > HEAD:
                seen.append(row[at][: HEAD + _MARGIN])
                kept[at] = _head(row[at], row[at])
    seen += filter(None, kinds.visible(kept))
    return tuple(kept)


def _redacted(row: Columns, kinds: _Kinds, redactor: Redactor) -> Columns:
    """The same without secrets and within the limits, whatever it is."""
    kept = list(row)
    for at in kinds.texts:
        kept[at] = _without_secrets(row[at], redactor)
    for at in kinds.heads:
        clean = _without_secrets(row[at][: HEAD + _MARGIN], redactor)
        kept[at] = clean if len(row[at]) <= HEAD else _head(clean, row[at])
    for at in kinds.jsons:
        if row[at] is not None:
            kept[at] = _json_without_secrets(row[at], redactor)
    return tuple(kept)


def _head(text: str, whole: str) -> str:
    return f"{text[:HEAD]}\n[{len(whole)} characters in all]"


def _without_secrets(text: str, redactor: Redactor) -> str:
    return storable(redactor.text(text)) if text else ""


def _json_without_secrets(value: Any, redactor: Redactor) -> str:
    try:
        clean = redactor.value(value)
        serialised = dumps(clean)
        if len(serialised) > DATA_LIMIT:
            serialised = dumps(_cut(clean))
    except (TypeError, ValueError, RecursionError) as error:
        return dumps({"[dropped]": f"the data could not be serialised ({type(error).__name__})"})
    if len(serialised) <= DATA_LIMIT:
        return serialised
    return dumps({"[dropped]": f"{len(serialised)} characters, more than are kept"})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return list(value)
    return as_text(value)


#: A value as JSON, in ASCII. One writer for all: making one takes as long as writing an event.
in_json = writer(_plain)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LEAF_LIMIT:
        return f"{value[:_LEAF_LIMIT]}[{len(value)} characters in all]"
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value
