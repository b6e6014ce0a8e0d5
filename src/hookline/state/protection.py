"""No command that an agent runs approves, switches off or removes what guards that agent.

Protected is a state directory with a deployed registration. A process of the same user can still change files by other
means, or leave its ancestors behind; docs/explanation/trust.md says what that means.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping

from hookline.core.agent_processes import agent_from_environ, agent_from_words
from hookline.core.errors import UsageError
from hookline.core.files import open_without_waiting
from hookline.core.paths import MANIFEST, OWN_GUARDS
from hookline.core.processes import ancestor_commands, can_see_ancestors


def require_outside_agent(state: str, doing: str, *, registered: bool = False) -> None:
    """Raise UsageError if an agent runs this command and ``state`` has registrations. ``doing`` completes "cannot …".

    ``registered``: it is about a registration that is there, whatever state directory a variable names.
    """
    if not registered and not is_protected(state):
        return
    agent = find_agent_above(os.getpid(), os.environ)
    if agent:
        command = shlex.join(["hookline", *sys.argv[1:]])
        raise UsageError(
            f"{agent} runs this command, and an agent cannot {doing}; in a terminal of your own: {command}"
        )


def is_protected(state: str) -> bool:
    """Whether a registration names this state directory. One that cannot be read may name it, and the manifest alone
    may have been deleted."""
    try:
        with open(os.path.join(state, MANIFEST), "rb", opener=open_without_waiting) as file:
            return (file.read(64) or b"").strip() not in {b"", b"{}"}
    except FileNotFoundError:
        return os.path.lexists(os.path.join(state, OWN_GUARDS))
    except OSError:
        return True


def find_agent_above(pid: int, environ: Mapping[str, str]) -> str:
    """The agent among the ancestors of a process; "" if there is none.

    Variables are easily set and unset, so they only count where there is nothing better: without a terminal, or where
    ancestors cannot be seen.
    """
    found = next(filter(None, map(agent_from_words, ancestor_commands(pid))), "")
    if found or (can_see_ancestors() and os.isatty(0)):
        return found
    return agent_from_environ(environ)
