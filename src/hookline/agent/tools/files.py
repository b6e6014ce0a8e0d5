"""The tools that touch files: Read, Write and Edit."""

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
    boolean,
    integer,
    object_schema,
    resolve,
    shorten,
    string,
)
from hookline.core.files import replace_atomically


async def _use_write(arguments: Mapping[str, Any], context: ToolContext) -> str:
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
    use=_use_write,
)


async def _use_edit(arguments: Mapping[str, Any], context: ToolContext) -> str:
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
    use=_use_edit,
)


_MAX_LINES = 2000
_MAX_LINE = 2000
_MAX_BYTES = 16 << 20


async def _use_read(arguments: Mapping[str, Any], context: ToolContext) -> str:
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
    use=_use_read,
)
