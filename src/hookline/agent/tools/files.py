"""The tools that touch files: Read, Write and Edit."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from hookline.agent.tools.base import (
    ToolContext,
    ToolError,
    boolean,
    define_tool,
    in_thread,
    integer,
    resolve,
    shorten,
    string,
)
from hookline.core.files import replace_atomically


def _write(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path = resolve(context, arguments["file_path"])
    try:
        existed = _replace_file(path, arguments["content"])
    except OSError as error:
        raise ToolError(f"cannot write {path}: {error.strerror or error}") from error
    return f"{'Replaced' if existed else 'Wrote'} {path}"


def _replace_file(path: str, content: str) -> bool:
    """Replace the file atomically, keeping links and mode; whether it existed. Raises OSError."""
    path = os.path.realpath(path)
    existed = os.path.lexists(path)
    if existed and not os.path.isfile(path):
        raise OSError(0, "it is not a regular file")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    replace_atomically(path, content, mode=0o666, keep_mode=existed, durable=False)
    return existed


WRITE = define_tool(
    "Write",
    "Write a file, replacing its content. Prefer Edit to change an existing file.",
    in_thread(_write),
    "file_path content",
    need="edit",
    file_path=string("the file"),
    content=string("the whole content"),
)


def _edit(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path = resolve(context, arguments["file_path"])
    if not os.path.isfile(path):
        raise ToolError(f"cannot edit {path}: there is no such file")
    try:
        return _replace_text(path, arguments)
    except OSError as error:
        raise ToolError(f"cannot edit {path}: {error.strerror or error}") from error


def _replace_text(path: str, arguments: Mapping[str, Any]) -> str:
    """The match must be unambiguous: several occurrences are replaced only with ``replace_all``."""
    old, new = arguments["old_string"], arguments["new_string"]
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
    _replace_file(path, content.replace(old, new))
    return f"Changed {path} in {count} place{'s' if count > 1 else ''}"


EDIT = define_tool(
    "Edit",
    "Replace a text in a file with another. old_string must be in the file exactly once.",
    in_thread(_edit),
    "file_path old_string new_string",
    need="edit",
    file_path=string("the file"),
    old_string=string("the text exactly as it is in the file"),
    new_string=string("the new text"),
    replace_all=boolean("replace every occurrence"),
)


_MAX_LINES = 2000
_MAX_LINE = 2000
_MAX_BYTES = 16 << 20


def _read(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path = resolve(context, arguments["file_path"])
    try:
        content = read_text(path)
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror or error}") from error
    lines = content.splitlines()
    first = max(arguments.get("offset") or 1, 1)
    count = min(max(arguments.get("limit") or _MAX_LINES, 1), _MAX_LINES)
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


READ = define_tool(
    "Read",
    "Read a text file; lines come with their numbers.",
    in_thread(_read),
    "file_path",
    need="read",
    file_path=string("the file"),
    offset=integer("the first line, from 1"),
    limit=integer("how many lines"),
)
