"""Whose file is this? By its name, and by the folder it lies in."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookline.config.discover import LAZY_FILE
from hookline.dialects import DIALECTS, dialect_named


def dialect_of_file(file: str, home: str, environ: Mapping[str, str]) -> str:
    """The dialect whose files have this name in a folder of this name, or the only one with files of this name.

    Otherwise a TOML file, or one that does not exist, is native; "" for any other file.
    """
    path = os.path.abspath(file)
    if path.endswith(".toml") and os.path.basename(path) != LAZY_FILE:  # spares the import of every dialect
        return "native"
    names = {
        dialect: [place.path for place in dialect_named(dialect).places(os.path.dirname(path), home, environ)]
        for dialect in DIALECTS
    }
    for depth in (2, 1):
        whose = [dialect for dialect, places in names.items() if any(_alike(path, one, depth) for one in places)]
        if len(whose) == 1 or (whose and depth > 1):
            return whose[0]
    return "native" if path.endswith(".toml") or not os.path.exists(path) else ""


def _alike(path: str, other: str, depth: int) -> bool:
    return path.split("/")[-depth:] == other.split("/")[-depth:]
