"""Where the person's own files are, although variables may come from a repository's agent settings."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookline.core.paths import Directories, account_home, find_paths, home_directory, project_root


def surroundings(cwd: str, environ: Mapping[str, str], project: str = "") -> tuple[str, dict[str, str]]:
    """The home directory and the variables that may say where our files are: none that point into the project."""
    home = environ.get("HOME", "")
    root = _with_slash(project or project_root(cwd, home))
    own = {name: value for name, value in environ.items() if name.startswith("XDG_") and _is_plain(value)}
    # The root itself counts too: with XDG_STATE_HOME there, a repository could bring its own approvals.
    is_inside_project = {name for name, value in own.items() if _with_slash(value).startswith(root)}
    strange = not _is_plain(home) or _with_slash(home).startswith(root)
    if not is_inside_project and not strange:
        return home, own
    real = account_home() or home_directory(environ)
    if _with_slash(real).startswith(root):  # no project, but what is above one's own files: "/", or a home under git
        return home if _is_plain(home) else real, own
    return real if strange else home, {name: value for name, value in own.items() if name not in is_inside_project}


def _is_plain(path: str) -> bool:
    """An absolute path without steps back, which means the same to every process (``/proc/self/cwd`` does not)."""
    return path.startswith("/") and ".." not in path.split("/") and not path.startswith(("/proc/", "/dev/fd/"))


def agents_directories(cwd: str, environ: Mapping[str, str]) -> tuple[Directories, ...]:
    """Where the files of an agent's caller are, if its entry does not say: where variables say, and where the password
    database says. A repository's agent settings can set variables, so the guards of both count."""
    home, own = surroundings(cwd, environ)
    named = Directories(home=home, paths=find_paths(own, home))
    account = account_home()
    if not account:
        return (named,)
    usual = Directories(home=account, paths=find_paths({}, account))
    return (named,) if named.paths == usual.paths else (named, usual)


def _with_slash(path: str) -> str:
    return os.path.realpath(path).rstrip("/") + "/"
