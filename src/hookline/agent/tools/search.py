"""The tools that search: Glob for file names, Grep for lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice
from typing import Any

from hookline.agent.tools.base import ToolContext, ToolError, boolean, define_tool, in_thread, resolve, shorten, string
from hookline.agent.tools.files import read_text
from hookline.core.files import modification_time

_MAX_LINES = 500
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
        if context.stop.is_set() or len(found) >= _MAX_LINES:
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
    more = f"\n(more than {_MAX_LINES}; use a narrower pattern)" if len(found) > _MAX_LINES else ""
    return shorten("\n".join(found[:_MAX_LINES])) + more


def _lines(pattern: Any, path: str) -> list[tuple[int, str]]:
    try:
        content = read_text(path)
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
