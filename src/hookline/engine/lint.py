"""Mistakes that no file shows: programs and modules that are missing or not executable, and hooks whose ``match`` asks
for a field that their events do not have, so that they never run; and hooks that cannot refuse as they are meant to.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hookline.core._dataclass import replace
from hookline.core.event import COMMON_FIELDS, event_kind
from hookline.core.hook import Command, Function, HookSpec, Plugin
from hookline.core.problem import Problem
from hookline.core.suggest import nearest
from hookline.core.tool_names import ANSWERS_TO, CANONICAL
from hookline.runners.command import program_places
from hookline.runners.function import module_exists
from hookline.runners.spawn import find_program, missing


def program_problems(specs: Sequence[HookSpec], cwd: str, environ: Mapping[str, str]) -> list[Problem]:
    """A warning for each program that cannot be started. Shell commands are not checked."""
    found = (_problem(spec, why) for spec in specs if spec.enabled for why in _unstartable(spec, cwd, environ))
    # One hook of several events is several specs, and one mistake.
    return list({(one.file, one.line, one.finding): one for one in found}.values())


def _problem(spec: HookSpec, why: tuple[str, str]) -> Problem:
    return spec.origin.problem(f"the hook {spec.name!r} cannot run: {why[0]}", why[1], "warning")


def _unstartable(spec: HookSpec, cwd: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do about it."""
    action = spec.action
    if isinstance(action, Function) and action.call is None:
        yield from _unimportable(action)
        return
    if isinstance(action, Plugin):
        name, places = action.path, _in(cwd)
    elif isinstance(action, Command) and action.form == "argv" and action.argv:
        name, places = action.argv[0], program_places(spec, action.argv[0], cwd)
    else:
        return
    path = spec.environ.get("PATH") or environ.get("PATH", os.defpath)
    program = find_program(os.path.expanduser(name) if spec.dialect == "lash" else name, path, places)
    program = os.path.normpath(program) if program else ""
    if not program or not os.path.exists(program):
        finding, _, fix = missing(name, path, places).rpartition("; ")
        yield finding, fix
    elif os.path.isdir(program) or not stat.S_ISREG(os.stat(program).st_mode):
        yield f"{program} is not a file", "name the program in it"
    elif not os.access(program, os.X_OK):
        yield f"{program} is not executable", f"run: chmod +x {program}"


def _in(cwd: str) -> tuple[str, ...]:
    return (cwd,)


def _unimportable(action: Function) -> Iterator[tuple[str, str]]:
    """Only the module's file is looked up: importing it would run its code."""
    module = action.target.partition(":")[0]
    if (action.base and module_exists(action.base, module)) or _on_the_path(module):
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
            except Exception:  # a foreign finder; in doubt the module exists
                return True
            if found is not None:
                break
        if found is None:
            return False
        if depth + 1 < len(parts) and found.submodule_search_locations is None:
            return False
        places = list(found.submodule_search_locations or ())
    return True


#: What agents send with their events beyond the documented fields.
_AGENTS_FIELDS = (
    "permission_mode", "prompt_id", "turn_id", "agent_type", "effort", "timestamp", "hook_event_name",
    "stop_hook_active", "last_assistant_message", "tool_response", "mcp_context",
)  # fmt: skip
#: The arguments of the usual tools. A tool may have any other, so only a near miss is reported.
_TOOL_FIELDS = (
    "command", "cmd", "description", "timeout", "workdir", "run_in_background", "file_path", "filePath", "absolute_path",
    "path", "paths", "dir_path", "content", "old_string", "new_string", "oldString", "newString", "replace_all",
    "replaceAll", "edits", "pattern", "patterns", "include", "glob", "output_mode", "offset", "limit", "url", "prompt",
    "query", "subagent_type", "notebook_path", "cell_id", "todos", "input", "patch",
)  # fmt: skip


def mode_problems(specs: Iterable[HookSpec]) -> list[Problem]:
    """A warning for each hook whose failure is to refuse something that nobody holds back for it."""
    fix = 'write mode = "sync" if it guards, else on_failure = "ignore"'
    return [
        spec.origin.problem(
            f"{spec.name!r} runs in mode {spec.mode}, so its failure comes too late to refuse", fix, "warning"
        )
        for spec in specs
        if spec.enabled and spec.mode != "sync" and spec.on_failure == "deny" and event_kind(spec.event).deniable
    ]


def match_problems(specs: Sequence[HookSpec]) -> list[Problem]:
    """A warning for each field, at the place of its hook: an agent may send more than is documented."""
    hooks: dict[tuple[str, str, str], list[HookSpec]] = {}
    for spec in specs:
        if spec.enabled and spec.dialect == "native":
            hooks.setdefault((spec.origin.file, spec.origin.pointer, spec.name), []).append(spec)
    return [problem for ours in hooks.values() for problem in _of_hook(ours)]


def _of_hook(ours: Sequence[HookSpec]) -> Iterator[Problem]:
    kinds = [event_kind(spec.event) for spec in ours]
    pattern = ours[0].matcher.subject
    if pattern.style == "full" and kinds[0].subject == "tool_name" and not ours[0].gates.agent:
        for finding, fix in _tool_name_problems(pattern.text):
            yield ours[0].origin.problem(
                f"the hook {ours[0].name!r}: match = {pattern.text!r} {finding}", fix, "warning"
            )
    documented = dict.fromkeys(field for kind in kinds for field in (*kind.fields, kind.subject) if field)
    events = ", ".join(kind.name for kind in kinds)
    for path in dict.fromkeys(test.path for spec in ours for test in spec.matcher.fields):
        first, _, rest = path.partition(".")
        known = (*documented, *COMMON_FIELDS, *_AGENTS_FIELDS)
        if first == "tool_input" and first in documented:
            leaf = rest.partition(".")[0]
            near = nearest(leaf, _TOOL_FIELDS, 0.75) if leaf and leaf not in _TOOL_FIELDS else ""
            if near:
                finding = f"match asks for {path!r}, and no usual tool has it: without it the hook never runs"
                yield _field_problem(ours[0], path, finding, f"did you mean 'tool_input.{near}'?")
        elif all(kind.fields for kind in kinds) and first not in known:
            near = nearest(first, known, 0.6)
            fix = f"did you mean {near!r}?" if near else f"documented are {', '.join(documented)}"
            yield _field_problem(
                ours[0], path, f"match asks for {first!r}, which {events} does not have: the hook never runs", fix
            )


def _tool_name_problems(text: str) -> Iterator[tuple[str, str]]:
    """A pattern that looks like a tool's name, and matches none or only that of some agents."""
    ours = {name.lower(): name for name in CANONICAL.values()}
    if text != text.strip():
        yield "has spaces around it, and no tool's name has: the hook never runs", f"write {text.strip()!r}"
    for word in text.split("|"):
        tool, _, rest = word.partition("(")
        meant = CANONICAL.get(tool) or ours.get(tool.lower(), "")
        if rest and meant and not rest.startswith("?"):
            fix = f"""match = {{ tool_name = "{meant}", "tool_input.command" = "…" }}, with a regular expression"""
            yield "is tried on the tool's name, which has no arguments: the hook never runs", fix
        elif meant and meant != tool and tool not in ANSWERS_TO:
            yield f"means {tool!r} of the agents that call it so", f"write {meant!r} for every agent's"


def _field_problem(spec: HookSpec, path: str, finding: str, fix: str) -> Problem:
    where = replace(spec.origin, pointer=f"{spec.origin.pointer}.match.{path}")
    return where.problem(f"the hook {spec.name!r}: {finding}", fix, "warning")
