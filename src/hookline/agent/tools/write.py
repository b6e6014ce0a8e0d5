"""Write: a whole file, in one step."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import Tool, ToolContext, ToolError, object_schema, resolve, string


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
    mode = None
    if os.path.lexists(path):
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        mode = stat.S_IMODE(status.st_mode)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.urandom(4).hex()}.new"
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(content)
        if mode is not None:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    return mode is not None


WRITE = Tool(
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
