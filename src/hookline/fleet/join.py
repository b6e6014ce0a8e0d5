"""What a machine keeps of its fleet: the credentials, and how far the link to the broker has come.

Root joins the machine (``/etc/hookline/fleet``); a person without root joins with their own records alone, below their
configuration. The files: ``machine.creds`` and ``link.json``, both for their owner's eyes; ``contact.json`` is for everybody.
"""

from __future__ import annotations

import json
import os
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.errors import ConfigError, UsageError
from hookline.core.files import is_locked, replace_atomically
from hookline.core.paths import Paths, private_dir
from hookline.fleet.credentials import Credentials, parse_credentials, read_credentials
from hookline.state.proof import key_places

_LINK, LOCK = "link.json", "link.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    folder: str
    credentials: Credentials

    def state(self) -> dict[str, Any]:
        """What the link wrote last; empty before it ran."""
        try:
            with open(os.path.join(self.folder, _LINK), encoding="utf-8") as file:
                found = json.load(file)
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    def keep_state(self, state: dict[str, Any]) -> None:
        replace_atomically(os.path.join(self.folder, _LINK), json.dumps(state).encode(), mode=0o600)


def find_joined(paths: Paths) -> Joined | None:
    """The fleet that we may speak for; None if there is none. Raises ConfigError for credentials that are damaged."""
    for path in paths.fleet_credentials:
        if os.access(path, os.R_OK):
            return Joined(folder=os.path.dirname(path), credentials=read_credentials(path))
    return None


def require_joined(paths: Paths) -> Joined:
    joined = find_joined(paths)
    if joined is None:
        raise UsageError(
            "this machine is in no fleet, or only root may speak for it; sudo hookline fleet join FILE.creds"
        )
    return joined


def join(paths: Paths, path: str) -> Joined:
    """Keep the credentials where only their owner reads them. Raises ConfigError."""
    from hookline.fleet.install import readable_by_all  # who asks whether we have joined needs none of it

    made = read_credentials(path)
    if made.role != "machine":
        raise ConfigError(
            f"{path} is for {made.role}, not for a machine; hookline fleet add NAME makes one for a machine"
        )
    place, person = paths.fleet_credentials
    try:
        with readable_by_all():  # contact.json and the team's key are for everybody
            os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)
        replace_atomically(place, made.text.encode("ascii"), mode=0o600)
    except PermissionError:
        place = person
        private_dir(os.path.dirname(place))
        replace_atomically(place, made.text.encode("ascii"), mode=0o600)
    return Joined(folder=os.path.dirname(place), credentials=parse_credentials(made.text, path))


def team_key_place(joined: Joined, paths: Paths) -> str:
    """Where whoever asks a question looks for the team's key."""
    return os.path.join(joined.folder, "team.key") if joined.folder.startswith(paths.machine) else key_places(paths.state)[1]  # fmt: skip


def link_runs(joined: Joined) -> bool:
    return is_locked(os.path.join(joined.folder, LOCK))


def leave(joined: Joined, paths: Paths) -> None:
    names = ("machine.creds", _LINK, "contact.json")
    for path in (*(os.path.join(joined.folder, name) for name in names), team_key_place(joined, paths)):
        if os.path.lexists(path):
            os.unlink(path)
