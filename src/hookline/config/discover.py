"""Where our own configuration is: machine, user, project, local, lowest precedence first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from hookline.config.files import read_text
from hookline.core.builtin_hooks import Known
from hookline.core.files import note
from hookline.core.paths import (
    FILE,
    FOLDER,
    LOCAL,
    Paths,
    project_folder,
    project_root,
    repository_root,
    upwards,
)
from hookline.dialects.base import ConfigPlace, Lookup

#: lazy-harness's own names.
LAZY_FILE = "config.toml"
_LAZY_FOLDER = "lazy-harness"


def native_places(cwd: str, home: str, paths: Paths) -> tuple[ConfigPlace, ...]:
    """Every layer that may exist; the files themselves need not."""
    found = [
        ConfigPlace(path=os.path.join(paths.machine, FILE), layer="machine", syntax="toml"),
        ConfigPlace(path=os.path.join(paths.config, FILE), layer="user", syntax="toml"),
    ]
    if folder := project_folder(cwd, home):
        found.append(ConfigPlace(path=os.path.join(folder, FILE), layer="project", syntax="toml"))
        found.append(ConfigPlace(path=os.path.join(folder, LOCAL), layer="local", syntax="toml"))
    else:
        _note_absent(cwd, home)
    return tuple(found)


def _note_absent(cwd: str, home: str) -> None:
    """Where a project's file may appear, or come back with another branch: it counts for the next event."""
    root = repository_root(cwd, home)
    for place in upwards(cwd, root or home):
        note(os.path.join(place, FOLDER, FILE))
        note(os.path.join(place, FOLDER, LOCAL))


def lazy_places(home: str, environ: Mapping[str, str], paths: Paths, project: str) -> tuple[ConfigPlace, ConfigPlace]:
    """lazy-harness's ``config.toml``, in our own directory and in its own: the first that is there counts.

    It is read without being named, so a variable that points into the project does not say where it is.
    """
    beside = os.path.dirname(paths.config) if os.path.basename(paths.config) == "hookline" else ""
    given = environ.get("LH_CONFIG_DIR", "")
    if not os.path.isabs(given) or is_inside_project(given, project, home):
        given = os.path.join(beside or os.path.join(home, ".config"), _LAZY_FOLDER)
    own, theirs = (os.path.join(folder, LAZY_FILE) for folder in (paths.config, given))
    return ConfigPlace(path=own, layer="user", syntax="toml"), ConfigPlace(path=theirs, layer="user", syntax="toml")


def is_inside_project(path: str, project: str, home: str) -> bool:
    """Whether it lies in the project, where a repository may have put it; at home everything is the person's own."""
    root = os.path.realpath(project).rstrip("/") + "/" if project else ""
    if not root or (os.path.realpath(home).rstrip("/") + "/").startswith(root):
        return False
    return (os.path.realpath(path).rstrip("/") + "/").startswith(root)


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
