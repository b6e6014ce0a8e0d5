"""How an agent's events reach hookline: the fastest way that keeps every guarantee, unless somebody chooses.

``socket``: the agent's plugin asks the daemon itself. ``_client``: the small native program. ``command``: hookline, which
starts Python. All of them fall back to an ordinary run when the daemon is gone. There was an ``http`` door, where the
agent posted its events: decision 18 says why it was removed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

import hookline
from hookline.core.agents import Agent
from hookline.core.errors import StateError
from hookline.core.paths import find_paths
from hookline.daemon.client.build import build_client, compiler

_Choice = Literal["auto", "client", "command"]
CHOICES: tuple[_Choice, ...] = ("auto", "client", "command")

DESCRIPTIONS: Mapping[str, str] = {
    "socket": "over the daemon's socket",
    "client": "through the native client",
    "command": "through the command hookline; faster, with a C compiler: hookline deploy --door client",
}


def _client(environ: Mapping[str, str], *, build: bool) -> str:
    """The native client under hookline's name, by which a registration is known; "" where there is none of today.

    With ``build`` it is built anew if need be. Raises ``StateError`` where that cannot be done.
    """
    home = environ.get("HOME") or os.path.expanduser("~")
    folder = os.path.join(find_paths(environ, home).data, "bin")
    binary, path = os.path.join(folder, "hookc"), os.path.join(folder, "hookline")
    linked = os.path.islink(path) and os.readlink(path) == "hookc"
    if not build:
        return path if linked and _is_current(binary) else ""
    if not _is_current(binary):
        build_client(environ)
    if not linked:
        if os.path.lexists(path):
            raise StateError(f"{path} is not ours; move it away")
        os.symlink("hookc", path)
    return path


def remove_client(environ: Mapping[str, str]) -> None:
    """Remove the client that was built for a deployment, and the directories that hold nothing else."""
    path = _planned_client(environ)
    folder = os.path.dirname(path)
    with suppress(OSError):
        if os.path.islink(path) and os.readlink(path) == "hookc":
            os.unlink(path)
            os.unlink(os.path.join(folder, "hookc"))
        os.rmdir(folder)
        os.rmdir(os.path.dirname(folder))


def _planned_client(environ: Mapping[str, str]) -> str:
    """Where it is once it is built."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(find_paths(environ, home).data, "bin", "hookline")


def _is_current(binary: str) -> bool:
    """Built for this version and this Python: both are written in it."""
    try:
        with open(binary, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return hookline.__version__.encode() + b"\0" in text and os.fsencode(sys.executable) + b"\0" in text


def client_program(choice: str, own: str, environ: Mapping[str, str], *, build: bool, forecast: bool = False) -> str:
    """What a command door calls. ``build`` makes the client; ``forecast`` says where it would be, for a dry run.

    Where nobody has chosen, a compiler that is there is used: nobody should have to know of a door to get through it.
    """
    if choice == "command" or environ.get("HOOKLINE_DAEMON") == "off":
        return own
    if choice == "client":
        return _client(environ, build=True) if build else _planned_client(environ)
    if there := _client(environ, build=False):
        return there
    if not (build or forecast) or compiler() is None:
        return own
    if forecast:
        return _planned_client(environ)
    try:
        return _client(environ, build=True)
    except StateError:  # the command does the same, only later
        return own


def transport_name(target: Agent, used: str, own: str) -> str:
    """What the choice came to for this agent."""
    if target.form == "plugin":
        return "socket"
    return "command" if used == own else "client"


def remove_http_token(environ: Mapping[str, str]) -> None:
    """Delete the port and the token that the removed HTTP door kept."""
    home = environ.get("HOME") or os.path.expanduser("~")
    state = find_paths(
        {transport_name: value for transport_name, value in environ.items() if transport_name.startswith("XDG_")}, home
    ).state
    with suppress(OSError):
        os.unlink(os.path.join(state, "http.json"))
