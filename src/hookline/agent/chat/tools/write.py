"""Write: a whole file, in one step."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, resolved, schema, text
from hookline.agent.message import Tool


async def use(given: Mapping[str, Any], place: Place) -> Output:
    path = resolved(place, given["file_path"])
    try:
        existed = await asyncio.to_thread(replace_file, path, given["content"])
    except OSError as error:
        return failed(f"cannot write {path}: {error.strerror or error}")
    return Output(text=f"{'Replaced' if existed else 'Wrote'} {path}")


def replace_file(path: str, content: str) -> bool:
    """All or nothing: whoever looks sees the old file or the new one. Links and modes stay as they are.

    Whether there was one before. Raises OSError."""
    path = os.path.realpath(path)
    mode = None
    if os.path.lexists(path):
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is no regular file")
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


WRITE = ChatTool(
    tool=Tool(
        name="Write",
        description="Write a file, replacing what is there. Prefer Edit for a change of an existing file.",
        parameters=schema("file_path content", file_path=text("the file"), content=text("all of its content")),
    ),
    need="edit",
    use=use,
)
