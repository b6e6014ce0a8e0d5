"""A person at a terminal is asked once whether a change of a deployed guard is theirs."""

from __future__ import annotations

import os
import sys

from hookline.cli.loading import look
from hookline.cli.output import confirm, safe
from hookline.config.layers import ProjectGate
from hookline.config.load import load
from hookline.core.hook import is_guard
from hookline.core.paths import FILE, find_paths, home_directory
from hookline.state import own_guards
from hookline.state.protection import find_agent_above, is_protected


def keep_own_files(home: str) -> None:
    """What the person's own files say now is what they want, unless an agent runs this. Raises StateError."""
    paths = find_paths(os.environ, home)
    if find_agent_above(os.getpid(), os.environ) and is_protected(paths.state):
        return
    own = load(cwd=home, home=home, environ=os.environ, paths=paths, gate=ProjectGate("approved")).specs
    files = {spec.origin.file: spec.dialect for spec in own if spec.origin.layer == "user" and is_guard(spec)}
    own_guards.keep(paths.state, files | {os.path.join(paths.config, FILE): "native"})


def ask_about_changes() -> None:
    """Show how one's own file differs from what was deployed, and ask whether that is right."""
    home = home_directory(os.environ)
    state = find_paths(os.environ, home).state
    kept = own_guards.read_kept(state)
    changed = {path: now for path, (text, _) in kept.items() if (now := own_guards.read_own(path)) != text}
    if all(own_guards.was_declined(state, *one) for one in changed.items()) or find_agent_above(
        os.getpid(), os.environ
    ):
        return
    runtime = look()
    if not runtime.held:
        return
    for path, now in changed.items():
        _show_difference(path, kept[path][0], now)
    if confirm("A guard that is deployed has changed. Is this change yours?"):
        keep_own_files(home)
        return
    for one in changed.items():
        own_guards.decline(state, *one)


def _show_difference(path: str, before: str, after: str) -> None:
    import difflib  # only a changed guard needs it

    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{path} (deployed)", f"{path} (now)", lineterm=""
    )
    for line in lines:
        print(safe(line), file=sys.stderr)
