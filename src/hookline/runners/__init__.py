"""Carrying out actions. The table of runners; looking one up imports that one and no other."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from hookline.core.errors import UsageError
from hookline.core.hook import AgentRun, Command, Function, Http, Plugin, Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.runners.base import Runner

#: Action -> who carries it out. Strings, because a command must not pay for a model.
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

#: Other packages add runners for actions of their own here, by the name of the action's class.
_ENTRY_POINTS = "hookline.runners"


class RunnerPool:
    """The runners of one engine: one of each kind, made when first needed, closed together."""

    __slots__ = ("_runners", "on_event")

    def __init__(self) -> None:
        self._runners: dict[type, Runner] = {}
        #: Hears what happens to a runner by itself: plugin.load, plugin.unload, plugin.message.
        self.on_event: Callable[[str, Mapping[str, Any]], None] | None = None

    def runner_for(self, action: object) -> Runner:
        """The runner of that kind of action; raises ``UsageError`` for a kind nobody carries out."""
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
        """Let this one carry out that kind of action: a host gives agents tools of its own."""
        self._runners[kind] = runner

    def release(self, kind: type) -> Runner | None:
        """Hand that runner over, with what it keeps running; this crew closes it no more."""
        return self._runners.pop(kind, None)

    def close(self) -> None:
        # Closed before they are forgotten: hooks on plugin.unload are told by runners that still know each other.
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
    msg = f"nobody can carry out a {kind.__name__!r}; install the package that adds it ({_ENTRY_POINTS})"
    raise UsageError(msg)
