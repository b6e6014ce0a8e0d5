"""The table of tool sets for hook agents. Looking one up imports only that one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, Protocol, cast

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.paths import Directories, upwards

#: What marks the root of a project.
_ROOTS = (".git", ".hookline", ".hg")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlace:
    """Where tools work: the project they may read, and on whose behalf."""

    project: str
    cwd: str = ""
    agent: str = "hookline"
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    #: Where the person's files are, if the agent's entry says so.
    directories: Directories | None = None


class ToolSet(Protocol):
    """The model sees the names, signatures and docstrings of ``functions``; they return text."""

    @property
    def name(self) -> str: ...

    @property
    def functions(self) -> Sequence[Callable[..., Any]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundTools:
    """``servers`` are names of MCP servers; ``unknown`` are names that nothing has."""

    sets: tuple[ToolSet, ...] = ()
    servers: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def tool_project(cwd: str) -> str:
    """The nearest directory upwards that is the root of a project, else ``cwd`` itself."""
    here = os.path.abspath(cwd or ".")
    marked = (one for one in upwards(here) if any(os.path.exists(os.path.join(one, mark)) for mark in _ROOTS))
    return next(marked, here)


#: Name -> who makes it, given a place. Strings, because no tool may cost the others their imports, and the memory is
#: one that others use too.
_TOOLSETS: Mapping[str, str] = MappingProxyType(
    {"memory": "hookline.memory.agent_tool:Memory", "ragsearch": "hookline.llm.tools.ragsearch:RagSearch"}
)

#: Other packages add tool sets here: a callable that takes a ``ToolPlace``.
_ENTRY_POINTS = "hookline.tools"


def gather(
    names: Sequence[str] | None, place: ToolPlace, mcp: Mapping[str, Any], more: Sequence[ToolSet] = ()
) -> _FoundTools:
    """The tools of these names; None means all. An unknown name is reported, not an error:
    the agent works with what is left."""
    given = {one.name: one for one in more}
    wanted = [*_TOOLSETS, *given, *mcp] if names is None else list(dict.fromkeys(names))
    sets: list[ToolSet] = []
    servers: list[str] = []
    unknown: list[str] = []
    for name in wanted:
        found = given.get(name) or make_tool(name, place)
        if found is not None:
            sets.append(found)
        elif name in mcp:
            servers.append(name)
        else:
            unknown.append(name)
    return _FoundTools(sets=tuple(sets), servers=tuple(servers), unknown=tuple(unknown))


def make_tool(name: str, place: ToolPlace) -> ToolSet | None:
    known = _TOOLSETS.get(name)
    if known is not None:
        module, _, attribute = known.partition(":")
        return cast("ToolSet", getattr(import_module(module), attribute)(place))
    from importlib.metadata import entry_points  # costs more than all the rest

    for entry in entry_points(group=_ENTRY_POINTS, name=name):
        return cast("ToolSet", entry.load()(place))
    return None
