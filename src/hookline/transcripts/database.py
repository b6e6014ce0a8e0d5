"""A query of an agent's database, which the agent may be writing to."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any
from urllib.parse import quote


def query(database: str, text: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The rows; none where it cannot be read. Never raises, and never makes a file."""
    import sqlite3  # few agents keep their sessions in one

    file = os.path.abspath(database)
    try:
        with closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=1.0)) as at:
            return at.execute(text, values).fetchall()
    except sqlite3.Error:
        return []
