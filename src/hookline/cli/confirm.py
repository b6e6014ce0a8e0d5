"""A person at a terminal is asked once whether a change of a deployed guard is theirs."""

from __future__ import annotations

import os
import sys

from hookline.cli.output import confirm, safe
from hookline.core.paths import FILE, Paths, find_paths
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.state import own_guards
from hookline.state.protection import find_agent_above, is_protected


def keep_own_files(paths: Paths) -> None:
    """What the person's own file says now is what they want, unless an agent runs this. Raises StateError."""
    if find_agent_above(os.getpid(), os.environ) and is_protected(paths.state):
        return
    path = os.path.join(paths.config, FILE)
    own_guards.keep(paths.state, {path: own_guards.read_own(path)})


def ask_about_changes() -> None:
    """Show how one's own file differs from what was deployed, and ask whether that is right."""
    home = os.environ.get("HOME") or os.path.expanduser("~")
    state = find_paths(os.environ, home).state
    kept = own_guards.read_kept(state)
    if all(own_guards.read_own(path) == text for path, text in kept.items()) or find_agent_above(
        os.getpid(), os.environ
    ):
        return
    runtime = load_runtime(Sources(), READ_ONLY)
    runtime.engine.close()
    for path in (path for path in kept if any(line.startswith(f"{path}: ") for line in runtime.held)):
        now = own_guards.read_own(path)
        if own_guards.was_declined(state, path, now):
            continue
        _show_difference(path, kept[path], now)
        if confirm("A guard that is deployed has changed. Is this change yours?"):
            own_guards.keep(state, {**kept, path: now})
        else:
            own_guards.decline(state, path, now)


def _show_difference(path: str, before: str, after: str) -> None:
    import difflib  # only a changed guard needs it

    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{path} (deployed)", f"{path} (now)", lineterm=""
    )
    for line in lines:
        print(safe(line), file=sys.stderr)
