"""What is registered with an agent: the file, the events, and one command line for each."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, Scope
from hookline.deploy.plan import Registration
from hookline.dialects.event_lookup import native_events

_SH = ("/bin/sh", "-c")
#: Before a program whose words are held back until it has ended well.
_HELD = "o=$("


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandLine:
    """What one registration runs."""

    program: str
    agent: str
    event: str
    #: Seconds after which hookline gives up, which must be before the agent does.
    deadline: int
    #: The scope that it stands in: an event that comes through two registrations is known by their names.
    scope: str = "user"
    #: A hookline that cannot answer refuses; otherwise it decides nothing.
    closed: bool = False
    #: The JSON that refuses, with {event} and {reason}; None: exit code 2 and the reason on stderr.
    block: Mapping[str, Any] | None = None
    #: Exit codes that are answers, besides 0.
    answers: tuple[int, ...] = (2,)
    #: The exit code that decides nothing, where the agent takes other failures for a refusal; None: all of them do.
    neutral: int | None = None
    #: The agent runs it with the person's own shell, which may be one that reads no such lines (fish).
    any_shell: bool = False

    @property
    def registration(self) -> str:
        """What this registration is called, in ``--registration``."""
        return f"{self.scope}/{self.agent}"

    def text(self) -> str:
        words = [
            self.program, "hook", "--agent", self.agent, "--event", self.event, "--registration", self.registration,
            "--deadline", str(self.deadline),
        ]  # fmt: skip
        if not self.closed:
            return shlex.join(words) + ("" if self.neutral is None else f" || exit {self.neutral}")
        line = self._blocking(shlex.join([*words, "--on-failure", "deny"]))
        return shlex.join([*_SH, line]) if self.any_shell else line

    def _blocking(self, call: str) -> str:
        """Every end that is no answer becomes the agent's own form of a block: the program is broken or gone.

        Where the block is printed, nothing of what the program printed may stand before it: two objects are none.
        """
        reason = f"hookline failed on {self.event} and a hook there must not be skipped, so this is refused"
        passing = "".join(f"[ $c = {code} ] && exit {code}; " for code in self.answers)
        if self.block is None:
            return f"{call} || {{ c=$?; {passing}echo {shlex.quote(reason)} >&2; exit 2; }}"
        refusal = json.dumps(self.block).replace("{event}", self.event).replace("{reason}", reason)
        return f'{_HELD}{call}) || {{ c=$?; {passing}o={shlex.quote(refusal)}; }}; printf %s "$o"'


def command_program(command: str) -> str:
    """The program of a registered command; "" if it cannot be read."""
    try:
        if command.startswith(shlex.join(_SH)):
            command = shlex.split(command)[2]
        return shlex.split(command.removeprefix(_HELD).partition(" || ")[0])[0]
    except (ValueError, IndexError):
        return ""


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


def command_line(agent: Agent, program: str, need: Need, scope: Scope = "user") -> _CommandLine:
    return _CommandLine(
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
