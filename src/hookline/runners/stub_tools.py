"""Stubs for tools that a dialect lets hooks call, for where the real tool is not installed.

They lie in a private directory that is put at the very end of the hook's PATH, so that the real tool always wins.
"""

from __future__ import annotations

import os
import shlex
import sys

from hookline.core.errors import StateError
from hookline.core.files import replace_atomically
from hookline.core.paths import private_dir
from hookline.runners.environ import state_root

#: -P: nothing of the hook's working directory is imported in our name.
_TEXT = """\
#!/bin/sh
# Written by hookline: stands in for {name} where it is not installed.
exec {python} -P -m hookline.cli.{name}_stand_in "$@"
"""


def path_with_stubs(path: str, names: tuple[str, ...], state_dir: str) -> str:
    """The PATH with our stubs at its end; unchanged where they cannot be written."""
    try:
        directory = private_dir(os.path.join(state_root(state_dir), "bin"))
        for name in names:
            _put(os.path.join(directory, name), _TEXT.format(name=name, python=shlex.quote(sys.executable)).encode())
    except (OSError, StateError):
        return path
    return f"{path}{os.pathsep}{directory}" if path else directory


def _put(file: str, content: bytes) -> None:
    """Write the file atomically, unless it already has this content."""
    try:
        with open(file, "rb") as known:
            if known.read() == content:
                return
    except FileNotFoundError:
        pass
    replace_atomically(file, content, mode=0o700, durable=False)
