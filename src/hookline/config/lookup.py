"""What a dialect may know about the world: hook directories, small files, built-in names."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from hookline.config.discover import project_root
from hookline.config.files import read_text
from hookline.core.builtin_hooks import Known
from hookline.core.file_tracking import note
from hookline.dialects.base import Lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.paths import Paths

#: A prompt, not a library.
_LARGEST_SMALL_FILE = 1 << 20
#: Plugins lie a few levels deep, not at the bottom of a cache.
_MOST_DIRECTORIES = 10_000


def lookup_for(*, cwd: str, home: str, environ: Mapping[str, str], paths: Paths) -> Lookup:
    return Lookup(
        cwd=cwd,
        home=home,
        project=project_root(cwd, home),
        environ=environ,
        find=partial(_find_hook, hook_directories(home, environ, paths)),
        read=_read_small,
        search=_search_below,
        builtins=Known(),
    )


def hook_directories(home: str, environ: Mapping[str, str], paths: Paths) -> tuple[str, ...]:
    """lazy-harness's own directory first, so that its users' hooks mean what they meant there."""
    xdg = environ.get("XDG_CONFIG_HOME", "")
    base = xdg if os.path.isabs(xdg) else os.path.join(home, ".config")
    theirs = environ.get("LH_CONFIG_DIR") or os.path.join(base, "lazy-harness")
    return (os.path.join(theirs, "hooks"), os.path.join(paths.config, "hooks"))


def _find_hook(directories: tuple[str, ...], name: str) -> str | None:
    """``<name>.py``, then ``<name>`` as it stands; a name is a name, never a way out of the directory."""
    if not name or name in {".", ".."} or "/" in name or "\\" in name or "\0" in name:
        return None
    for directory in directories:
        for file in (f"{name}.py", name):
            path = os.path.join(directory, file)
            note(path)
            if os.path.isfile(path):
                return path
    return None


def _read_small(path: str) -> str | None:
    text = read_text(path, _LARGEST_SMALL_FILE)
    return text if isinstance(text, str) else None


def _search_below(root: str, tail: str) -> tuple[str, ...]:
    """Every file below ``root`` whose path ends in ``tail``, sorted; links are not followed, and a vast tree ends."""
    found: list[str] = []
    for seen, (directory, folders, _files) in enumerate(os.walk(root)):
        note(directory)
        folders.sort()
        path = os.path.join(directory, tail)
        if os.path.isfile(path):
            found.append(path)
        if seen >= _MOST_DIRECTORIES:
            break
    return tuple(sorted(found))
