"""Builds the native client where there is a compiler: always the same bytes from the same source and compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import hookline
from hookline.errors import StateError
from hookline.paths import paths_of, private_dir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hookc.c")
TWIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
FLAGS = (
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Wno-unused-result",
    "-ffile-prefix-map=/=",
    "-Wl,--build-id=none",
    "-s",
)


def built(environ: Mapping[str, str]) -> str:
    """The path of the client, built into the data directory. Raises ``StateError`` where it cannot be built."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = private_dir(os.path.join(paths_of(environ, home).data, "bin"))
    path = os.path.join(folder, "hookc")
    compiled(f"{path}.new")
    os.replace(f"{path}.new", path)
    return path


def compiled(path: str, *, extra: Sequence[str] = (), python: str = sys.executable) -> None:
    """Static where the system has the library for it, or else as the system likes it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise StateError(f"there is no C compiler; the client in Python does the same: {sys.executable} -I -S {TWIN}")
    names = [f'-DVERSION="{hookline.__version__}"', f'-DPYTHON="{_quoted(python)}"']
    said = ""
    for link in (("-static",), ()) if not extra else ((),):
        line = [compiler, *FLAGS, *link, *extra, *names, "-x", "c", SOURCE, "-o", path]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            os.chmod(path, 0o700)
            return
        said = done.stderr
    raise StateError(f"the client cannot be built: {said.strip()[-500:]}")


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
