"""Says at the end of every run which real agents were tried and which were not, and keeps the results.

Imported by ``tests/conftest.py``: with several workers, only what stands there is heard where the summary is written.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT, SKIPPED = "real agent", "real agent skipped"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reports = list(_reports(terminalreporter))
    if not reports and not _asked_for(config):
        return
    whole = os.environ.get("HOOKLINE_E2E") in {"1", "all"}
    loud = any(SKIPPED in properties for properties, _report in reports) or not reports
    terminalreporter.section("REAL AGENTS WERE NOT ALL TRIED" if loud else "real agents", red=loud, bold=loud)
    for line in _lines(reports):
        terminalreporter.write_line(line, red=loud)
    if not whole:
        terminalreporter.write_line("Only a part is tried here; all agents and all faults: make e2e")
    if path := os.environ.get("HOOKLINE_E2E_RESULTS"):
        _keep(reports, path)
        terminalreporter.write_line(f"{path} has what was found")


def _asked_for(config: pytest.Config) -> bool:
    """The whole suite was to be run, so the agents should have been in it."""
    return not config.args or config.args == config.getini("testpaths")


def _reports(reporter: pytest.TerminalReporter) -> Iterator[tuple[dict[str, Any], pytest.TestReport]]:
    """One report per test: that of its call, or of the stage that kept it from being called."""
    for outcome in ("passed", "failed", "skipped", "error"):
        for report in reporter.stats.get(outcome, ()):
            properties = dict(getattr(report, "user_properties", ()))
            if AGENT in properties and (report.when == "call" or report.outcome != "passed"):
                yield properties, report


def _lines(reports: list[tuple[dict[str, Any], pytest.TestReport]]) -> Iterator[str]:
    if not reports:
        yield "none of them was tried"
    for agent in dict.fromkeys(properties[AGENT] for properties, _report in reports):
        mine = [(properties, report) for properties, report in reports if properties[AGENT] == agent]
        counts = Counter(report.outcome for _properties, report in mine)
        told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
        reasons = dict.fromkeys(properties[SKIPPED] for properties, _report in mine if SKIPPED in properties)
        seconds = sum(report.duration for _properties, report in mine)
        yield f"{agent:12} {told} in {seconds:.0f} s{''.join(f'; SKIPPED: {why}' for why in reasons)}"


def _limits(cell: dict[str, str] | None) -> tuple[int, bool]:
    order = ("untested", "yes", "no", "failed")
    return (-1, False) if cell is None else (order.index(cell["result"]), bool(cell["note"]))


def _keep(reports: list[tuple[dict[str, Any], pytest.TestReport]], path: str) -> None:
    from tests.e2e import results  # it knows the agents, which most runs of the suite have no use for

    found: dict[str, dict[str, dict[str, str]]] = {}
    fields: dict[str, dict[str, list[str]]] = {}
    for properties, report in reports:
        why = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        cells = results.cells(report.user_properties, report.outcome, why)
        mine = found.setdefault(properties[AGENT], {})
        # Where several tests try the same, what limits it is kept, whichever comes last.
        mine.update({name: cell for name, cell in cells.items() if _limits(cell) >= _limits(mine.get(name))})
        fields.setdefault(properties[AGENT], {}).update(results.new_fields(report.user_properties))
    results.write(found, path, fields)
