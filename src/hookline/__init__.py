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

from hookline.core.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.errors import ConfigError, DataError, HooklineError, StateError, UsageError
    from hookline.core.event import EVENTS, Event, EventKind
    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.core.result import Context, Decision, Reply
    from hookline.engine.decorator import hook
    from hookline.engine.eligibility import Explained
    from hookline.engine.engine import Engine
    from hookline.engine.executor import Applied

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
        "hook": "engine.decorator", "Engine": "engine.engine", "Applied": "engine.executor",
        "Explained": "engine.eligibility", "ConfigError": "core.errors", "DataError": "core.errors",
        "HooklineError": "core.errors", "StateError": "core.errors", "UsageError": "core.errors",
        "EVENTS": "core.event", "Event": "core.event", "EventKind": "core.event", "Problem": "core.problem",
        "Context": "core.result", "Decision": "core.result", "Reply": "core.result", "HookSpec": "core.hook",
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
