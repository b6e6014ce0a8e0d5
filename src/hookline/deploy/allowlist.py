"""Hermes runs only commands that the person accepted: the acceptance of our own entries, where the person asks for it.

It keeps them in a JSON file beside its settings, each with its event and its exact command line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hookline.core.agents import AGENTS
from hookline.core.errors import ConfigError
from hookline.core.own_registration import is_ours
from hookline.deploy import apply
from hookline.deploy.installed import find_registrations
from hookline.deploy.plan import FilePlan

_AGENT = AGENTS["hermes"]
_FILE = "shell-hooks-allowlist.json"


def list_file(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(_settings(home, environ)), _FILE)


def _settings(home: str, environ: Mapping[str, str]) -> str:
    return _AGENT.config_path("user", "", home, environ) or ""


def is_given(home: str) -> bool:
    """Whether hookline has accepted entries before, so that new ones in their place are accepted again."""
    return any(map(_is_own, read_approvals(list_file(home, os.environ))))


def read_approvals(path: str) -> list[Any]:
    text, refused = apply.read(path)
    tree = _tree(path, text) if not refused else {}
    found = tree.get("approvals")
    return found if isinstance(found, list) else []


def _tree(path: str, text: str | None) -> dict[str, Any]:
    try:
        tree = json.loads(text or "{}")
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON ({error}); correct it, or accept the hooks in hermes") from error
    return tree if isinstance(tree, dict) else {}


def _is_own(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("command"), str) and is_ours(entry["command"])


def approve(ledger: apply.Ledger, here: str, home: str) -> list[str]:
    """What is accepted now. Only entries in a file that is as hookline left it."""
    del here
    path, settings = list_file(home, os.environ), _settings(home, os.environ)
    text, refused = apply.read(path)
    kept = ledger.all().get(settings)
    if refused or kept is None or apply.digest(apply.read(settings)[0] or "") != kept.digest:
        raise ConfigError(
            refused or f"{settings} is not as hookline wrote it; deploy again, or accept the hooks in hermes"
        )
    wanted = [(entry.event, entry.command) for entry in find_registrations(settings)]
    tree = _tree(path, text)
    there = [one for one in read_approvals(path) if not _is_own(one)]
    mine = {(one.get("event"), one.get("command")): one for one in read_approvals(path) if _is_own(one)}
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    new = [
        mine.get(one, {"event": one[0], "command": one[1], "approved_at": now, "script_mtime_at_approval": None})
        for one in wanted
    ]
    if list(mine) != wanted:
        after = json.dumps({**tree, "approvals": [*there, *new]}, indent=2, sort_keys=True)
        apply.deploy(ledger, FilePlan(path=path, before=text, after=after), agent=_AGENT.name, scope="user")
    return [event for event, _command in wanted]


def withdraw(ledger: apply.Ledger, here: str, home: str) -> None:
    """Acceptances go with the last of the entries that needed them."""
    del here
    path = list_file(home, os.environ)
    text, refused = apply.read(path)
    if refused or text is None or find_registrations(_settings(home, os.environ)):
        return
    kept = ledger.all().get(path)
    if kept is not None and apply.digest(text) == kept.digest:
        apply.undeploy(ledger, FilePlan(path=path, before=text, after=kept.before))
    elif any(map(_is_own, read_approvals(path))):
        rest = {**_tree(path, text), "approvals": [one for one in read_approvals(path) if not _is_own(one)]}
        apply.undeploy(ledger, FilePlan(path=path, before=text, after=json.dumps(rest, indent=2, sort_keys=True)))
