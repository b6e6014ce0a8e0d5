"""What a tool set is: a name that configurations use, and plain functions that a model may call."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from hookline.core._dataclass import dataclass
from hookline.core.paths import upwards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What marks the root of a project.
_ROOTS = (".git", ".hookline", ".hg")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlace:
    """Where tools work: the project they may read, and where they store data."""

    project: str
    store: str


class ToolSet(Protocol):
    """The model sees the names, signatures and docstrings of ``functions``; they return text."""

    @property
    def name(self) -> str: ...

    @property
    def functions(self) -> Sequence[Callable[..., Any]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTools:
    """``servers`` are names of MCP servers; ``unknown`` are names of nothing."""

    sets: tuple[ToolSet, ...] = ()
    servers: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def tool_project(cwd: str) -> str:
    """The nearest directory upwards that is the root of a project, else ``cwd`` itself."""
    here = os.path.abspath(cwd or ".")
    marked = (one for one in upwards(here) if any(os.path.exists(os.path.join(one, mark)) for mark in _ROOTS))
    return next(marked, here)
