"""Prints what other versions of agents do otherwise than the published matrix says: ``agents_changes.py RESULTS``.

``make e2e AGENTS=claude-code@latest`` leaves RESULTS behind. Fields that are new in a payload are listed and no failure.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PUBLISHED = Path(__file__).resolve().parent.parent / "docs" / "reference" / "agents.json"


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Only of agents that were tried, and only what was tried."""
    published = {row["agent"]: row for row in before["agents"]}
    for row in now["agents"]:
        tried = {name: cell for name, cell in row["capabilities"].items() if cell["date"]}
        old = published.get(row["agent"], {"version": "never", "capabilities": {}})
        if not tried:
            continue
        yield f"{row['agent']}: {row['version']} (published: {old['version']}), {len(tried)} of {len(row['capabilities'])} tried"
        found = [*_cells(now["capabilities"], old["capabilities"], tried), *_fields(row)]
        yield from (f"  {line}" for line in found or ["nothing changed"])


def _cells(claims: Mapping[str, str], old: Mapping[str, Any], tried: Mapping[str, Any]) -> Iterator[str]:
    for name, cell in tried.items():
        was = old.get(name, {"result": "untested", "note": ""})
        if (was["result"], was["note"]) != (cell["result"], cell["note"]):
            notes = [f"{one['result']}{' (' + one['note'] + ')' if one['note'] else ''}" for one in (was, cell)]
            yield f"{claims[name]}: was {notes[0]}, is {notes[1]}"


def _fields(row: Mapping[str, Any]) -> Iterator[str]:
    for event, names in row.get("new fields", {}).items():
        yield f"new in the payload of {event}: {', '.join(names)}"


def main(words: list[str]) -> int:
    results = Path(words[0])
    if not results.exists():
        print(f"{results} is not there: make e2e AGENTS=claude-code@latest writes it", file=sys.stderr)
        return 1
    for line in changes(*(json.loads(file.read_text(encoding="utf-8")) for file in (PUBLISHED, results))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
