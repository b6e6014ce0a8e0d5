"""Recorded events for other programs: JSON lines, CSV, Parquet."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

from hookline.cli.output import iso_time, json_line
from hookline.core.errors import StateError, UsageError
from hookline.core.extras import extra_needed
from hookline.state.record.query import Row, Run

#: Columns of a table, each a plain value; what is nested is JSON in a text.
_TEXTS = ("id", "session", "agent", "event", "native_event", "cwd", "effect", "reason")
_NESTED = ("data", "before", "context", "messages", "attributes", "conflicts", "ignored", "aborted")
#: All of them, with what is not a text: the same for every export, also of nothing.
_KINDS = {
    "number": "int64", "time": "", **dict.fromkeys(_TEXTS, ""), "turn": "int64", "granted": "bool", "modified": "bool",
    "ms": "float64", "pid": "int64", **dict.fromkeys(_NESTED, ""), "outcomes": "",
}  # fmt: skip


def export(rows: Sequence[Row], runs: Mapping[int, Sequence[Run]], form: str, output: str | None) -> None:
    """Write them to ``output``, or to standard output."""
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError("parquet is binary; name a file: --output FILE")
    try:
        if output is not None:
            with open(output, "wb") as file:
                _write(file, rows, runs, form)
        else:
            _write(sys.stdout.buffer, rows, runs, form)
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StateError(f"{output or 'standard output'} cannot be written: {error.strerror}") from error


def _write(file: IO[bytes], rows: Sequence[Row], runs: Mapping[int, Sequence[Run]], form: str) -> None:
    if form == "parquet":
        _write_parquet(file, [_flat(row, runs.get(row.number, ())) for row in rows])
    elif form == "csv":
        _write_csv(file, [_flat(row, runs.get(row.number, ())) for row in rows])
    else:
        for row in rows:
            outcomes = [one.to_json() for one in runs.get(row.number, ())]
            file.write(json_line({**row.to_json(), "time": iso_time(row.time), "outcomes": outcomes}).encode() + b"\n")


def _flat(row: Row, runs: Sequence[Run]) -> dict[str, Any]:
    nested = {name: _json(getattr(row, name)) for name in _NESTED}
    return {
        "number": row.number, "time": iso_time(row.time), **{name: getattr(row, name) for name in _TEXTS},
        "turn": row.turn, "granted": row.granted, "modified": row.modified, "ms": row.ms, "pid": row.pid, **nested,
        "outcomes": json.dumps([one.to_json() for one in runs], ensure_ascii=False),
    }  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


def _write_csv(file: IO[bytes], rows: Sequence[Mapping[str, Any]]) -> None:
    import io  # only an export needs it

    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.DictWriter(text, list(_KINDS))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    text.detach()


def _harmless(value: Any) -> Any:
    """A spreadsheet takes a text that begins so for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in set("=+-@\t\r") else value


def _write_parquet(file: IO[bytes], rows: Sequence[Mapping[str, Any]]) -> None:
    with extra_needed("parquet", "pyarrow"):
        import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs]  # the extra ``parquet``
        import pyarrow.parquet as pq  # pyright: ignore[reportMissingTypeStubs]
    schema = pa.schema([(name, kind or "string") for name, kind in _KINDS.items()])
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), file)
