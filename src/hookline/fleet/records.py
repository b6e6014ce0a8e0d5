"""The records of a machine, sent to the broker exactly once. The local record is the spool: nothing is queued elsewhere.

Records of one source go out one after the other, each with the sequence of the one before it, which the broker checks; the
mark moves when the broker has acknowledged. After a kill, an answer that was lost, or a mark that a power failure took, the
last record that the broker has of this source says how far we came, however long ago that was. So the broker's memory of
message ids, which is short, only saves a question, and the mark need not be forced onto the disk.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import APIError, NotFoundError

from hookline.core._dataclass import dataclass, replace
from hookline.core.files import atomic_writer
from hookline.core.settings import RecordSettings
from hookline.fleet.manifest import Records
from hookline.fleet.subjects import RECORDS, record_subject
from hookline.state.record.query import Row, Run, load_runs, rows_after
from hookline.state.record.store import Store, store_in

_BATCH, _LARGEST, _LONGEST_TEXT, WRONG_SEQUENCE = 50, 1 << 18, 4096, 10071
#: Of a hook's run. What it printed stays on the machine.
_OUTCOME = ("hook", "hook_id", "status", "effect", "exit_code", "ms", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """How far a source has come: the last row that was dealt with, and the sequence of the last one that was sent."""

    number: int = -1
    sequence: int = 0
    sent: int = 0
    #: Rows that were gone, or too many, before they could be sent.
    dropped: int = 0
    #: Of the newest row that was dealt with.
    time: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    newest: int
    rows: Sequence[tuple[int, Mapping[str, Any]]]


Read: TypeAlias = Callable[[int, int], Awaitable[Batch]]


def read_batch(store: Store, after: int, most: int) -> Batch:
    """Rows after this one as they may leave the machine: redacted when they were written, and without hooks' output."""
    rows = rows_after(store, after, most) if most else []
    runs = load_runs(store, [row.number for row in rows])
    newest = store.read("SELECT max(number) FROM firings")
    return Batch(
        newest=int(newest[0][0] or 0) if newest else 0,
        rows=[(row.number, _record(row, runs[row.number])) for row in rows],
    )


def own_store(state: str) -> Read:
    store = store_in(state, RecordSettings())

    async def read(after: int, most: int) -> Batch:
        return read_batch(store, after, most)

    return read


def _record(row: Row, runs: Sequence[Run]) -> dict[str, Any]:
    fields = row.to_json()
    fields["outcomes"] = [{name: getattr(run, name) for name in _OUTCOME} for run in runs]
    return fields


def _select(record: Mapping[str, Any], rules: Records, machine: str, source: str) -> bytes | None:
    """What is sent of a record; None if it stays here."""
    denied = record["effect"] == "deny" or record.get("aborted")
    if rules.send == "none" or (rules.send == "denies" and not denied):
        return None
    sent = {"machine": machine, "source": source, **{name: record.get(name) for name in rules.fields}}
    data = json.dumps(sent, ensure_ascii=False, default=str).encode("utf-8", "replace")
    if len(data) > _LARGEST:  # what makes a record long is what it is about, not that it happened
        kept = {name: value for name, value in sent.items() if name not in {"data", "context", "messages", "outcomes"}}
        short = {name: one[:_LONGEST_TEXT] if isinstance(one, str) else one for name, one in kept.items()}
        data = json.dumps({**short, "shortened": True}, ensure_ascii=False, default=str).encode("utf-8", "replace")
    return data


class Shipper:
    """One source on its way to the broker."""

    def __init__(self, stream: JetStreamContext, machine: str, source: str, read: Read, place: str) -> None:
        self._stream, self._machine, self._source, self._read, self._place = stream, machine, source, read, place
        self._subject = record_subject(machine, source)
        self.mark = self._kept = _read_mark(place)
        self.waiting = 0

    async def step(self, rules: Records) -> int:
        """Deal with a batch; how many rows that were."""
        batch = await self._read(max(self.mark.number, 0), 0 if self.mark.number < 0 else _BATCH)
        if self.mark.number < 0:  # what was before the machine joined is nobody's business
            self._keep(replace(self.mark, number=batch.newest))
            return 0
        if batch.newest < self.mark.number:  # another record, which counts anew, or an older copy of the same one
            self._keep(replace(self.mark, number=await self._known()))
            return 1
        self.waiting = batch.newest - self.mark.number
        surplus = self.waiting - rules.spool
        if surplus > 0:
            self._keep(replace(self.mark, number=self.mark.number + surplus, dropped=self.mark.dropped + surplus))
            return 1
        try:
            await self._send_rows(batch.rows, rules)
        finally:
            if self.mark != self._kept:
                self._keep(self.mark)
        return len(batch.rows)

    async def _send_rows(self, rows: Sequence[tuple[int, Mapping[str, Any]]], rules: Records) -> None:
        before = self.mark.number
        for number, record in rows:
            missing, before = number - before - 1, number
            if number <= self.mark.number:  # the broker had it already
                continue
            data = _select(record, rules, self._machine, self._source)
            sent = data is not None and await self._send(str(record["id"]), data)
            mark = replace(self.mark, number=max(number, self.mark.number), dropped=self.mark.dropped + missing)
            self.mark = replace(mark, sent=mark.sent + sent, time=max(mark.time, float(record["time"])))

    async def _send(self, event: str, data: bytes) -> bool:
        """True when the broker has it, now or since before; the mark then has its sequence."""
        name = f"{event}@{self._machine}"
        while True:
            headers: dict[str, Any] = {
                Header.MSG_ID: name, Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(self.mark.sequence),
            }  # fmt: skip
            try:
                taken = await self._stream.publish(self._subject, data, stream=RECORDS, headers=headers)
                if not taken.duplicate:
                    self.mark = replace(self.mark, sequence=taken.seq)
                    return True
                # A server says so of a message too that it has only begun to keep, and may yet lose.
            except APIError as error:
                if error.err_code != WRONG_SEQUENCE:
                    raise
            sequence, last = await self._last()
            if sequence == self.mark.sequence:
                await asyncio.sleep(0.5)  # a server that is behind the others has answered
            number = await self._number(last)
            self.mark = replace(self.mark, sequence=sequence, number=max(number, self.mark.number))
            if last == name or number:
                return True

    async def _number(self, name: str) -> int:
        """The row behind the mark that the broker has already; 0 if it has none of them."""
        async for number, record in self._rows(self.mark.number):
            if f"{record['id']}@{self._machine}" == name:
                return number
        return 0

    async def _known(self) -> int:
        """The last row that is not newer than what was dealt with before: a record may come back from a backup."""
        known = 0
        async for number, record in self._rows(0):
            if record["time"] > self.mark.time:
                break
            known = number
        return known

    async def _rows(self, after: int) -> AsyncGenerator[tuple[int, Mapping[str, Any]]]:
        while rows := (await self._read(after, 10 * _BATCH)).rows:
            for one in rows:
                yield one
            after = rows[-1][0]

    async def _last(self) -> tuple[int, str]:
        """Sequence and name of the last record that the broker has of this source."""
        try:
            found = await self._stream.get_last_msg(RECORDS, self._subject, direct=True)
        except NotFoundError:
            return 0, ""
        return found.seq or 0, (found.headers or {}).get(Header.MSG_ID, "")

    def _keep(self, mark: _Mark) -> None:
        """Raises OSError: what cannot be marked as sent must not be followed by more."""
        with atomic_writer(self._place, durable=False) as file:
            file.write(json.dumps(asdict(mark)).encode())
        self.mark = self._kept = mark


def _read_mark(place: str) -> _Mark:
    try:
        with open(place, encoding="utf-8") as file:
            tree = json.load(file)
        return _Mark(
            **{name: int(tree[name]) for name in _Mark.__slots__ if name != "time"}, time=float(tree.get("time", 0))
        )
    except (OSError, ValueError, KeyError, TypeError):
        return _Mark()


def marks(folder: str) -> dict[str, _Mark]:
    """Source -> how far it has come."""
    place = os.path.join(folder, "sources")
    names = os.listdir(place) if os.path.isdir(place) else []
    return {
        name.removesuffix(".json"): _read_mark(os.path.join(place, name)) for name in names if name.endswith(".json")
    }
