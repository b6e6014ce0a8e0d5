"""Where records go from the broker: a durable consumer for each sink, which acknowledges what is safely written.

A record that is delivered again, because an acknowledgement or the sink itself was lost, is recognized by the stream and its
sequence in it: by the database, or by the Parquet files written since the consumer's last acknowledgement. A broker that
lost its disk has another stream, which counts from one again. What goes to standard
output cannot be taken back, so there a record may come twice after a kill.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError

from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, StateError
from hookline.core.extras import extra_needed
from hookline.core.files import open_locked
from hookline.fleet.connection import UNREACHABLE
from hookline.fleet.subjects import RECORDS

_BATCH, _ACK_WAIT = 500, 60
#: Empty answers after which we ask whether the broker still knows us.
_IDLE = 10
_TEXTS = ("id", "machine", "source", "event", "agent", "session", "effect", "reason", "cwd")
_NESTED = ("data", "context", "messages", "outcomes")
_TABLE = f"""CREATE TABLE IF NOT EXISTS hookline_records (
  stream text NOT NULL, sequence bigint NOT NULL, received timestamptz NOT NULL, "time" double precision,
  {", ".join(f"{name} text" for name in _TEXTS)}, ms double precision, {", ".join(f"{name} jsonb" for name in _NESTED)},
  PRIMARY KEY (stream, sequence))"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A record as it came; ``stream`` tells one broker's sequences from another's."""

    stream: str
    sequence: int
    received: str
    record: dict[str, Any]

    def row(self) -> dict[str, Any]:
        """Flat: texts and numbers as they are, what is nested as JSON."""
        texts = {name: None if (value := self.record.get(name)) is None else str(value) for name in _TEXTS}
        nested = {name: json.dumps(value) if (value := self.record.get(name)) is not None else None for name in _NESTED}
        numbers = {name: _number(self.record.get(name)) for name in ("time", "ms")}
        known = {"stream": self.stream, "sequence": self.sequence, "received": self.received}
        return {**known, **texts, **numbers, **nested}


class _Target(Protocol):
    """Blocks until a batch is on the disk. ``write`` may be given what it has already. ``gather``: seconds for a batch."""

    gather: float

    def begin(self, stream: str, acknowledged: int) -> None: ...

    def write(self, batch: Sequence[Received]) -> None: ...


class _Stdout:
    gather = 0.1

    def begin(self, stream: str, acknowledged: int) -> None:
        """Nothing is known of what was printed before."""

    def write(self, batch: Sequence[Received]) -> None:
        for one in batch:
            sys.stdout.write(json.dumps({"sequence": one.sequence, **one.record}, ensure_ascii=False) + "\n")
        sys.stdout.flush()


class Parquet:
    """A file for each batch, ``STREAM-FIRST-LAST.parquet``, complete or not there."""

    gather = 1.0  # fewer files

    def __init__(self, folder: str) -> None:
        with extra_needed("parquet", "pyarrow"):
            self._arrow, self._parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        self._folder = folder
        os.makedirs(folder, exist_ok=True)
        self._lock = open_locked(os.path.join(folder, ".lock"))
        if self._lock is None:
            raise StateError(f"another sink writes to {folder}; give each a folder of its own")
        self._written = set[int]()

    def begin(self, stream: str, acknowledged: int) -> None:
        self._written.clear()
        for name in os.listdir(self._folder):
            last = name.removesuffix(".parquet").rpartition("-")[2]
            if name.endswith(".parquet") and last.isdigit() and int(last) > acknowledged:
                rows = self._parquet.read_table(os.path.join(self._folder, name), columns=["stream", "sequence"])
                self._written |= {one["sequence"] for one in rows.to_pylist() if one["stream"] == stream}

    def write(self, batch: Sequence[Received]) -> None:
        fresh = [one for one in batch if one.sequence not in self._written]
        if not fresh:
            return
        numbers = [one.sequence for one in fresh]
        stream = "".join(one for one in fresh[0].stream[:19] if one.isdigit())  # when it was made
        path = os.path.join(self._folder, f"{stream}-{min(numbers):012d}-{max(numbers):012d}.parquet")
        arrow = self._arrow
        fields = [("stream", arrow.string()), ("sequence", arrow.int64()), ("received", arrow.string())]
        fields += [(name, arrow.string()) for name in (*_TEXTS, *_NESTED)]
        fields += [(name, arrow.float64()) for name in ("time", "ms")]
        table = arrow.Table.from_pylist([one.row() for one in fresh], schema=arrow.schema(fields))
        with open(f"{path}.new", "wb") as file:
            self._parquet.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)
        # What was acknowledged long ago does not come again.
        self._written = {one for one in self._written if one > min(numbers) - 20 * _BATCH} | set(numbers)


class Postgres:
    """One transaction for a batch. The password belongs into ~/.pgpass or PGPASSWORD, not onto a command line."""

    gather = 0.1

    def __init__(self, dsn: str) -> None:
        with extra_needed("postgres", "psycopg"):
            self._library: Any = import_module("psycopg")
        self._dsn = dsn
        self._connection: Any = None

    def begin(self, stream: str, acknowledged: int) -> None:
        self._connect()

    def _connect(self) -> Any:
        if self._connection is None or self._connection.closed:
            try:
                self._connection = self._library.connect(self._dsn, connect_timeout=10)
                with self._connection.transaction():
                    self._connection.execute(_TABLE)
            except self._library.Error as error:
                raise StateError(f"the database cannot be used: {str(error).strip()}") from None
        return self._connection

    def write(self, batch: Sequence[Received]) -> None:
        rows = [{name: _clean(value) for name, value in one.row().items()} for one in batch]
        names = list(rows[0])
        columns, values = ", ".join(f'"{name}"' for name in names), ", ".join(f"%({name})s" for name in names)
        statement = f"INSERT INTO hookline_records ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING"  # noqa: S608
        connection = self._connect()
        try:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(statement, rows)
        except self._library.Error as error:
            connection.close()
            raise StateError(f"the database refused {len(rows)} records: {str(error).strip()}") from None


def open_target(kind: str, place: str) -> _Target:
    if kind == "stdout":
        return _Stdout()
    return Parquet(place) if kind == "parquet" else Postgres(place)


def _clean(value: Any) -> Any:
    """PostgreSQL keeps no NUL."""
    return value.replace("\0", "").replace("\\u0000", "") if isinstance(value, str) else value


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


async def consume(
    client: Client, name: str, target: _Target, wanted: Callable[[], bool], say: Callable[[str], None]
) -> int:
    """Until nobody wants it any more; how many records were written. A target that fails is tried again."""
    stream, written, idle = client.jetstream(), 0, 0
    pulled, identity = await _subscribe(stream, f"sink-{name}", target)
    while wanted():
        try:
            messages = await _gather(pulled, target.gather)
            idle = 0 if messages else idle + 1
            if idle >= _IDLE and not await _still_there(stream, f"sink-{name}"):
                say("the broker has forgotten this sink, as after the loss of a disk; beginning anew")
                pulled, identity = await _subscribe(stream, f"sink-{name}", target)
        except (*UNREACHABLE, ConfigError) as error:
            say(f"the broker cannot be used ({error}); trying again")
            await asyncio.sleep(1)
            continue
        if not messages:
            continue
        good = [one for message in messages if (one := parse_message(message, identity)) is not None]
        if len(good) < len(messages):
            say(f"{len(messages) - len(good)} messages are not records of their senders; left out")
        while good and wanted():
            try:
                await asyncio.to_thread(target.write, good)
                break
            except (StateError, OSError) as error:
                say(f"{error}; trying again")
                await asyncio.sleep(1)
        else:
            if good:
                break
        written += len(good)
        try:
            for message in messages:
                await message.ack()
        except UNREACHABLE:
            continue  # they come again, and are recognized
    return written


async def _gather(pulled: JetStreamContext.PullSubscription, seconds: float) -> list[Msg]:
    """What comes within so many seconds of the first, as far as it fits into a batch."""
    messages: list[Msg] = []
    until = 0.0
    while len(messages) < _BATCH and (not messages or time.monotonic() < until):
        try:
            messages += await pulled.fetch(
                _BATCH - len(messages), timeout=max(0.05, until - time.monotonic()) if messages else 1
            )
        except (TimeoutError, NatsTimeoutError):
            break
        until = until or time.monotonic() + seconds
    return messages


async def _subscribe(
    stream: JetStreamContext, durable: str, target: _Target
) -> tuple[JetStreamContext.PullSubscription, str]:
    """The durable consumer, and which stream this is. Raises ConfigError."""
    config = api.ConsumerConfig(
        durable_name=durable, ack_policy=api.AckPolicy.EXPLICIT, ack_wait=_ACK_WAIT, max_ack_pending=2 * _BATCH
    )
    try:
        pulled = await stream.pull_subscribe("", durable=durable, stream=RECORDS, config=config)
    except NotFoundError:
        raise ConfigError("the broker has no stream of records yet; to create it: hookline fleet status") from None
    consumer, about = await stream.consumer_info(RECORDS, durable), await stream.stream_info(RECORDS)
    identity = str(about.created)
    await asyncio.to_thread(target.begin, identity, consumer.ack_floor.stream_seq if consumer.ack_floor else 0)
    return pulled, identity


async def _still_there(stream: JetStreamContext, durable: str) -> bool:
    try:
        await stream.consumer_info(RECORDS, durable)
    except NotFoundError:
        return False
    return True


def parse_message(message: Msg, stream: str) -> Received | None:
    """None for what no machine sent as its record: a server puts its answers wherever a request says."""
    parts, headers = message.subject.split("."), message.headers or {}
    try:
        record = json.loads(message.data)
        expected = f"{record['id']}@{parts[2]}"
        if headers.get(api.Header.MSG_ID) != expected or [record["machine"], record["source"]] != parts[2:]:
            return None
        received = message.metadata.timestamp.isoformat()
        return Received(stream=stream, sequence=message.metadata.sequence.stream, received=received, record=record)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
