"""One's own configuration as it was when it was last deployed or confirmed.

An agent can edit the person's own file with any tool. So a guard that was deployed stays in force as it was until a person
confirms the change: with ``hookline deploy``, or when a command at a terminal asks.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any

from hookline.core.file_tracking import note
from hookline.core.files import lock, write_json

_FILE = "own-guards.json"


def read_kept(state: str) -> dict[str, str]:
    """Path -> text of every file that is kept; none where nothing was deployed."""
    return {path: one["text"] for path, one in _read(state).items()}


def keep(state: str, files: Mapping[str, str]) -> None:
    """These texts are what the person wants. Raises StateError."""
    _write(state, {path: {"text": text} for path, text in files.items()})


def accept(state: str, path: str) -> None:
    """The person has changed this file with a command of ours. Raises StateError."""
    kept = read_kept(state)
    if path in kept:
        keep(state, {**kept, path: read_own(path)})


def read_own(path: str) -> str:
    """A file as it is compared; "" where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return ""


def forget(state: str) -> None:
    """Nothing is deployed any more."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(state, _FILE))


def was_declined(state: str, path: str, text: str) -> bool:
    """Whether a person was asked about this very change, and did not want it."""
    return bool(_read(state).get(path, {}).get("declined") == text)


def decline(state: str, path: str, text: str) -> None:
    """The person does not want this change now; it is not asked about again. Raises StateError."""
    kept = _read(state)
    kept[path] = {**kept[path], "declined": text}
    _write(state, kept)


def _write(state: str, kept: Mapping[str, Any]) -> None:
    path = os.path.join(state, _FILE)
    with lock(path):
        write_json(path, kept)


def _read(state: str) -> dict[str, dict[str, Any]]:
    path = os.path.join(state, _FILE)
    note(path)
    try:
        with open(path, encoding="utf-8") as file:
            tree = json.load(file)
        return {str(name): dict(one) for name, one in tree.items() if isinstance(one["text"], str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
