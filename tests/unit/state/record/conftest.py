"""Records to write; run as a program, this file writes many of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.result import Decision, Effect, Outcome, Replied, Reply, RunResult
from hookline.state.record import Record
from hookline.state.record.store import Store


def _replied(hook: str = "guard", *, ms: float = 3.0, stdout: str = "ok\n", effect: Effect | None = None) -> Replied:
    return Replied(
        id=f"id-{hook}", hook=hook, ms=ms, raw=RunResult(exit_code=0, stdout=stdout), reply=Reply(effect=effect)
    )


def _firing(
    *outcomes: Outcome,
    event: str = "PreToolUse",
    data: Any = None,
    session: str = "s",
    effect: Effect = "allow",
    environ: dict[str, str] | None = None,
    time: float = 1000.0,
    id: str = "",  # noqa: A002 - the event's field
    **decision: Any,
) -> Record:
    data = {"tool_name": "Bash"} if data is None else data
    happened = Event(
        kind=event_kind(event),
        data=data,
        id=id,
        session=session,
        environ=environ or {},
        time=time,
        cwd="/p",
        native_name=event,
    )
    told = Decision(**{"event": event, "effect": effect, "data": data, "outcomes": outcomes, **decision})
    return Record(event=happened, decision=told, specs={}, ms=4.0)


@pytest.fixture
def replied() -> Callable[..., Replied]:
    return _replied


@pytest.fixture
def firing() -> Callable[..., Record]:
    return _firing


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "hookline.db")


@pytest.fixture
def store(path: str) -> Iterator[Store]:
    store = Store(path, keep_days=0)
    yield store
    store.close()


def main(path: str, writer: str, count: int) -> None:
    """Write ``count`` firings, telling each id once it is kept."""
    store = Store(path, keep_days=0)
    for number in range(count):
        kept = store.write(_firing(_replied(), session=writer, id=f"{writer}-{number}"))
        sys.stdout.write(f"{kept}\n")
        sys.stdout.flush()
    if store.note:
        sys.stderr.write(store.note)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
