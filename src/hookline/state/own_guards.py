"""One's own files with guards as they were when they were last deployed or confirmed.

An agent can edit the person's own file with any tool. So a guard that was deployed stays in force as it was until a person
confirms the change: with ``hookline deploy``, or when a command at a terminal asks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from hookline.core.files import lock, note, read_json, read_text, write_json
from hookline.core.paths import MANIFEST, OWN_GUARDS

#: Bytes of a file of one's own; a larger one is none.
_LARGEST = 4 << 20


def read_kept(state: str) -> dict[str, tuple[str, str]]:
    """Path -> text and dialect of every file that is kept; none where nothing was deployed."""
    return {path: (one["text"], str(one.get("dialect", "native"))) for path, one in _read(state).items()}


def find_lost(state: str) -> str:
    """Of what every deployment leaves in its state directory, the file that is gone or damaged; "" if all is there."""
    path = os.path.join(state, MANIFEST)
    note(path)
    if (read_text(path) or "").strip() in {"", "{}"}:
        return path
    return "" if _read(state) else os.path.join(state, OWN_GUARDS)


def keep(state: str, files: Mapping[str, str]) -> None:
    """As these files (path -> dialect) are now, the person wants them. Raises StateError."""
    _write(state, {path: {"text": read_own(path), "dialect": dialect} for path, dialect in files.items()})


def accept(state: str, path: str) -> None:
    """The person has changed this file with a command of ours. Raises StateError."""
    kept = _read(state)
    if path in kept:
        _write(state, {**kept, path: {**kept[path], "text": read_own(path)}})


def read_own(path: str) -> str:
    """A file as it is compared; "" where there is none."""
    note(path)
    return read_text(path, _LARGEST) or ""


def forget(state: str) -> None:
    """Nothing is deployed any more."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(state, OWN_GUARDS))


def was_declined(state: str, path: str, text: str) -> bool:
    """Whether a person was asked about this very change, and did not want it."""
    return bool(_read(state).get(path, {}).get("declined") == text)


def decline(state: str, path: str, text: str) -> None:
    """The person does not want this change now; it is not asked about again. Raises StateError."""
    kept = _read(state)
    kept[path] = {**kept[path], "declined": text}
    _write(state, kept)


def _write(state: str, kept: Mapping[str, Any]) -> None:
    path = os.path.join(state, OWN_GUARDS)
    with lock(path):
        write_json(path, kept)


def _read(state: str) -> dict[str, dict[str, Any]]:
    path = os.path.join(state, OWN_GUARDS)
    note(path)
    try:
        return {str(name): dict(one) for name, one in read_json(path).items() if isinstance(one["text"], str)}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
