"""Which of the tests with real agents are run, and with what.

``HOOKLINE_E2E=1`` (``make e2e``) runs all of them. Otherwise only the gate is run: a few agents and the tests marked
with ``gate``; ``HOOKLINE_E2E=gate`` (CI) fetches these agents first, and without it they are used if they are there.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import agents, install, summary
from tests.e2e.world import World, cannot_be_alone

HERE = Path(__file__).parent
#: Native programs, small and quick: together with their installation they stay far below five minutes.
GATE = ("claude-code", "codex")
#: After so many seconds an installation in CI is given up, and said to be.
PATIENCE = 100.0


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gate: a real agent is tried with this in CI too")


def everything() -> bool:
    return os.environ.get("HOOKLINE_E2E") in {"1", "all"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is left out is said in the summary, by ``tests.e2e.summary``."""
    # Other tests may have a fixture of that name.
    ours = [item for item in items if HERE in item.path.parents and "world" in getattr(item, "fixturenames", ())]
    for item in ours:
        item.add_marker(pytest.mark.timeout(500))
    if install.WANTED:
        other = [item for item in ours if agent_of(item) not in install.WANTED]
        items[:] = [item for item in items if item not in other]
        config.hook.pytest_deselected(items=other)
    if everything():
        # One agent after the other: who ends it early has the whole of some agents, not a little of all.
        order = [agent.name for agent in agents.AGENTS]
        items.sort(key=lambda item: order.index(agent_of(item)) if item in ours else -1)
        return
    left_out = [item for item in ours if item.get_closest_marker("gate") is None or agent_of(item) not in GATE]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def agent_of(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return callspec.params["world"].name if callspec else ""


@pytest.fixture(params=agents.AGENTS, ids=lambda agent: agent.name)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    agent: agents.Agent = request.param
    properties = request.node.user_properties
    properties += [(summary.AGENT, agent.name), ("tries", getattr(request.function, "proves", ()))]
    why = cannot_be_alone() or missing(agent, tmp_path_factory.getbasetemp().parent)
    if why:
        properties.append((summary.SKIPPED, why))
        pytest.skip(why)
    # A short path: the daemon's socket is below home, and the name of a socket may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="hl-", ignore_cleanup_errors=True) as base:
        home, project = Path(base, "home"), Path(base, "project")
        for folder in (home / "tmp", home / "bin", project / ".git"):
            folder.mkdir(parents=True)
        (home / "bin" / "hookline").symlink_to(Path(sys.executable).parent / "hookline")
        yield World(agent, home, project, found=properties).prepare()


def missing(agent: agents.Agent, run: Path) -> str:
    """Why the agent cannot be run; empty when it can. In CI it is installed, once: a failure holds for the whole run."""
    for name in agent.needs:
        if install.program(name) is not None:
            continue
        if os.environ.get("HOOKLINE_E2E") != "gate":
            return f"{name} is not installed: make e2e installs it"
        failed = run / f"not-installed-{name}"
        if failed.exists():
            return failed.read_text(encoding="utf-8")
        try:
            install.install(name, PATIENCE)
        except install.NotInstalledError as error:
            failed.write_text(f"{name} could not be installed: {error}", encoding="utf-8")
            return failed.read_text(encoding="utf-8")
    return ""
