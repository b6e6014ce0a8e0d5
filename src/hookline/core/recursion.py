"""How many hooks stand one inside the other: a hook's process is told, and who is called from inside it counts on.

A repository's agent settings can set the variable too. So it switches nothing off: beyond the limit no hook runs, but
what asks for permission is refused, and a false number can only make the refusal come sooner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "HOOKLINE_DEPTH"
#: A hook may start an agent whose hooks start another; nobody does that more often than this on purpose.
DEEPEST = 4
_DIGITS = 6


def hook_depth(environ: Mapping[str, str]) -> int:
    """0 outside of every hook, and where nothing is said that is a number."""
    told = environ.get(VARIABLE, "")
    return int(told) if told.isascii() and told.isdigit() and len(told) <= _DIGITS else 0


def next_depth(environ: Mapping[str, str]) -> str:
    """What the process of a hook is told."""
    return str(hook_depth(environ) + 1)


def why_too_deep(environ: Mapping[str, str]) -> str:
    """Why no hook is run here; "" where hooks may run."""
    depth = hook_depth(environ)
    if depth <= DEEPEST:
        return ""
    return (
        f"hookline was called from inside its own hooks, {depth} deep, and stopped there: some hook calls hookline "
        f"(see: hookline list), or {VARIABLE} is set in the environment"
    )
