"""Hooks that the agent which asks runs itself: those of its own files, where a source names them too.

For every other agent such a source is how these hooks reach it. For their own agent it would be the second time.

A hook that is left out here must be one that really runs there, so what a repository can set decides nothing for a
person's own sources: of the person's files only that in its usual place counts, and not where a variable of the agent
says that it is elsewhere. In doubt a hook runs twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.dialects import ALIASES, RUN_BY_THEMSELVES, dialect_named
from hookline.dialects.base import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hookline.spec import HookSpec


def run_by(agent: str, specs: Iterable[HookSpec], cwd: str, home: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """By the hooks' ids, why they are left to ``agent``."""
    variable = RUN_BY_THEMSELVES.get(ALIASES.get(agent, agent))
    borrowed = [spec for spec in specs if spec.dialect != "native"]
    if variable is None or not borrowed:
        return {}
    started_in = environ.get(variable, "") if variable else ""
    user, project = _files(agent, started_in if os.path.isabs(started_in) else cwd, home, environ)
    found: dict[str, str] = {}
    for spec in borrowed:
        file = os.path.realpath(spec.origin.file)
        if file in user or (file in project and spec.origin.layer in FOREIGN):
            found[spec.id] = f"{agent} runs it itself, from {spec.origin.file}"
    return found


def _files(agent: str, cwd: str, home: str, environ: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The person's and the project's files that the agent reads."""
    places = dialect_named(agent).places
    usual = {os.path.realpath(one.path) for one in places(cwd, home, {}) if one.layer not in FOREIGN}
    now = [(os.path.realpath(one.path), one.layer) for one in places(cwd, home, environ)]
    user = {path for path, layer in now if layer not in FOREIGN}
    return usual & user, {path for path, layer in now if layer in FOREIGN}
