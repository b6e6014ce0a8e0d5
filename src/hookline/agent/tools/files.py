"""The tools that touch files: Read, Write and Edit; and those that find them: Glob and Grep."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice
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
from hookline.core.files import modification_time, replace_atomically


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
        content = _read_text(path)
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


def _read_text(path: str) -> str:
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


_MAX_MATCHES = 500
#: Seconds per file for one pattern.
_TIMEOUT = 0.5
_SKIPPED = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv"})


def _grep(arguments: Mapping[str, Any], context: ToolContext) -> str:
    import regex  # most turns do not search

    root = resolve(context, arguments.get("path") or ".")
    try:
        pattern = regex.compile(arguments["pattern"], regex.IGNORECASE if arguments.get("ignore_case") else 0)
    except regex.error as error:
        raise ToolError(f"the pattern is not a regular expression: {error}", "invalid_args") from error
    found: list[str] = []
    for path in _files_to_search(root, arguments.get("glob") or "*"):
        if context.stop.is_set() or len(found) >= _MAX_MATCHES:
            break
        try:
            lines = _lines(pattern, path)
        except TimeoutError:
            raise ToolError(f"the pattern takes too long on {path}; write a simpler one") from None
        shown = os.path.relpath(path, context.cwd)
        found += [path] if arguments.get("files_only") and lines else []
        found += [] if arguments.get("files_only") else [f"{shown}:{number}:{line[:500]}" for number, line in lines]
    if not found:
        return "(no matches)"
    more = f"\n(more than {_MAX_MATCHES}; use a narrower pattern)" if len(found) > _MAX_MATCHES else ""
    return shorten("\n".join(found[:_MAX_MATCHES])) + more


def _lines(pattern: Any, path: str) -> list[tuple[int, str]]:
    try:
        content = _read_text(path)
    except OSError:
        return []
    anchored = "$" in pattern.pattern or "^" in pattern.pattern
    if not anchored and pattern.search(content, timeout=_TIMEOUT, concurrent=True) is None:
        return []
    return [
        (number, line)
        for number, line in enumerate(content.splitlines(), 1)
        if pattern.search(line, timeout=_TIMEOUT, concurrent=True) is not None
    ]


def _files_to_search(root: str, glob: str) -> Iterator[str]:
    if os.path.isfile(root):
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            relative = os.path.relpath(os.path.join(folder, name), root)
            if fnmatchcase(name, glob) or fnmatchcase(relative, glob):
                yield os.path.join(folder, name)


GREP = define_tool(
    "Grep",
    "Find lines in files with a regular expression; returns file:line:text.",
    in_thread(_grep),
    "pattern",
    need="read",
    pattern=string("the regular expression"),
    path=string("the file or folder; default: the working directory"),
    glob=string("only files whose name matches, such as *.py"),
    ignore_case=boolean("ignore case"),
    files_only=boolean("return only file names"),
)


_MAX_FILES = 1000
#: Files to look at before giving up.
_MAX_SEEN = 200_000


def _glob(arguments: Mapping[str, Any], context: ToolContext) -> str:
    root = resolve(context, arguments.get("path") or ".")
    if not os.path.isdir(root):
        raise ToolError(f"{root} is not a directory")
    found = list(islice(_files(arguments["pattern"], root, context), _MAX_FILES + 1))
    if not found:
        return "(no matches)"
    newest = sorted(found[:_MAX_FILES], key=modification_time, reverse=True)
    more = f"\n(more than {_MAX_FILES}; use a narrower pattern)" if len(found) > _MAX_FILES else ""
    return "\n".join(newest) + more


def _files(pattern: str, root: str, context: ToolContext) -> Iterator[str]:
    for name in islice(iglob(pattern, root_dir=root, recursive=True), _MAX_SEEN):
        if context.stop.is_set():
            return
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield path


GLOB = define_tool(
    "Glob",
    "Find files with a pattern such as **/*.py, newest first.",
    in_thread(_glob),
    "pattern",
    need="read",
    pattern=string("the pattern"),
    path=string("the folder to look in; default: the working directory"),
)
