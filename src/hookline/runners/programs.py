"""Which file the name of a hook's program means. Apart from its start: whoever only looks (``list``, ``check``) needs none
of what that imports."""

from __future__ import annotations

import os

from hookline.core.hook import Command, HookSpec

_OWN_LAYERS = frozenset({"machine", "user", "pack", "managed"})


def program_places(spec: HookSpec, program: str, cwd: str) -> tuple[str, ...]:
    """Where a relative program is looked for. Never in a subdirectory that the agent happens to work in, where
    anybody could put a file of that name in front of the approved one; nor, for a person's own hook, in a project."""
    base = spec.action.base if isinstance(spec.action, Command) else os.path.dirname(spec.origin.file)
    project = spec.extra.get("project", "")
    if not project or not base or "/" not in program:
        return (cwd, base)  # without a slash the place only says what a relative entry of PATH means
    return (base,) if spec.origin.layer in _OWN_LAYERS else (project, base)


def find_program(name: str, path: str, places: tuple[str, ...]) -> str:
    """The file to execute; "" if there is none.

    A name with a slash is relative to the first of ``places`` that has it; one without is looked up in ``path``,
    which is the child's, with relative entries meaning the child's directory.
    """
    if name.startswith("/"):
        return name  # whether it exists, spawn tells
    if "/" in name:
        candidates = [os.path.join(place, name) for place in places if place]
        return next((each for each in candidates if os.path.exists(each)), "")
    here = places[0] if places else ""
    for directory in path.split(os.pathsep):
        candidate = os.path.join(here, directory, name)
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            return candidate
    return ""


def missing(name: str, path: str, places: tuple[str, ...]) -> str:
    return "; ".join(why_missing(name, path, places))


def why_missing(name: str, path: str, places: tuple[str, ...]) -> tuple[str, str]:
    """What to say of a program that is nowhere, and what to do about it."""
    if "/" in name:
        tried = "" if name.startswith("/") else ", ".join(dict.fromkeys(place for place in places if place))
        return f"{name!r} does not exist{tried and f' (looked in {tried})'}", "write the path of an existing program"
    beside = any(place and os.path.exists(os.path.join(place, name)) for place in places)
    fix = f"write './{name}', which is a file here" if beside else "install it or write its full path"
    return f"{name!r} was not found in PATH ({path})", fix
