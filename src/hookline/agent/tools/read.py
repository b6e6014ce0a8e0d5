"""Read: a text file with line numbers."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping
from typing import Any

from hookline.agent.message import ToolSpec
from hookline.agent.tools.base import (
    AgentTool,
    ToolContext,
    ToolError,
    integer,
    object_schema,
    resolve,
    shorten,
    string,
)

_MAX_LINES = 2000
_MAX_LINE = 2000
_MAX_BYTES = 16 << 20


async def _use(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await asyncio.to_thread(
        _read, resolve(context, arguments["file_path"]), arguments.get("offset"), arguments.get("limit")
    )


def _read(path: str, offset: int | None, limit: int | None) -> str:
    try:
        content = read_text(path)
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror or error}") from error
    lines = content.splitlines()
    first = max(offset or 1, 1)
    count = min(max(limit or _MAX_LINES, 1), _MAX_LINES)
    shown = lines[first - 1 : first - 1 + count]
    if not shown:
        return "(the file is empty)" if not lines else f"(the file has only {len(lines)} lines)"
    body = "\n".join(f"{number:>6}\t{line[:_MAX_LINE]}" for number, line in enumerate(shown, first))
    left = len(lines) - (first - 1 + len(shown))
    return shorten(body, 120_000) + (f"\n({left} more lines)" if left > 0 else "")


def read_text(path: str) -> str:
    """The text of a regular file; opening a FIFO or a device could block forever. Raises OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        what = "it is a directory" if os.path.isdir(path) else "it is not a regular file"
        raise OSError(0, what)
    with open(path, "rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise OSError(0, f"it is larger than {_MAX_BYTES >> 20} MiB; read a part of it with Bash")
    if b"\0" in data[:8192]:
        raise OSError(0, "it is a binary file")
    return data.decode("utf-8", "replace")


READ = AgentTool(
    spec=ToolSpec(
        name="Read",
        description="Read a text file; lines come with their numbers.",
        parameters=object_schema(
            "file_path",
            file_path=string("the file"),
            offset=integer("the first line, from 1"),
            limit=integer("how many lines"),
        ),
    ),
    need="read",
    use=_use,
)
