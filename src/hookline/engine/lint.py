"""Mistakes that no file shows: programs that cannot do their work (missing, not executable, without an interpreter, saved
with CRLF).

Of a line of shell only what is plain is looked at: its first program, paths in command position, and the script that an
interpreter is given.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from hookline.core.hook import Command, Function, HookSpec, Plugin
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.problem import Problem
from hookline.core.typed import TypeAlias
from hookline.engine.lint_matchers import gate_problems, match_problems, mode_problems
from hookline.runners.programs import find_program, program_places, why_missing

#: Programs that read the file that follows them.
_INTERPRETER = lazy_pattern(r"(?:ba|da|z|k)?sh|python[\d.]*|node|deno|bun|ruby|perl|php")
#: Texts that a shell would run line by line if they have no first line that says otherwise.
_FOREIGN_SOURCE = (".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".php")
_PLAIN_WORD = lazy_pattern(r"[\w./~+@%-]+")
#: What `run` passes on as it is: operators, and paths that begin at home or with a variable.
_SHELL_OPERATOR = lazy_pattern(r"&&?|\|\|?|;|\d?(?:>>?|<)(?:&\d)?")
_EXPANDED = lazy_pattern(r"(?:~|\$\{?[A-Z_]+\}?)/")


def lint(specs: Sequence[HookSpec], cwd: str, environ: Mapping[str, str]) -> list[Problem]:
    """A warning for each hook that looks right, and never runs, cannot run or cannot refuse."""
    found = (match_problems(specs), gate_problems(specs), mode_problems(specs))
    return [*program_problems(specs, cwd, environ), *(problem for problems in found for problem in problems)]


def program_problems(specs: Sequence[HookSpec], cwd: str, environ: Mapping[str, str]) -> list[Problem]:
    """A warning for each program that cannot be started."""
    examine = cache(_examine)  # hooks that run the same program are common, and a search of PATH takes its time
    found = (_problem(spec, why) for spec in specs if spec.enabled for why in _unstartable(spec, cwd, environ, examine))
    # One hook of several events is several specs, and one mistake.
    return list({(one.file, one.line, one.finding): one for one in found}.values())


def _problem(spec: HookSpec, why: tuple[str, str]) -> Problem:
    return spec.origin.problem(f"the hook {spec.name!r} cannot run: {why[0]}", why[1], "warning")


def _unstartable(spec: HookSpec, cwd: str, environ: Mapping[str, str], examine: _Examine) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do about it."""
    match spec.action:
        case Function(call=None) as action:
            yield from _unimportable(action)
        case Plugin(path=path):
            yield from _program(spec, path, (cwd,), environ, examine)
        case Command(form="argv", argv=(program, *words)):
            yield from _program(spec, program, program_places(spec, program, cwd), environ, examine)
            yield from _only_for_a_shell(words) if spec.dialect == "native" else ()
            yield from _script(program, words, cwd)
        case Command(form="shell", text=text) if not re.search(r"\(\)|\bfunction\b|\balias\b|<<", text):
            yield from _shell_line(spec, text, cwd, environ, examine)
        case Command(form="script", text=text) if text.partition("\n")[0].endswith("\r"):
            yield "its script has lines that end with CRLF", "save the file with LF"
        case _:
            return


def _program(
    spec: HookSpec, name: str, places: tuple[str, ...], environ: Mapping[str, str], examine: _Examine,
    *, under_shell: bool = False,
) -> Iterable[tuple[str, str]]:  # fmt: skip
    path = spec.environ.get("PATH") or environ.get("PATH", os.defpath)
    return examine(name, os.path.expanduser(name) if spec.dialect == "lash" else name, path, places, under_shell)


#: Gets a name as it is written and as it is looked for, PATH, places, and whether a shell starts it.
_Examine: TypeAlias = "Callable[[str, str, str, tuple[str, ...], bool], tuple[tuple[str, str], ...]]"


def _examine(
    name: str, sought: str, path: str, places: tuple[str, ...], under_shell: bool
) -> tuple[tuple[str, str], ...]:
    program = find_program(sought, path, places)
    program = os.path.normpath(program) if program else ""
    if not program or not os.path.exists(program):
        finding, fix = why_missing(name, path, places)
        full = 'write its full path, or shell = "…", where it is expanded'
        return ((finding, full if _EXPANDED.match(name) else fix),)
    if os.path.isdir(program) or not stat.S_ISREG(os.stat(program).st_mode):
        return ((f"{program} is not a file", "name the program in it"),)
    if not os.access(program, os.X_OK):
        return ((f"{program} is not executable", f"run: chmod +x {_quote(program)}"),)
    return tuple(_first_line(program, path, under_shell=under_shell)) if "/" in name else ()


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
        if start.startswith(b"\xef\xbb\xbf"):
            yield f"{program} begins with a byte order mark, not with '#!'", "save it as UTF-8 without one"
        else:
            yield f"{program} has no '#!' line", "add one as its first line, such as #!/bin/sh"


def _quote(path: str) -> str:
    from shlex import quote  # only a finding needs it

    return quote(path)


def _beginning(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(512)
    except OSError:
        return b""


def _crlf(path: str) -> tuple[str, str]:
    return f"{path} has lines that end with CRLF", f"save it with LF: sed -i 's/\\r$//' {_quote(path)}"


def _only_for_a_shell(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The first argument that a shell would not hand to the program as it is written."""
    for word in words:
        if _SHELL_OPERATOR.fullmatch(word) or _EXPANDED.match(word):
            yield (
                f"{word!r} means something to a shell only, and run starts the program without one",
                'write shell = "…"',
            )
            return


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


def _shell_line(
    spec: HookSpec, text: str, cwd: str, environ: Mapping[str, str], examine: _Examine
) -> Iterator[tuple[str, str]]:
    from shlex import split  # most hooks are no lines of shell

    from hookline.state.trust.words import expand, of_shell

    found = of_shell(text, environ, cwd).programs
    names = [expand(word, environ, cwd) for word in found]
    for position, name in enumerate(names):
        # A name alone that our own shell line does not find is a failure, which refuses; elsewhere it would be ignored.
        by_name = "/" not in name and (position > 0 or spec.dialect == "native")
        if by_name or not _PLAIN_WORD.fullmatch(name) or name.startswith("-"):
            continue
        yield from _program(spec, os.path.expanduser(name), (cwd,), environ, examine, under_shell=True)
    try:
        first, *words = split(text)
    except ValueError:
        return
    yield from _script(first, [expand(word, environ, cwd) for word in words], cwd)


def _unimportable(action: Function) -> Iterator[tuple[str, str]]:
    """Only the module's file is looked up: importing it would run its code."""
    from hookline.runners.function import module_exists  # few hooks are functions

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
