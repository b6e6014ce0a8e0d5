"""Read: a text file with line numbers."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, number, resolved, schema, shortened, text
from hookline.agent.message import Tool

LINES = 2000
_LINE = 2000
_BYTES = 16 << 20


async def use(given: Mapping[str, Any], place: Place) -> Output:
    return await asyncio.to_thread(read, resolved(place, given["file_path"]), given.get("offset"), given.get("limit"))


def read(path: str, offset: int | None, limit: int | None) -> Output:
    try:
        content = content_of(path)
    except OSError as error:
        return failed(f"cannot read {path}: {error.strerror or error}")
    lines = content.splitlines()
    first = max(offset or 1, 1)
    count = min(max(limit or LINES, 1), LINES)
    shown = lines[first - 1 : first - 1 + count]
    if not shown:
        return Output(text="(the file is empty)" if not lines else f"(the file has only {len(lines)} lines)")
    body = "\n".join(f"{number:>6}\t{line[:_LINE]}" for number, line in enumerate(shown, first))
    left = len(lines) - (first - 1 + len(shown))
    return Output(text=shortened(body, 120_000) + (f"\n({left} more lines)" if left > 0 else ""))


def content_of(path: str) -> str:
    """The text of a regular file; opening a FIFO or a device could wait for ever. Raises OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        what = "it is a directory" if os.path.isdir(path) else "it is no regular file"
        raise OSError(0, what)
    with open(path, "rb") as file:
        data = file.read(_BYTES + 1)
    if len(data) > _BYTES:
        raise OSError(0, f"it is larger than {_BYTES >> 20} MiB; read a part of it with Bash")
    if b"\0" in data[:8192]:
        raise OSError(0, "it is a binary file")
    return data.decode("utf-8", "replace")


READ = ChatTool(
    tool=Tool(
        name="Read",
        description="Read a text file; lines come with their numbers.",
        parameters=schema(
            "file_path",
            file_path=text("the file"),
            offset=number("the first line, from 1"),
            limit=number("how many lines"),
        ),
    ),
    need="read",
    use=use,
)
