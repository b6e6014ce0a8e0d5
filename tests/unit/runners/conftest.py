"""Jobs for runners that need no process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.core.event import EVENTS, Event
from hookline.core.hook import Action, HookSpec, Origin
from hookline.core.settings import Limits, Settings
from hookline.dialects.base import Call
from hookline.runners.base import Job, Stop

MakeJob = Callable[..., Job]


@pytest.fixture
def job_for(tmp_path: Path) -> Iterator[MakeJob]:
    stops: list[Stop] = []

    def make(
        action: Action, *, timeout: float | None = 60.0, output: int = 1 << 20, environ: dict[str, str] | None = None,
        stop: Stop | None = None, **call: Any,
    ) -> Job:  # fmt: skip
        spec = HookSpec(
            id="1", name="a hook", dialect="native", event="PreToolUse", origin=Origin(file="test"), timeout=timeout,
            action=action,
        )  # fmt: skip
        caller = dict(os.environ) if environ is None else environ
        event = Event(kind=EVENTS["PreToolUse"], data={"tool_name": "Bash"}, environ=caller)
        settings = Settings(limits=Limits(output=output), state_dir=str(tmp_path / "state"))
        stops.append(stop or Stop())
        return Job(spec=spec, event=event, call=Call(**call), settings=settings, stop=stops[-1])

    yield make
    for stop in stops:
        stop.close()
