"""Report every problem of every configuration file, each with its place and what to write instead.

A program or a module that a hook names and that is missing is a warning, and so is a match on a field that the
hook's events do not have: such a hook would never run.
Exit code 78 when there is an error, 0 when there are only warnings or nothing at all.

--json prints {"ok": bool, "files": [{"path", "dialect", "layer"}], "problems": [{"file", "line",
"pointer", "severity", "finding", "fix"}]}.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.cli.gather import assembly_of
from hookline.cli.output import meaning, paint, print_json, safe
from hookline.cli.parser import add_json, add_sources
from hookline.programs import program_problems
from hookline.shapes import problem_shape
from hookline.unmatched import match_problems

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    add_sources(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    assembly = assembly_of(args, record=False)
    loaded = assembly.loaded
    assembly.engine.close()
    found = [one for one in loaded.sources if one.found]
    programs = program_problems(loaded.specs, os.getcwd(), os.environ)
    problems = [*loaded.problems, *programs, *match_problems(loaded.specs)]
    errors = sum(problem.severity == "error" for problem in problems)
    if args.json:
        files = [{"path": one.path, "dialect": one.dialect, "layer": one.layer} for one in found]
        print_json({"ok": not errors, "files": files, "problems": [problem_shape(one) for one in problems]})
    else:
        for problem in problems:
            place = f"{problem.file}:{problem.line}" if problem.line else problem.file
            print(f"{paint(place, 'bold')}: {meaning(problem.severity)}: {problem.pointer}: {safe(problem.finding)}")
            print(f"    {paint('fix:', 'green')} {safe(problem.fix)}")
        warnings = len(problems) - errors
        counted = ((len(found), "file"), (len(loaded.specs), "hook"), (errors, "error"), (warnings, "warning"))
        print(", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counted))
    return 78 if errors else 0
