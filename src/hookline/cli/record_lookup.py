"""Whether there is a record to read, and what to do if it cannot be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.core.paths import unusable, why_unusable

if TYPE_CHECKING:
    from hookline.state.record.store import Store


def is_recorded(store: Store) -> bool:
    """Whether anything was ever recorded. Raises StateError if nothing can be."""
    try:
        os.stat(store.path)
    except FileNotFoundError:
        if why := why_unusable(os.path.dirname(store.path)):
            raise StateError(f"nothing is recorded: {why}") from None
        return False
    except OSError as error:
        raise StateError(f"the record cannot be read: {unusable(store.path, error)}") from None
    return True


def require_readable(store: Store) -> None:
    """Raise StateError with what to do, which SQLite's own message lacks."""
    if not store.note:
        return
    why = why_unusable(os.path.dirname(store.path))
    raise StateError(f"the record cannot be read: {why}" if why else store.note)
