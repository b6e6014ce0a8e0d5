"""The handshakes of plugins, cached by the content of their executables.

So a cold run starts only the plugins that can match its event. A changed executable shakes hands again.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.core.errors import StateError
from hookline.core.files import replace_atomically
from hookline.runners.environ import state_root

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = "plugins-cache.json"
_KEPT = 200
_CHUNK = 1 << 20


def digest(program: str) -> str:
    """The identity of an executable: its path and content; "" if it cannot be read."""
    found = hashlib.blake2b(os.fsencode(os.path.realpath(program)) + b"\0", digest_size=16)
    try:
        with open(program, "rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
    except OSError:
        return ""
    return found.hexdigest()


def recall(state_dir: str, identity: str) -> Mapping[str, Any] | None:
    known = _read(state_dir).get(identity) if identity else None
    return known if isinstance(known, dict) else None


def remember(state_dir: str, identity: str, handshake: Mapping[str, Any]) -> None:
    """Best effort: without it the plugin is started again for its handshake."""
    known = _read(state_dir)
    if not identity or known.get(identity) == handshake:
        return
    known.pop(identity, None)
    kept = dict([*known.items(), (identity, dict(handshake))][-_KEPT:])
    with suppress(OSError, StateError, ValueError):
        replace_atomically(os.path.join(state_root(state_dir), _NAME), json.dumps(kept), durable=False)


def _read(state_dir: str) -> dict[str, Any]:
    try:
        with open(os.path.join(state_root(state_dir), _NAME), "rb") as file:
            known = json.loads(file.read())
    except (OSError, ValueError, StateError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
