"""Run actions. The table of runners; looking one up imports only that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from hookline.core.errors import UsageError
from hookline.core.hook import AgentRun, Command, Function, Http, Plugin, Prompt
from hookline.core.typed import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
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


class RunnerPool(dict[type, "Runner"]):
    """The runners of one engine, by kind of action: made when first needed, closed together.

    Looking up an unknown kind raises ``UsageError``. A host sets runners of its own: agents get its tools, say.
    """

    __slots__ = ("on_event",)

    def __init__(self) -> None:
        super().__init__()
        #: Receives what happens outside of a call: plugin.load, plugin.unload, plugin.message.
        self.on_event: Callable[[str, Mapping[str, Any]], None] | None = None

    def __missing__(self, kind: type) -> Runner:
        made = _make(kind)
        if hasattr(made, "on_event"):
            setattr(made, "on_event", self.on_event)  # noqa: B010  few runners have it, so the protocol does not
        # setdefault: of two threads that arrive first together, both must get the same runner.
        return self.setdefault(kind, made)

    def close(self) -> None:
        # Closed before they are dropped: hooks on plugin.unload still need the other runners.
        for runner in list(self.values()):
            runner.close()
        self.clear()


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
