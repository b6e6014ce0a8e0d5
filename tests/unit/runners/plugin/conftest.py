"""Real plugins, started as a person's would be, and a runner that must leave nothing behind."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.hook import HookSpec, Origin, Plugin
from hookline.core.settings import Settings
from hookline.dialects.base import Call
from hookline.runners.base import Job, Stop
from hookline.runners.plugin.runner import PluginRunner
from hookline.runners.plugin.startup import Child, ExitStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PROGRAMS = Path(__file__).parents[3] / "processes" / "plugins"


class Bench:
    """A runner with one folder for everything it makes, and what it told about its plugins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(state_dir=str(folder / "state"))
        self.runner = PluginRunner()
        self.runner.on_event = self._heard
        self.stop = Stop()
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self._news = threading.Condition()

    def program(self, name: str) -> str:
        """The plugin under the interpreter that runs the tests: ``env python3`` may be a slow wrapper."""
        source = PROGRAMS / f"{name}_plugin.py"
        path = self.folder / name
        if not path.exists():  # several threads may ask at once, so it appears whole or not at all
            new = self.folder / f"{name}.{threading.get_ident()}"
            start = f"import sys; sys.path.insert(0, {str(PROGRAMS)!r})"
            new.write_text(
                f"#!{sys.executable} -SE\n{start}\nexec(compile(open({str(source)!r}).read(), {name!r}, 'exec'))\n"
            )
            new.chmod(0o755)
            new.rename(path)
        return str(path)

    def job(self, name: str, data: dict[str, Any] | None = None, *, timeout: float = 60.0, **more: Any) -> Job:
        path = more.pop("path", None) or self.program(name)
        event = Event(
            kind=event_kind("input.submit"),
            data=data or {"text": "x"},
            environ={**os.environ, **more.pop("environ", {})},
        )
        spec = HookSpec(
            id=name, name=name, dialect="lash", event="input.submit", origin=Origin(file="test"),
            action=Plugin(name=name, path=path), timeout=timeout,
        )  # fmt: skip
        body = json.dumps({"event": "input.submit", "data": event.data}).encode() + b"\n"
        return Job(
            spec=replace(spec, **more), event=event, call=Call(stdin=body), settings=self.settings, stop=self.stop
        )

    def pid(self, name: str) -> int:
        [data] = [data for kind, data in self.events if kind == "plugin.load" and data["name"] == name][-1:]
        return int(data["pid"])

    def wait_for(self, kind: str, seconds: float = 60.0) -> Mapping[str, Any]:
        with self._news:
            assert self._news.wait_for(lambda: any(event == kind for event, _ in self.events), seconds), self.events
            return next(data for event, data in self.events if event == kind)

    def _heard(self, kind: str, data: Mapping[str, Any]) -> None:
        with self._news:
            self.events.append((kind, data))
            self._news.notify_all()


def _patiently(wait: Callable[[Child, float], ExitStatus | None]) -> Callable[[Child, float], ExitStatus | None]:
    """A process that has closed its connection has a moment to end, so that it can be told how: here, a long one."""

    def longer(child: Child, until: float) -> ExitStatus | None:
        left = until - time.monotonic()
        return wait(child, until + 20 if 0.0 < left <= 0.05 else until)

    return longer


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    for place in ("startup", "runner"):  # a busy machine may take long to start a program
        monkeypatch.setattr(f"hookline.runners.plugin.{place}.DEADLINE", 60.0)
    monkeypatch.setattr(Child, "wait", _patiently(Child.wait))
    made = Bench(tmp_path)
    yield made
    made.runner.close()
    made.stop.close()
    assert list((tmp_path / "state").glob("plugins/p-*")) == []
