#!/usr/bin/env python3
"""``gti status``: command not found. Suggest similar commands, the most similar first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from hookline.shell.plugins.protocol import modify, serve

_HOOKS = [{"event": "error.dispatch", "mode": "blocking", "timeout": "2s"}]

_NOT_FOUND = 127
_MAX_SUGGESTIONS = 3
#: Names are similar from here on: ``gti`` and ``git`` are, ``ls`` and ``cd`` are not.
_MIN_SIMILARITY = 0.6

#: Builtins of every shell.
_BUILTINS = frozenset({
    "alias", "bg", "cd", "echo", "exit", "export", "fg", "history", "jobs", "popd", "pushd", "pwd", "source", "unset",
})  # fmt: skip


def _reply(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    data = message["data"]
    words = str(data.get("expr") or "").split()
    if data.get("code") != _NOT_FOUND or not words:
        return None
    wrong = str(data.get("step") or words[0])
    similar = nearest(wrong, {*_BUILTINS, *_programs(os.environ.get("PATH", ""))})
    rest = " ".join(words[1:]) if words[0] == wrong else ""
    return modify(suggest=[f"{name} {rest}".rstrip() for name in similar]) if similar else None


def _programs(path: str) -> Iterator[str]:
    for folder in dict.fromkeys(path.split(os.pathsep)):
        try:
            yield from (entry.name for entry in os.scandir(folder or ".") if os.access(entry.path, os.X_OK))
        except OSError:
            continue


def nearest(wrong: str, names: Iterable[str]) -> list[str]:
    """The most similar names; those with two swapped letters first, the most common slip."""
    swapped = {wrong[:at] + wrong[at + 1] + wrong[at] + wrong[at + 2 :] for at in range(len(wrong) - 1)}
    near = [
        (2.0 if name in swapped else SequenceMatcher(None, wrong, name).ratio(), name)
        for name in names
        if abs(len(name) - len(wrong)) <= 2 and name != wrong
    ]
    near.sort(key=lambda one: (-one[0], one[1]))
    return [name for score, name in near if score >= _MIN_SIMILARITY][:_MAX_SUGGESTIONS]


if __name__ == "__main__":
    serve(_HOOKS, _reply)
