"""How an agent's events reach hookline: the fastest way that keeps every guarantee, unless somebody chooses.

``socket``: the agent's plugin asks the daemon itself. ``client``: the small native program. ``command``: a launcher that
starts an isolated Python. All of them fall back to an ordinary run when the daemon is gone. None of them is the command
that a person types, whose Python reads variables and the current directory. There was an ``http`` door, where the agent
posted its events: decision 18 says why it was removed.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

import hookline
from hookline.core.agents import Agent
from hookline.core.errors import StateError
from hookline.core.files import read_text, replace_atomically
from hookline.core.isolation import MAIN
from hookline.core.paths import find_paths, home_directory, private_dir
from hookline.daemon.client.build import TWIN, build_client, can_build

_Choice = Literal["auto", "client", "command"]
CHOICES: tuple[_Choice, ...] = ("auto", "client", "command")

DESCRIPTIONS: Mapping[str, str] = {
    "socket": "over the daemon's socket",
    "client": "through the native client",
    "path": "through the command hookline, from PATH: the file is the same for everybody",
    "command": "through the command hookline; faster, with a C compiler: hookline deploy --door client",
}

#: Directories of which uv and pipx say that they may be emptied.
_CACHES = frozenset({".cache", "Caches", "archive-v0"})


def _client(environ: Mapping[str, str], *, build: bool) -> str:
    """The native client under hookline's name, by which a registration is known; "" where there is none of today.

    With ``build`` it is built anew if need be. Raises ``StateError`` where that cannot be done.
    """
    path = _planned_client(environ)
    binary = os.path.join(os.path.dirname(path), "hookc")
    linked = os.path.islink(path) and os.readlink(path) == "hookc"
    if not build:
        return path if linked and _is_current(binary) else ""
    if not _is_current(binary):
        build_client(environ)
    if not linked:
        if os.path.lexists(path):
            raise StateError(f"{path} was not made by hookline; move it away")
        os.symlink("hookc", path)
    return path


def _launcher(environ: Mapping[str, str], *, build: bool) -> str:
    """The launcher, written with ``build``; it is small, and always the same for one installation."""
    path = _launcher_path(environ)
    source = (
        f"#!/bin/sh\ntest -r {shlex.quote(TWIN)} || {{ echo 'hookline is no longer installed where it was' >&2; exit 127; }}\n"
        f'exec {shlex.join([sys.executable, "-I", "-S", TWIN])} "$@"\n'
    )
    if build and read_text(path, 1 << 16) != source:
        private_dir(os.path.dirname(path))
        replace_atomically(path, source, mode=0o700)
    return path


def _launcher_path(environ: Mapping[str, str]) -> str:
    return os.path.join(find_paths(environ).data, "launcher", "hookline")


def remove_programs(environ: Mapping[str, str]) -> None:
    """Remove what was made for a deployment, and the directories that hold nothing else."""
    path, launcher = _planned_client(environ), _launcher_path(environ)
    folder = os.path.dirname(path)
    with suppress(OSError):
        os.unlink(launcher)
        os.rmdir(os.path.dirname(launcher))
    with suppress(OSError):
        if os.path.islink(path) and os.readlink(path) == "hookc":
            os.unlink(path)
            os.unlink(os.path.join(folder, "hookc"))
        os.rmdir(folder)
    with suppress(OSError):
        os.rmdir(os.path.dirname(folder))


def _planned_client(environ: Mapping[str, str]) -> str:
    """Where it is once it is built."""
    return os.path.join(find_paths(environ).data, "bin", "hookline")


def _is_current(binary: str) -> bool:
    """Built for this version, this Python and this installation: all are written in it."""
    try:
        with open(binary, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return all(os.fsencode(word) + b"\0" in text for word in (hookline.__version__, sys.executable, MAIN))


def entry_program(
    target: Agent, choice: str, environ: Mapping[str, str], *, build: bool, forecast: bool = False
) -> str:
    """What an entry calls. ``build`` makes it; ``forecast`` says where it would be, for a dry run.

    Where nobody has chosen, a client that came along or can be built is used: nobody should have to know of a door to get through it.
    """
    if target.form == "plugin" or choice == "command" or environ.get("HOOKLINE_DAEMON") == "off":
        return _launcher(environ, build=build)
    if choice == "client":
        return _client(environ, build=True) if build else _planned_client(environ)
    if there := _client(environ, build=False):
        return there
    if not (build or forecast) or not can_build():
        return _launcher(environ, build=build)
    if forecast:
        return _planned_client(environ)
    try:
        return _client(environ, build=True)
    except StateError:  # the launcher does the same, only later
        return _launcher(environ, build=True)


def transport_name(target: Agent, used: str, environ: Mapping[str, str]) -> str:
    """What the choice came to for this agent."""
    if target.form == "plugin":
        return "socket"
    return "client" if used == _planned_client(environ) else "command"


def runs_from_cache() -> str:
    """What to say where hookline is installed only for this call, as ``uvx`` and ``pipx run`` do; "" elsewhere."""
    if not _CACHES & set(sys.prefix.split(os.sep)):
        return ""
    return (
        f"hookline runs from a cache ({sys.prefix}). When it is emptied, agents are refused every call: install hookline"
        " with uv tool install, pipx install or pip, then: hookline deploy"
    )


def remove_http_token(environ: Mapping[str, str]) -> None:
    """Delete the port and the token that the removed HTTP door kept."""
    usual = {name: value for name, value in environ.items() if name.startswith("XDG_")}
    with suppress(OSError):
        os.unlink(os.path.join(find_paths(usual, home_directory(environ)).state, "http.json"))
