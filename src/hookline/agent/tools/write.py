"""Write: a whole file, in one step."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError, object_schema, resolve, string
from hookline.core.files import replace_atomically


async def _use(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path = resolve(context, arguments["file_path"])
    try:
        existed = await asyncio.to_thread(replace_file, path, arguments["content"])
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror or error}") from error
    return f"{'Replaced' if existed else 'Wrote'} {path}"


def replace_file(path: str, content: str) -> bool:
    """Replace the file atomically, keeping links and mode; whether it existed. Raises OSError."""
    path = os.path.realpath(path)
    existed = os.path.lexists(path)
    if existed and not os.path.isfile(path):
        raise OSError(0, "it is not a regular file")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    replace_atomically(path, content, mode=0o666, keep_mode=existed, durable=False)
    return existed


WRITE = AgentTool(
    spec=ToolSpec(
        name="Write",
        description="Write a file, replacing its content. Prefer Edit to change an existing file.",
        parameters=object_schema(
            "file_path content", file_path=string("the file"), content=string("the whole content")
        ),
    ),
    need="edit",
    use=_use,
)
