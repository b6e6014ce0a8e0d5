"""The guard: reads a command as bash does, says what it would do, and what a policy thinks of it.

``from hookline.guard import judge``. Nothing of the parser is loaded before that name is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.guard.policy import Policy
    from hookline.guard.tools import judge_tool
    from hookline.guard.verdict import Surroundings, Verdict, judge

__all__ = ["Policy", "Surroundings", "Verdict", "judge", "judge_tool"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from importlib import import_module

    module = {"Policy": "policy", "judge_tool": "tools"}.get(name, "verdict")
    return getattr(import_module(f"hookline.guard.{module}"), name)
