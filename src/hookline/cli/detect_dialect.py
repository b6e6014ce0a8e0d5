"""Detect a file's dialect from its name and folder."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING

from hookline.core.errors import UsageError
from hookline.dialects import DIALECTS, dialect_named

if TYPE_CHECKING:
    from collections.abc import Mapping


def dialect_of_file(file: str, home: str, environ: Mapping[str, str]) -> str:
    """The dialect whose files have this name in a folder of this name, or the only one with files of this name.

    Otherwise a TOML file, or one that does not exist, is native; for any other file, raise UsageError.
    """
    path = PurePath(os.path.abspath(file))
    names = {
        dialect: [PurePath(place.path) for place in dialect_named(dialect).places(str(path.parent), home, environ)]
        for dialect in DIALECTS
    }
    for depth in (2, 1):
        whose = [dialect for dialect, places in names.items() if any(_alike(path, one, depth) for one in places)]
        if len(whose) == 1 or (whose and depth > 1):
            return whose[0]
    if path.suffix == ".toml" or not os.path.exists(path):
        return "native"
    raise UsageError(f"{file}: unknown format; name its dialect with --dialect: {', '.join(DIALECTS)}")


def _alike(path: PurePath, other: PurePath, depth: int) -> bool:
    return path.parts[-depth:] == other.parts[-depth:]
