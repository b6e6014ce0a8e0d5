"""A runner with scripted hooks that remembers what it ran."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from hookline.core._dataclass import dataclass, field
from hookline.core.result import RunResult
from hookline.runners import RunnerPool
from hookline.runners.base import Job

#: A RunResult, a function of the job, or the value that a Python hook would return.
_Script = Any


@dataclass(slots=True)
class FakeRunner:
    """Satisfies ``Runner``. ``scripts`` map hook names to results; a hook without one has no opinion."""

    scripts: Mapping[str, _Script] = field(default_factory=dict[str, Any])
    ran: list[Job] = field(default_factory=list["Job"])
    started: list[Job] = field(default_factory=list["Job"])
    closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def run(self, job: Job) -> RunResult:
        with self._lock:
            self.ran.append(job)
        return _run_script(self.scripts.get(job.spec.name), job)

    async def arun(self, job: Job) -> RunResult:
        """Under a running loop, functions are awaited rather than put into a thread."""
        return self.run(job)

    def start(self, job: Job) -> RunResult:
        with self._lock:
            self.started.append(job)
        return RunResult()

    def close(self) -> None:
        self.closed = True

    @property
    def names(self) -> list[str]:
        """The hooks that ran, in the order in which they began."""
        return [job.spec.name for job in self.ran]


def _run_script(script: _Script, job: Job) -> RunResult:
    if isinstance(script, RunResult):
        return script
    if not callable(script):
        return RunResult(value=script)
    act: Callable[[Job], Any] = script
    try:
        value = act(job)
    except Exception as error:
        return RunResult(error=f"raised {type(error).__name__}: {error}")
    return value if isinstance(value, RunResult) else RunResult(value=value)


class FakeCrew(RunnerPool):
    """One fake runner for every kind of action: ``Engine(specs=…, crew=FakeCrew({"no-rm": …}))``."""

    __slots__ = ("runner",)

    def __init__(self, scripts: Mapping[str, _Script] | None = None) -> None:
        super().__init__()
        self.runner = FakeRunner(scripts or {})

    def __missing__(self, kind: type) -> FakeRunner:
        return self.runner

    def close(self) -> None:
        self.runner.close()
