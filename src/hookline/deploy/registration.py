"""What is registered with an agent: the file, the events, and one command line for each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass
from hookline.deploy.command import CommandLine
from hookline.deploy.plan import Registration
from hookline.dialects.event_lookup import native_events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.agents import Agent, Scope

#: Registered wherever the agent has them, so that hooks which are written later run too.
USUAL = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse",
    "PostToolUseFailure", "Stop", "SubagentStop", "PreCompact",
)  # fmt: skip

#: Where a hook that fails may refuse. Not where a refusal sends the agent on: a missing hookline would do so for ever.
_CLOSABLE = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit"})

_TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})
#: The most that an agent gives an event, in seconds, where its row says nothing.
_LIMIT = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What the loaded hooks need of one canonical event."""

    event: str
    #: The longest that all hooks of this event may take together, in seconds.
    seconds: float
    #: Some hook of it must not be skipped.
    closed: bool = False


def config_path(agent: Agent, scope: Scope, project: str, home: str, environ: Mapping[str, str]) -> str | None:
    """The agent's file of this scope; None where it has no such scope."""
    name = agent.files.get(scope)
    if name is None:
        return None
    if scope != "user":
        return os.path.join(project, name)
    moved = environ.get(agent.home_variable, "") if agent.home_variable else ""
    return os.path.join(moved, os.path.basename(name)) if os.path.isabs(moved) else os.path.join(home, name)


def registrations(agent: Agent, program: str, needs: Sequence[Need], scope: Scope = "user") -> tuple[Registration, ...]:
    """One for each event that the agent has."""
    events = native_events(agent)
    return tuple(_registration(agent, program, need, scope) for need in needs if need.event in events)


def command_line(agent: Agent, program: str, need: Need, scope: Scope = "user") -> CommandLine:
    return CommandLine(
        program=program,
        agent=agent.name,
        event=native_events(agent)[need.event],
        scope=scope,
        deadline=max(1, int(min(need.seconds, agent.limits.get(need.event, _LIMIT) - 1))),
        closed=need.closed and need.event in _CLOSABLE,
        block=agent.blocks.get(need.event),
        answers=agent.answers.get(need.event, (2,)),
        neutral=agent.neutral,
        any_shell=agent.run_with in {"$SHELL", "login"},
    )


def _registration(agent: Agent, program: str, need: Need, scope: Scope) -> Registration:
    line = command_line(agent, program, need, scope)
    # The agent waits longer than we do: where it ends a hook itself, the call goes on.
    timeout = min(agent.limits.get(need.event, _LIMIT), line.deadline + 10)
    if agent.form == "flat":
        entry: dict[str, Any] = {"type": "command", "bash": line.text(), "timeoutSec": int(timeout)}
        return Registration(event=line.event, entry=entry)
    hook = {"type": "command", "command": line.text(), "timeout": int(timeout * agent.per_second), **agent.extra}
    matcher = {"matcher": agent.everything} if agent.everything and need.event in _TOOL_EVENTS else {}
    return Registration(event=line.event, entry={**matcher, "hooks": [hook]})
