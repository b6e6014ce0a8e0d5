"""``qmd``, another search engine for notes: told about new ones when it is there, and never waited for."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: In the background and with a limit. ``$0`` is the program: no text of anybody's becomes shell source.
_UPDATE = """
if command -v timeout >/dev/null; then timeout 60 "$0" update; else "$0" update; fi >/dev/null 2>&1 </dev/null &
"""


def qmd_at(environ: Mapping[str, str], cwd: str) -> str:
    """The program, or "". Not one that lies in the directory where an agent works."""
    inside = os.path.realpath(cwd).rstrip("/") + "/"
    for folder in environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "qmd")
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return "" if os.path.realpath(path).startswith(inside) else path
    return ""


def reindexed(environ: Mapping[str, str], cwd: str) -> bool:
    """Whether it was told. It goes on by itself, and nobody waits for it."""
    program = qmd_at(environ, cwd)
    if not program:
        return False
    import subprocess  # noqa: PLC0415 - few have qmd

    quiet = subprocess.DEVNULL
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ["/bin/sh", "-c", _UPDATE, program], env=dict(environ), cwd="/", stdin=quiet, stdout=quiet, stderr=quiet,
            start_new_session=True, timeout=5, check=False,
        )  # fmt: skip
    return True
