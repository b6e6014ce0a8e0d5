"""Programs of hooks that could not be started if their event came now: missing, or not executable; and modules."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

from hookline.problem import Problem
from hookline.run.command import places_of
from hookline.run.loading import stands_in
from hookline.run.spawn import find_program, missing
from hookline.spec import Command, Function, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hookline.spec import HookSpec


def program_problems(specs: Sequence[HookSpec], cwd: str, environ: Mapping[str, str]) -> list[Problem]:
    """A warning for each, at the place of its hook. What a shell is given is left to the shell."""
    found = (_problem(spec, why) for spec in specs if spec.enabled for why in _unstartable(spec, cwd, environ))
    # One hook of several events is several specs, and one mistake.
    return list({(one.file, one.line, one.finding): one for one in found}.values())


def _problem(spec: HookSpec, why: tuple[str, str]) -> Problem:
    origin = spec.origin
    return Problem(
        file=origin.file, line=origin.line, pointer=origin.pointer, severity="warning",
        finding=f"the hook {spec.name!r} cannot run: {why[0]}", fix=why[1],
    )  # fmt: skip


def _unstartable(spec: HookSpec, cwd: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do about it."""
    action = spec.action
    if isinstance(action, Function) and action.call is None:
        yield from _unimportable(action)
        return
    if isinstance(action, Plugin):
        name, places = action.path, _in(cwd)
    elif isinstance(action, Command) and action.form == "argv" and action.argv:
        name, places = action.argv[0], places_of(spec, action.argv[0], cwd)
    else:
        return
    path = spec.environ.get("PATH") or environ.get("PATH", os.defpath)
    program = find_program(os.path.expanduser(name) if spec.dialect == "lash" else name, path, places)
    program = os.path.normpath(program) if program else ""
    if not program or not os.path.exists(program):
        finding, _, fix = missing(name, path, places).rpartition("; ")
        yield finding, fix
    elif os.path.isdir(program) or not stat.S_ISREG(os.stat(program).st_mode):
        yield f"{program} is no file", "name the program in it"
    elif not os.access(program, os.X_OK):
        yield f"{program} is not executable", f"run: chmod +x {program}"


def _in(cwd: str) -> tuple[str, ...]:
    return (cwd,)


def _unimportable(action: Function) -> Iterator[tuple[str, str]]:
    """Only the module's file is looked up: importing it would run its code."""
    module = action.target.partition(":")[0]
    if (action.base and stands_in(action.base, module)) or _on_the_path(module):
        return
    where = f" in {action.base} or" if action.base else ""
    yield f"there is no module {module!r}{where} on Python's path", "correct its name, or put the file there"


def _on_the_path(module: str) -> bool:
    """Whether Python would find it, its packages looked into and not imported."""
    places: list[str] | None = None
    parts = module.split(".")
    for depth in range(len(parts)):
        name = ".".join(parts[: depth + 1])
        found = None
        for finder in sys.meta_path:
            try:
                found = finder.find_spec(name, places)
            except Exception:  # a finder of somebody else's; what it cannot say, we do not claim
                return True
            if found is not None:
                break
        if found is None:
            return False
        if depth + 1 < len(parts) and found.submodule_search_locations is None:
            return False
        places = list(found.submodule_search_locations or ())
    return True
