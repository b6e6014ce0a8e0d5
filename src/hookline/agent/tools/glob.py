"""Glob: find files by name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from glob import iglob
from itertools import islice
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError, object_schema, resolve, string

_MAX_FILES = 1000
#: Files to look at before giving up.
_MAX_SEEN = 200_000


async def _use(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await asyncio.to_thread(_glob, arguments["pattern"], resolve(context, arguments.get("path") or "."), context)


def _glob(pattern: str, root: str, context: ToolContext) -> str:
    if not os.path.isdir(root):
        raise ToolError(f"{root} is not a directory")
    found = list(islice(_files(pattern, root, context), _MAX_FILES + 1))
    if not found:
        return "(no matches)"
    newest = sorted(found[:_MAX_FILES], key=_changed, reverse=True)
    more = f"\n(more than {_MAX_FILES}; use a narrower pattern)" if len(found) > _MAX_FILES else ""
    return "\n".join(newest) + more


def _files(pattern: str, root: str, context: ToolContext) -> Iterator[str]:
    for name in islice(iglob(pattern, root_dir=root, recursive=True), _MAX_SEEN):
        if context.stop.is_set():
            return
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield path


def _changed(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0


GLOB = AgentTool(
    spec=ToolSpec(
        name="Glob",
        description="Find files with a pattern such as **/*.py, newest first.",
        parameters=object_schema(
            "pattern",
            pattern=string("the pattern"),
            path=string("the folder to look in; default: the working directory"),
        ),
    ),
    need="read",
    use=_use,
)
