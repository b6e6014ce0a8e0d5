"""Edit: one text in a file replaced by another."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, flag, resolved, schema, text
from hookline.agent.chat.tools.write import replace_file
from hookline.agent.message import Tool


async def use(given: Mapping[str, Any], place: Place) -> Output:
    path = resolved(place, given["file_path"])
    try:
        return await asyncio.to_thread(_edit, path, given)
    except OSError as error:
        return failed(f"cannot edit {path}: {error.strerror or error}")


def _edit(path: str, given: Mapping[str, Any]) -> Output:
    """The place must be clear: a text that is there twice is changed only where all of them are meant."""
    old, new = given["old_string"], given["new_string"]
    if not os.path.isfile(path):
        return failed(f"cannot edit {path}: there is no such file")
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        content = file.read()
    if old == new or not old:
        return failed("old_string is empty, or the same as new_string: there is nothing to change")
    count = content.count(old)
    if count == 0:
        return failed(f"old_string is not in {path}; read it and copy the text exactly")
    if count > 1 and not given.get("replace_all"):
        return failed(f"old_string is {count} times in {path}; give more of its surroundings, or set replace_all")
    replace_file(path, content.replace(old, new))
    return Output(text=f"Changed {path} in {count} place{'s' if count > 1 else ''}")


EDIT = ChatTool(
    tool=Tool(
        name="Edit",
        description="Replace a text in a file by another. old_string must be in the file exactly once.",
        parameters=schema(
            "file_path old_string new_string",
            file_path=text("the file"),
            old_string=text("the text as it stands there"),
            new_string=text("the text to put in its place"),
            replace_all=flag("replace every occurrence"),
        ),
    ),
    need="edit",
    use=use,
)
