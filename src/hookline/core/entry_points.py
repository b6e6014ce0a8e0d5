"""Entry points of other packages, without ``importlib.metadata`` where there are none: it takes as long as a whole command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder

from hookline.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def entry_points(group: str) -> Iterable[EntryPoint]:
    if not _may_have(group):
        return ()
    from importlib import metadata  # few installations come here

    return metadata.entry_points(group=group)


def _may_have(group: str) -> bool:
    """Whether a package on the path mentions the group; True where that cannot be told by looking at files."""
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    head = f"[{group}]".encode()
    for place in sys.path:
        try:
            names = os.listdir(place or ".")
        except FileNotFoundError:
            continue
        except OSError:  # a zip file, or unreadable
            return True
        for name in names:
            if name.endswith(".egg"):
                return True
            if name.endswith((".dist-info", ".egg-info")) and _mentions(f"{place}/{name}/entry_points.txt", head):
                return True
    return False


def _mentions(path: str, head: bytes) -> bool:
    if not os.access(
        path, os.R_OK
    ):  # most packages have none, and an exception for each would take as long as the rest
        return False
    try:
        with open(path, "rb") as file:
            return head in file.read()
    except OSError:
        return False
