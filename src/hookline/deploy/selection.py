"""The files that a command is about: of which agents, in which scopes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.agents import all_agents, select_agents
from hookline.core.errors import UsageError
from hookline.core.paths import project_root
from hookline.deploy.registration import config_path
from hookline.deploy.requirements import is_installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hookline.core.agents import Agent, Scope

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """One file of one agent."""

    agent: Agent
    scope: Scope
    path: str


def detect_agents(home: str) -> list[Agent]:
    return [agent for agent in all_agents().values() if is_installed(agent, home, os.environ)]


def select_files(agents: Sequence[str], scope: Scope, here: str, home: str) -> list[AgentFile]:
    """The files to look at. Raises UsageError where there is none."""
    chosen = select_agents(agents) or detect_agents(home)
    if not chosen:
        raise UsageError(f"no agent was found; name one with --agent: {', '.join(all_agents())}")
    found = list(_aims(chosen, scope, here, home))
    if not found:
        raise UsageError(f"{', '.join(agents)} has no {scope} scope; use user or project")
    return found


def _aims(chosen: Sequence[Agent], scope: Scope, here: str, home: str) -> Iterator[AgentFile]:
    for target in chosen:
        path = config_path(target, scope, project_root(here, home), home, os.environ)
        if path is not None:
            yield AgentFile(agent=target, scope=scope, path=path)


def all_files(chosen: Iterable[Agent], scopes: Sequence[Scope], here: str, home: str) -> list[AgentFile]:
    targets = list(chosen)
    found = [aim for scope in scopes for aim in _aims(targets, scope, here, home)]
    # In the home directory the project's file is the user's.
    return list({aim.path: aim for aim in reversed(found)}.values())[::-1]
