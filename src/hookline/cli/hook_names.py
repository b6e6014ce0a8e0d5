"""The names of the hooks found here, for a shell that completes them. Files are read, and nothing is run."""

from __future__ import annotations

import os
import re

from hookline.config import load
from hookline.core.describe import is_inner
from hookline.core.paths import paths_of

#: bash expands what it completes from, so that a repository whose hook is called ``$(…)`` would have its way at every
#: Tab. Names that mean something to a shell are not offered; and what looks like an option is none.
_HARMLESS = re.compile(r"[\w.+@/][\w.+@/-]*")


def hook_names(dialect: str | None = None) -> list[str]:
    """Each once, in the order of the files."""
    home = os.environ.get("HOME") or os.path.expanduser("~")
    paths = paths_of(os.environ, home)
    loaded = load(cwd=os.getcwd(), home=home, environ=os.environ, paths=paths, dialect=dialect)
    names = dict.fromkeys(spec.name for spec in loaded.specs if not is_inner(spec))
    return [name for name in names if _HARMLESS.fullmatch(name)]
