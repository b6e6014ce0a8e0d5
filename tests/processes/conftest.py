"""Jobs for real, hostile programs, and the search for what they leave behind."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import eventually

from hookline.core.event import EVENTS, Event
from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.result import RunResult
from hookline.core.settings import Limits, Settings
from hookline.dialects.base import Call
from hookline.runners.base import Job, Stop
from hookline.runners.command import CommandRunner

PROGRAMS = Path(__file__).parent / "programs"

MakeJob = Callable[..., Job]


@pytest.fixture
def marker() -> str:
    return f"hookline-test-{uuid.uuid4().hex}"


class Awaited(CommandRunner):
    """The same runner through its other door: under an event loop, without a thread."""

    def run(self, job: Job) -> RunResult:
        return asyncio.run(self.arun(job))


@pytest.fixture(params=[CommandRunner, Awaited])
def runner(request: pytest.FixtureRequest) -> CommandRunner:
    """Every law about processes holds behind both doors."""
    made: CommandRunner = request.param()
    return made


@pytest.fixture
def job(tmp_path: Path, marker: str) -> Iterator[MakeJob]:
    """``job("flood", "arg", timeout=0.3)``: a name without a slash is one of our programs, if there is one."""
    stops: list[Stop] = []

    def make(
        *argv: str, timeout: float | None = 60.0, grace: float = 0.2, output: int = 1 << 20, stop: Stop | None = None,
        cwd: str = "", environ: dict[str, str] | None = None, base: str = "", **call: Any,
    ) -> Job:  # fmt: skip
        first = str(PROGRAMS / argv[0]) if argv and (PROGRAMS / argv[0]).exists() else argv[0] if argv else ""
        spec = HookSpec(
            id="1", name="hostile", dialect="native", event="PreToolUse", origin=Origin(file="test"), timeout=timeout,
            action=Command(form="argv", base=base),
        )  # fmt: skip
        caller = {**os.environ, "HOOKLINE_TEST_MARKER": marker} if environ is None else environ
        event = Event(kind=EVENTS["PreToolUse"], data={}, cwd=cwd, environ=caller)
        settings = Settings(limits=Limits(output=output, grace=grace), state_dir=str(tmp_path / "state"))
        stops.append(stop or Stop())
        words = (first, *argv[1:]) if argv else ()
        return Job(spec=spec, event=event, call=Call(argv=words, **call), settings=settings, stop=stops[-1])

    yield make
    for stop in stops:
        stop.close()


@pytest.fixture
def survivors(marker: str) -> Callable[[], list[str]]:
    """The command lines of living processes that inherited the marker; asked again while some are dying."""

    def look() -> list[str]:
        eventually(lambda: not _carrying(marker), 20)
        return _carrying(marker)

    return look


def _carrying(marker: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
            if alive and marker.encode() in (entry / "environ").read_bytes():
                found.append(f"{entry.name} {(entry / 'cmdline').read_bytes().decode(errors='replace')}")
        except OSError:
            continue
    return found
