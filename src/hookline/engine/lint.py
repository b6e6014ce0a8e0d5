"""Mistakes that no file shows: programs that cannot do their work (missing, not executable, without an interpreter, saved
with CRLF), hooks whose ``match`` asks for a field that their events do not have, so that they never run, and hooks that
cannot refuse as they are meant to, or mean something else than they did in an earlier version.

Of a line of shell only what is plain is looked at: its first program, paths in command position, and the script that an
interpreter is given.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hookline.core._dataclass import replace
from hookline.core.event import COMMON_FIELDS, event_kind
from hookline.core.hook import DEFAULTED, Command, Function, HookSpec, Plugin
from hookline.core.problem import Problem
from hookline.core.suggest import nearest
from hookline.core.tool_names import ANSWERS_TO, CANONICAL, INPUTS
from hookline.runners.command import program_places
from hookline.runners.function import module_exists
from hookline.runners.spawn import find_program, missing
from hookline.state.trust.words import expand, of_shell

#: Programs that read the file that follows them.
_INTERPRETER = re.compile(r"(?:ba|da|z|k)?sh|python[\d.]*|node|deno|bun|ruby|perl|php")
#: Texts that a shell would run line by line if they have no first line that says otherwise.
_FOREIGN_SOURCE = (".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".php")
_PLAIN_WORD = re.compile(r"[\w./~+@%-]+")


def program_problems(specs: Sequence[HookSpec], cwd: str, environ: Mapping[str, str]) -> list[Problem]:
    """A warning for each program that cannot be started."""
    found = (_problem(spec, why) for spec in specs if spec.enabled for why in _unstartable(spec, cwd, environ))
    # One hook of several events is several specs, and one mistake.
    return list({(one.file, one.line, one.finding): one for one in found}.values())


def _problem(spec: HookSpec, why: tuple[str, str]) -> Problem:
    return spec.origin.problem(f"the hook {spec.name!r} cannot run: {why[0]}", why[1], "warning")


def _unstartable(spec: HookSpec, cwd: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do about it."""
    match spec.action:
        case Function(call=None) as action:
            yield from _unimportable(action)
        case Plugin(path=path):
            yield from _program(spec, path, (cwd,), environ)
        case Command(form="argv", argv=(program, *words)):
            yield from _program(spec, program, program_places(spec, program, cwd), environ)
            yield from _script(program, words, cwd)
        case Command(form="shell", text=text) if not re.search(r"\(\)|\bfunction\b|\balias\b|<<", text):
            yield from _shell_line(spec, text, cwd, environ)
        case Command(form="script", text=text) if text.partition("\n")[0].endswith("\r"):
            yield "its script has lines that end with CRLF", "save the file with LF"
        case _:
            return


def _program(
    spec: HookSpec, name: str, places: tuple[str, ...], environ: Mapping[str, str], *, under_shell: bool = False
) -> Iterator[tuple[str, str]]:
    path = spec.environ.get("PATH") or environ.get("PATH", os.defpath)
    program = find_program(os.path.expanduser(name) if spec.dialect == "lash" else name, path, places)
    program = os.path.normpath(program) if program else ""
    if not program or not os.path.exists(program):
        finding, _, fix = missing(name, path, places).rpartition("; ")
        yield finding, fix
    elif os.path.isdir(program) or not stat.S_ISREG(os.stat(program).st_mode):
        yield f"{program} is not a file", "name the program in it"
    elif not os.access(program, os.X_OK):
        yield f"{program} is not executable", f"run: chmod +x {shlex.quote(program)}"
    elif "/" in name:
        yield from _first_line(program, path, under_shell=under_shell)


def _first_line(program: str, path: str, *, under_shell: bool) -> Iterator[tuple[str, str]]:
    """What the system makes of a text: it needs a first line that names an interpreter that is there."""
    start = _beginning(program)
    line = start.partition(b"\n")[0]
    if line.startswith(b"#!") and line.endswith(b"\r"):
        yield _crlf(program)
    elif line.startswith(b"#!"):
        words = line[2:].decode(errors="replace").split()
        name = (
            next((word for word in words[1:] if not word.startswith("-")), "") if words[0:1] == ["/usr/bin/env"] else ""
        )
        wanted = name or (words[0] if words else "")
        if not find_program(wanted, path, ()) or (wanted.startswith("/") and not os.path.exists(wanted)):
            yield (
                f"{program} needs the interpreter {wanted!r}, which is not there",
                "install it, or correct the first line",
            )
    elif (
        start
        and b"\0" not in start
        and not start.startswith(b"\x7fELF")
        and (not under_shell or program.endswith(_FOREIGN_SOURCE))
    ):
        yield f"{program} has no '#!' line", "add one as its first line, such as #!/bin/sh"


def _beginning(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(512)
    except OSError:
        return b""


def _crlf(path: str) -> tuple[str, str]:
    return f"{path} has lines that end with CRLF", f"save it with LF: sed -i 's/\\r$//' {shlex.quote(path)}"


def _script(program: str, words: Sequence[str], cwd: str) -> Iterator[tuple[str, str]]:
    """The file that an interpreter is given."""
    if not words or not _INTERPRETER.fullmatch(os.path.basename(program)) or not _PLAIN_WORD.fullmatch(words[0]):
        return
    if words[0].startswith("-") or ("/" not in words[0] and "." not in words[0]):
        return
    path = os.path.normpath(os.path.join(cwd, os.path.expanduser(words[0])))
    if not os.path.exists(path):
        yield f"{path} does not exist", "create it, or correct its path"
    elif program.endswith("sh") and _beginning(path).partition(b"\n")[0].endswith(b"\r"):
        yield _crlf(path)


def _shell_line(spec: HookSpec, text: str, cwd: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    found = of_shell(text, environ, cwd).programs
    names = [expand(word, environ, cwd) for word in found]
    for position, name in enumerate(names):
        # A name alone that our own shell line does not find is a failure, which refuses; elsewhere it would be ignored.
        by_name = "/" not in name and (position > 0 or spec.dialect == "native")
        if by_name or not _PLAIN_WORD.fullmatch(name) or name.startswith("-"):
            continue
        yield from _program(spec, os.path.expanduser(name), (cwd,), environ, under_shell=True)
    try:
        first, *words = shlex.split(text)
    except ValueError:
        return
    yield from _script(first, [expand(word, environ, cwd) for word in words], cwd)


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
    *dict.fromkeys(key for keys in INPUTS.values() for names in keys.values() for key in names),
    "description", "timeout", "workdir", "run_in_background", "paths", "file_paths", "urls", "edits", "patterns",
    "output_mode", "offset", "limit", "notebook_path", "cell_id", "todos", "input", "patch",
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


# ── what has changed ─────────────────────────────────────────────────────────────────────────────────

#: A pattern that says itself where it begins and ends.
_ANCHORED = re.compile(r"(?s)(?:\.\*|\^|\\A|\(\?).*(?:\.\*|\$|\\Z|\))")


def find_changes_of_meaning(specs: Sequence[HookSpec]) -> list[Problem]:
    """A note for each hook of ours that an earlier version would have treated otherwise."""
    found = (note for spec in specs if spec.enabled and spec.dialect == "native" for note in _changes(spec))
    return list(dict.fromkeys(found))


def _changes(spec: HookSpec) -> Iterator[Problem]:
    if spec.extra.get("on_failure") == DEFAULTED:
        finding = (
            f"the hook {spec.name!r} does not set on_failure: its failure refuses the call, and used to be ignored"
        )
        yield spec.origin.problem(finding, 'leave it so, or write on_failure = "deny" or "ignore"', "note")
    for test in spec.matcher.fields:
        pattern = test.pattern
        if pattern and pattern.style == "search across lines" and not _ANCHORED.fullmatch(pattern.text):
            finding = f"{pattern.text!r} is searched for in {test.path}, and used to match all of it"
            where = replace(spec.origin, pointer=f"{spec.origin.pointer}.match.{test.path}")
            fix = r"leave it so, or write \A and \Z around it; where it covers a part only, the hook can refuse, not permit"
            yield where.problem(f"the hook {spec.name!r}: {finding}", fix, "note")
