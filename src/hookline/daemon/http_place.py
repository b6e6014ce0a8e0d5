"""What the HTTP door and whoever registers it agree on: a port that stays, and a word that only this user knows.

An agent's file names the port, so it is chosen once and remembered; a daemon that starts later takes the same one.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.paths import paths_of, private_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The only address that is listened on; a name would be looked up, and could lead elsewhere.
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    port: int
    token: str

    def url(self, agent: str, event: str, registration: str, deadline: int) -> str:
        return f"http://{HOST}:{self.port}/hookline/{self.token}/{agent}/{event}/{registration.replace('/', ':')}/{deadline}"


def file_of(environ: Mapping[str, str]) -> str:
    """Beside the state, where no variable of ours moves it: the daemon and agents' calls look there too."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(paths_of({n: v for n, v in environ.items() if n.startswith("XDG_")}, home).state, "http.json")


def known(environ: Mapping[str, str]) -> Door | None:
    """The door that was chosen; None where there is none, or the file is not ours alone."""
    try:
        with open(file_of(environ), encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            told = json.load(file)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            return None
        port, token = told["port"], told["token"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if type(port) is not int or not 0 < port < 65536 or type(token) is not str or len(token) < 32:
        return None
    return Door(port=port, token=token)


def chosen(environ: Mapping[str, str]) -> Door:
    """The door there is, or a new one on a port that nobody has."""
    found = known(environ)
    if found is not None:
        return found
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.bind((HOST, 0))
        port = sock.getsockname()[1]
    door = Door(port=port, token=secrets.token_urlsafe(32))
    path = file_of(environ)
    private_dir(os.path.dirname(path))
    fresh = f"{path}.{os.getpid()}.new"
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump({"port": door.port, "token": door.token}, file)
    os.replace(fresh, path)
    return door
