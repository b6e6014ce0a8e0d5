"""hookline runs the lifecycle hooks of AI agents and shells.

>>> from hookline import Engine, hook
>>> @hook("PreToolUse", match="Bash")
... def no_rm(event):
...     if "rm -rf" in event.data["tool_input"]["command"]:
...         return {"effect": "deny", "reason": "rm -rf must be run by hand"}
>>> engine = Engine(specs=(no_rm.spec,))
>>> engine.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf x"}).effect
'deny'
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.decorator import hook
    from hookline.engine import Engine
    from hookline.errors import ConfigError, DataError, HooklineError, StateError, UsageError
    from hookline.event import EVENTS, Event, EventKind
    from hookline.hurdles import Explained
    from hookline.late import Applied
    from hookline.problem import Problem
    from hookline.result import Context, Decision, Reply
    from hookline.spec import HookSpec

__version__ = "0.1.0"

__all__ = [
    "EVENTS",
    "Applied",
    "ConfigError",
    "Context",
    "DataError",
    "Decision",
    "Engine",
    "Event",
    "EventKind",
    "Explained",
    "HookSpec",
    "HooklineError",
    "Problem",
    "Reply",
    "StateError",
    "UsageError",
    "hook",
]

# Names are looked up when they are first used: ``hookline --version`` must not pay for the engine.
_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "hook": "decorator", "Engine": "engine", "Applied": "late", "Explained": "hurdles",
        "ConfigError": "errors", "DataError": "errors", "HooklineError": "errors", "StateError": "errors",
        "UsageError": "errors", "EVENTS": "event", "Event": "event", "EventKind": "event", "Problem": "problem",
        "Context": "result", "Decision": "result", "Reply": "result", "HookSpec": "spec",
    }
)  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'hookline' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"hookline.{home}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
