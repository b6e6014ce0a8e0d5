"""The record, for commands that look back."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from hookline.cli.output import is_recorded, require_readable
from hookline.core.errors import DataError
from hookline.core.paths import find_paths
from hookline.core.settings import RecordSettings
from hookline.state.record.store import Store, store_in


@contextmanager
def open_record(state: str = "") -> Generator[Store]:
    """Raises DataError if nothing was recorded, and StateError if it cannot be read."""
    store = store_in(state or find_paths(os.environ).state, RecordSettings())
    try:
        if not is_recorded(store):
            raise DataError("nothing is recorded yet; try: hookline demo")
        yield store
    finally:
        store.close()
    require_readable(store)
