"""Glob: files by the shape of their names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from glob import iglob
from itertools import islice
from typing import Any

from hookline.agent.chat.tools.base import ChatTool, Output, Place, failed, resolved, schema, text
from hookline.agent.message import Tool

MOST = 1000
#: Files that are looked at before the search gives up.
_LOOKED_AT = 200_000


async def use(given: Mapping[str, Any], place: Place) -> Output:
    return await asyncio.to_thread(_glob, given["pattern"], resolved(place, given.get("path") or "."), place)


def _glob(pattern: str, root: str, place: Place) -> Output:
    if not os.path.isdir(root):
        return failed(f"{root} is no directory")
    found = list(islice(_files(pattern, root, place), MOST + 1))
    if not found:
        return Output(text="(no file fits)")
    newest = sorted(found[:MOST], key=_changed, reverse=True)
    more = f"\n(more than {MOST}; use a narrower pattern)" if len(found) > MOST else ""
    return Output(text="\n".join(newest) + more)


def _files(pattern: str, root: str, place: Place) -> Iterator[str]:
    for name in islice(iglob(pattern, root_dir=root, recursive=True), _LOOKED_AT):
        if place.stop.is_set():
            return
        path = os.path.join(root, name)
        if os.path.isfile(path):
            yield path


def _changed(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0


GLOB = ChatTool(
    tool=Tool(
        name="Glob",
        description="Find files by a pattern such as **/*.py; the newest come first.",
        parameters=schema(
            "pattern",
            pattern=text("the pattern"),
            path=text("the folder to look in; the working directory unless told"),
        ),
    ),
    need="read",
    use=use,
)
