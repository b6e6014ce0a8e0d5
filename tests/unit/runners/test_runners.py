from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata

import pytest

from hookline.core.errors import UsageError
from hookline.core.hook import Action, Command, Function
from hookline.runners import RUNNERS, RunnerPool
from hookline.runners.command import CommandRunner


@dataclass(frozen=True)
class Carrier:
    """An action that another package might add."""


class CarrierRunner:
    closed = False

    def close(self):
        self.closed = True


def test_every_action_has_a_runner():
    assert set(RUNNERS) == set(Action.__args__)


def test_there_is_one_runner_per_kind_and_crew():
    crew, other = RunnerPool(), RunnerPool()
    first = crew[Command]
    assert isinstance(first, CommandRunner)
    assert crew[Command] is first
    assert other[Command] is not first
    assert crew[Function] is not first


def test_another_package_may_add_a_runner(monkeypatch):
    entry = metadata.EntryPoint("Carrier", f"{__name__}:CarrierRunner", "hookline.runners")
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda _self: CarrierRunner)
    monkeypatch.setattr(metadata, "entry_points", lambda **wanted: [entry] if wanted["name"] == entry.name else [])
    crew = RunnerPool()
    runner = crew[Carrier]
    crew.close()
    assert isinstance(runner, CarrierRunner)
    assert runner.closed


def test_an_action_that_nobody_carries_out_is_named():
    with pytest.raises(UsageError, match="there is no runner for 'object'"):
        RunnerPool()[object]


def test_a_command_costs_no_imports_that_it_does_not_need():
    code = (
        "import sys\nfrom hookline.runners import RunnerPool\nfrom hookline.core.hook import Command\n"
        "RunnerPool()[Command]\n"
        "heavy = ('asyncio', 'subprocess', 'http.client', 'tempfile', 'yaml', 'regex', 'ssl', 'selectors')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.strip() == "[]"
