"""Follows the record and sends it to a collector, in a process of its own that the daemon starts.

The record is the buffer: nothing is queued in the daemon, so a collector that is slow or down cannot delay a decision, and
what was not sent is sent after a restart. Only what is more than ``buffer`` events behind is dropped, and counted.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import hookline
from hookline.core.files import atomic_writer, open_locked, read_json
from hookline.core.isolation import MAIN
from hookline.core.settings import RecordSettings, TelemetrySettings
from hookline.state.record.query import load_runs, rows_after
from hookline.state.record.store import Store, store_in

_PLACE, _LOCK = "telemetry.json", "telemetry.lock"
#: Events of one batch, seconds between two looks, and between two exports of metrics.
_BATCH, _PACE, _METRICS = 200, 1.0, 10.0
#: Seconds after a failure; the next time twice as long.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
#: Seconds before the daemon starts it for the first time: the event that made it look is among them.
_JUST_NOW = 10.0
#: Variables that would send it elsewhere, or make another collector look like the right one. The daemon has those of the
#: agent that started it, and a repository can set an agent's.
_ELSEWHERE = re.compile(r"OTEL_.*|.*_proxy|(?:REQUESTS|CURL)_CA_BUNDLE|SSL_CERT_(?:FILE|DIR)|NETRC", re.IGNORECASE)


class Exporter:
    """Where it is in the record, and the way to the collector."""

    def __init__(
        self,
        state: str,
        settings: TelemetrySettings,
        *,
        since: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``since``: where nothing was ever sent, events from this time on; else those to come."""
        from hookline.telemetry.sender import Sender  # the SDK: only this process pays for it

        self._state, self._settings, self._clock = state, settings, clock
        self._store = store_in(state, RecordSettings())
        self._sender = Sender(settings, hookline.__version__)
        kept = _read_place(state)
        self._sent: int = kept.get("sent", -1)
        self.dropped: int = kept.get("dropped", 0)
        self._counted = self._sent
        self._next_metrics = 0.0
        if self._sent < 0:
            self._sent = self._counted = _newest(self._store) if since is None else _newest_before(self._store, since)
            self._keep_place()

    def step(self) -> bool:
        """Send one batch; False if the collector did not take it."""
        newest = _newest(self._store)
        if newest < self._sent:  # another record, which counts anew
            self._sent = self._counted = 0
        self._drop_surplus(newest)
        self._sender.waiting = newest - self._sent
        rows = rows_after(self._store, self._sent, _BATCH)
        runs = load_runs(self._store, [row.number for row in rows])
        events = [
            (row.to_json(), [run.to_json() for run in runs[row.number]], str((row.wire or {}).get("traceparent", "")))
            for row in rows
        ]
        self._sender.count([one for one, row in zip(events, rows, strict=True) if row.number > self._counted])
        self._counted = max(self._counted, rows[-1].number if rows else 0)
        sent = self._sender.send(events)
        if sent and rows:
            self._sent = rows[-1].number
            self._keep_place()
        if self._clock() >= self._next_metrics:
            self._next_metrics = self._clock() + _METRICS
            self._sender.waiting = _newest(self._store) - self._sent
            self._sender.send_metrics()
        return sent

    @property
    def behind(self) -> bool:
        return _newest(self._store) > self._sent

    def _drop_surplus(self, newest: int) -> None:
        surplus = newest - self._sent - self._settings.buffer
        if surplus > 0:
            self._sent += surplus
            self._counted = max(self._counted, self._sent)
            self.dropped += surplus
            self._sender.drop(surplus)
            self._keep_place()

    def _keep_place(self) -> None:
        with contextlib.suppress(OSError), atomic_writer(os.path.join(self._state, _PLACE), durable=False) as file:
            file.write(json.dumps({"sent": self._sent, "dropped": self.dropped}).encode())

    def close(self) -> None:
        self._sender.send_metrics()
        self._sender.close()
        self._store.close()


def _newest(store: Store) -> int:
    rows = store.read("SELECT max(number) FROM firings")
    return int(rows[0][0] or 0) if rows else 0


def _newest_before(store: Store, when: float) -> int:
    rows = store.read("SELECT max(number) FROM firings INDEXED BY firings_look WHERE time < ?", (when,))
    return int(rows[0][0] or 0) if rows else 0


def _read_place(state: str) -> dict[str, int]:
    found = read_json(os.path.join(state, _PLACE))
    try:
        return {name: int(found[name]) for name in ("sent", "dropped")}
    except (ValueError, KeyError, TypeError):
        return {}


def status(state: str) -> dict[str, int]:
    """Up to which event was sent, and how many were dropped; empty where nothing was ever sent."""
    return _read_place(state)


def run(state: str, settings: TelemetrySettings, parent: int = 0, since: float | None = None) -> bool:
    """Until the daemon ends, or another one runs. False when another one does."""
    try:
        lock = open_locked(os.path.join(state, _LOCK), os.O_RDWR | os.O_CREAT)
    except OSError:
        lock = None
    if lock is None:  # another one runs
        return False
    logging.disable(logging.CRITICAL)  # the SDK logs every attempt; what matters is counted
    exporter = Exporter(state, settings, since=since)
    pause = 0.0
    try:
        while not parent or os.getppid() == parent:
            sent = exporter.step()
            pause = 0.0 if sent else min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
            if pause or not exporter.behind:
                time.sleep(pause or _PACE)
    finally:
        exporter.close()
        os.close(lock)
    return True


class Supervisor:
    """The daemon's side: starts a process when it is wanted, and again when it has ended."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._not_before: dict[str, float] = {}

    def ensure(self, state: str, settings: TelemetrySettings, environ: Mapping[str, str]) -> None:
        given = json.dumps({"endpoint": settings.endpoint, "headers": settings.headers, "buffer": settings.buffer,
                            "timeout": settings.timeout, "since": time.time() - _JUST_NOW})  # fmt: skip
        self._ensure(state, ["daemon", "export", "--directory", state], environ, given)

    def ensure_link(self, environ: Mapping[str, str]) -> None:
        """What speaks with the fleet's broker."""
        self._ensure("fleet", ["fleet", "link"], environ, "")

    def _ensure(self, name: str, words: Sequence[str], environ: Mapping[str, str], given: str) -> None:
        process = self._running.get(name)
        if process is not None and process.poll() is None:
            return
        now = time.monotonic()
        if now < self._not_before.get(name, 0.0):
            return
        self._not_before[name] = now + 10.0
        with contextlib.suppress(OSError):
            self._running[name] = subprocess.Popen(
                [sys.executable, "-I", MAIN, *words, "--parent", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: value for name, value in environ.items() if not _ELSEWHERE.fullmatch(name)},
            )
            pipe = self._running[name].stdin
            assert pipe is not None
            pipe.write(given.encode())
            pipe.close()

    def close(self) -> None:
        for process in self._running.values():
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                process.terminate()
                process.wait(2.0)
