"""Edit: replace one text in a file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import AgentTool, ToolContext, ToolError, boolean, object_schema, resolve, string
from hookline.agent.tools.write import replace_file


async def _use(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path = resolve(context, arguments["file_path"])
    try:
        return await asyncio.to_thread(_edit, path, arguments)
    except OSError as error:
        raise ToolError(f"cannot edit {path}: {error.strerror or error}") from error


def _edit(path: str, arguments: Mapping[str, Any]) -> str:
    """The match must be unambiguous: several occurrences are replaced only with ``replace_all``."""
    old, new = arguments["old_string"], arguments["new_string"]
    if not os.path.isfile(path):
        raise ToolError(f"cannot edit {path}: there is no such file")
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        content = file.read()
    if old == new or not old:
        raise ToolError("old_string is empty or equal to new_string: nothing to change")
    count = content.count(old)
    if count == 0:
        raise ToolError(f"old_string is not in {path}; read it and copy the text exactly")
    if count > 1 and not arguments.get("replace_all"):
        raise ToolError(
            f"old_string occurs {count} times in {path}; include more of the surrounding text, or set replace_all"
        )
    replace_file(path, content.replace(old, new))
    return f"Changed {path} in {count} place{'s' if count > 1 else ''}"


EDIT = AgentTool(
    spec=ToolSpec(
        name="Edit",
        description="Replace a text in a file with another. old_string must be in the file exactly once.",
        parameters=object_schema(
            "file_path old_string new_string",
            file_path=string("the file"),
            old_string=string("the text exactly as it is in the file"),
            new_string=string("the new text"),
            replace_all=boolean("replace every occurrence"),
        ),
    ),
    need="edit",
    use=_use,
)
