"""Which agent a process is, or runs below."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from hookline.core.agents import AGENTS
from hookline.core.processes import ancestor_commands, can_see_ancestors, command_words

#: The interactive shell that fired an event, for its hooks.
SHELL_PID = "HOOKLINE_SHELL_PID"
#: Arguments of a process among which its program is looked for: an interpreter and its options may come first.
_LOOKED_AT = 6
#: Our own commands that let a model run tools.
_OWN_AGENTS = frozenset({"chat", "run", "agent"})
_SUFFIXES = (".js", ".mjs", ".cjs", ".exe", ".py")


def is_person(environ: Mapping[str, str]) -> bool:
    """What an interactive shell runs was typed by a person: no agent is above it, and none has marked it."""
    pid = environ.get(SHELL_PID, "")
    return pid.isdigit() and can_see_ancestors() and not agent_from_environ(environ) and not find_agent_at(int(pid))


def agent_from_environ(environ: Mapping[str, str]) -> str:
    """The agent whose variable is set; "" if there is none."""
    return next((row.title for row in AGENTS.values() if row.marker and environ.get(row.marker)), "")


def find_agent_at(pid: int) -> str:
    """The agent that a process is, or that is among its ancestors; "" if there is none."""
    return next(filter(None, map(agent_from_words, (command_words(pid), *ancestor_commands(pid)))), "")


def agent_from_words(words: Sequence[str]) -> str:
    names = [_program_name(word) for word in words[:_LOOKED_AT]]
    if "hookline" in names and not _OWN_AGENTS.isdisjoint(words[names.index("hookline") :][:3]):
        return "hookline's own agent"
    for row in AGENTS.values():
        package = f"/{row.package}/" if row.package else ""
        if row.program in names or (package and any(package in word for word in words[:_LOOKED_AT])):
            return row.title
    return ""


def _program_name(word: str) -> str:
    name = os.path.basename(word)
    return next((name.removesuffix(one) for one in _SUFFIXES if name.endswith(one)), name)
