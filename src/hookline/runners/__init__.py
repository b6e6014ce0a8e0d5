"""Run actions. The table of runners; looking one up imports only that one."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from hookline.core.errors import UsageError
from hookline.core.hook import AgentRun, Command, Function, Http, Plugin, Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.runners.base import Runner

#: Action -> its runner. Strings, so that a command hook does not load a model client.
RUNNERS: Mapping[type, str] = MappingProxyType(
    {
        Command: "hookline.runners.command:CommandRunner",
        Function: "hookline.runners.function:FunctionRunner",
        Http: "hookline.runners.http:HttpRunner",
        Plugin: "hookline.runners.plugin.runner:PluginRunner",
        Prompt: "hookline.runners.prompt:PromptRunner",
        AgentRun: "hookline.runners.agent:AgentRunner",
    }
)

#: Other packages add runners for their own actions here, by the name of the action's class.
_ENTRY_POINTS = "hookline.runners"


class RunnerPool:
    """The runners of one engine: one of each kind, made when first needed, closed together."""

    __slots__ = ("_runners", "on_event")

    def __init__(self) -> None:
        self._runners: dict[type, Runner] = {}
        #: Receives what happens outside of a call: plugin.load, plugin.unload, plugin.message.
        self.on_event: Callable[[str, Mapping[str, Any]], None] | None = None

    def runner_for(self, action: object) -> Runner:
        """The runner of that kind of action; raises ``UsageError`` for an unknown kind."""
        kind = type(action)
        runner = self._runners.get(kind)
        if runner is None:
            # setdefault: of two threads that arrive first together, both must get the same runner.
            made = _make(kind)
            if hasattr(made, "on_event"):
                setattr(made, "on_event", self.on_event)  # noqa: B010  few runners have it, so the protocol does not
            runner = self._runners.setdefault(kind, made)
        return runner

    def employ(self, kind: type, runner: Runner) -> None:
        """Use this runner for that kind of action: a host gives agents its own tools."""
        self._runners[kind] = runner

    def release(self, kind: type) -> Runner | None:
        """Remove that runner from the pool, with what it keeps running; the caller closes it."""
        return self._runners.pop(kind, None)

    def close(self) -> None:
        # Closed before they are dropped: hooks on plugin.unload still need the other runners.
        for runner in list(self._runners.values()):
            runner.close()
        self._runners.clear()


def _make(kind: type) -> Runner:
    known = RUNNERS.get(kind)
    if known is not None:
        module, _, name = known.partition(":")
        return cast("Runner", getattr(import_module(module), name)())
    # Imported here: reading the metadata of all installed packages costs more than a whole warm run.
    from importlib.metadata import entry_points

    for entry in entry_points(group=_ENTRY_POINTS, name=kind.__name__):
        return cast("Runner", entry.load()())
    msg = f"there is no runner for {kind.__name__!r}; install the package that adds it ({_ENTRY_POINTS})"
    raise UsageError(msg)
