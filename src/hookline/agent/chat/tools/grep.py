"""Grep: lines by a regular expression, under a time limit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, flag, resolved, schema, shortened, text
from hookline.agent.chat.tools.read import content_of
from hookline.agent.message import Tool

MOST = 500
#: Seconds that one file may take a pattern.
PATIENCE = 0.5
_PASSED_OVER = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv"})


async def use(given: Mapping[str, Any], place: Place) -> Output:
    return await asyncio.to_thread(_grep, given, resolved(place, given.get("path") or "."), place)


def _grep(given: Mapping[str, Any], root: str, place: Place) -> Output:
    import regex  # most turns look for nothing

    try:
        pattern = regex.compile(given["pattern"], regex.IGNORECASE if given.get("ignore_case") else 0)
    except regex.error as error:
        return failed(f"the pattern is no regular expression: {error}", "invalid_args")
    found: list[str] = []
    for path in _files(root, given.get("glob") or "*"):
        if place.stop.is_set() or len(found) >= MOST:
            break
        try:
            lines = _lines(pattern, path)
        except TimeoutError:
            return failed(f"the pattern takes too long on {path}; write a simpler one")
        shown = os.path.relpath(path, place.cwd)
        found += [path] if given.get("files_only") and lines else []
        found += [] if given.get("files_only") else [f"{shown}:{number}:{line[:500]}" for number, line in lines]
    if not found:
        return Output(text="(nothing fits)")
    more = f"\n(more than {MOST}; use a narrower pattern)" if len(found) > MOST else ""
    return Output(text=shortened("\n".join(found[:MOST])) + more)


def _lines(pattern: Any, path: str) -> list[tuple[int, str]]:
    try:
        content = content_of(path)
    except OSError:
        return []
    if (
        pattern.search(content, timeout=PATIENCE, concurrent=True) is None
        and "$" not in pattern.pattern
        and "^" not in pattern.pattern
    ):
        return []
    return [
        (number, line)
        for number, line in enumerate(content.splitlines(), 1)
        if pattern.search(line, timeout=PATIENCE, concurrent=True) is not None
    ]


def _files(root: str, glob: str) -> Iterator[str]:
    if os.path.isfile(root):
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        for name in sorted(names):
            relative = os.path.relpath(os.path.join(folder, name), root)
            if fnmatchcase(name, glob) or fnmatchcase(relative, glob):
                yield os.path.join(folder, name)


GREP = ChatTool(
    tool=Tool(
        name="Grep",
        description="Find lines in files by a regular expression; gives file:line:text.",
        parameters=schema(
            "pattern",
            pattern=text("the regular expression"),
            path=text("the file or folder; the working directory unless told"),
            glob=text("only files whose name fits, such as *.py"),
            ignore_case=flag("upper and lower case are the same"),
            files_only=flag("only the names of the files"),
        ),
    ),
    need="read",
    use=use,
)
