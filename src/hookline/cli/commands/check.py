"""Report every problem in every configuration file, each with its place and what to write instead.

  hookline check                       every file that is read here
  hookline check FILE...               these files only; the dialect is detected from their names, or set by --dialect

Warnings are: a program or module that is missing, not executable, without an interpreter or saved with CRLF; a match on
a field that the hook's events do not have, or on a name that no tool has, since such a hook would never run; a timeout
that is meant in milliseconds; on_failure = "deny" for a hook that nobody waits for; a hookline.toml beside .hookline,
which is not read; and an exception of the guard that has expired. Notes name hooks that mean something else than in an
earlier version (CHANGELOG.md), and files of other systems whose hooks run for those only. Guards that let an action pass
if they fail are named. The exit code is 78 if there is an error, otherwise 0.

A project's file that is not approved is checked too, and shown as not approved.

--json prints {"ok": bool, "files": [{"path", "dialect", "layer", "approved"}], "problems": [{"file", "line",
"pointer", "severity", "finding", "fix"}], "fail_open": [names of hooks]}.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from time import strftime

from hookline.cli.loading import build_runtime, missing_registrations, unread_files
from hookline.cli.options import add_json, add_sources
from hookline.cli.output import paint, paint_status, plural, print_json, safe
from hookline.core._dataclass import replace
from hookline.core.hook import Function, count_hooks, is_guard
from hookline.core.paths import FILE, FOLDER, LOCAL, home_directory, project_root
from hookline.core.problem import Problem
from hookline.core.typed import TYPE_CHECKING
from hookline.dialects import dialect_named
from hookline.engine.build import READ_ONLY, Runtime
from hookline.engine.lint import lint
from hookline.engine.lint_matchers import find_changes_of_meaning
from hookline.gateway.notices import approval_lines, missing_hooks
from hookline.gateway.required_events import active_hooks

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.core.hook import HookSpec
    from hookline.core.loaded import Loaded, SourceFile
    from hookline.gateway.required_events import Unregistered


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="*", help="check this file, as with --config")
    add_sources(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    own = not (args.file or args.config or args.dialect)  # the hooks that agents' entries serve
    args.config = [*args.config, *args.file]
    runtime = build_runtime(args, READ_ONLY, inspect=True)
    runtime.engine.close()
    loaded = _with_missing(runtime, registered=own)
    unapproved = {one.file for one in runtime.unapproved}
    found = list(dict.fromkeys(one for one in loaded.sources if one.found))
    problems = list(dict.fromkeys(_problems(loaded)))
    errors = sum(problem.severity == "error" for problem in problems)
    guards = [spec for spec in active_hooks(runtime) if is_guard(spec)]
    fail_open = list(dict.fromkeys(spec.name for spec in guards if spec.on_failure == "ignore"))
    if args.json:
        from hookline.core.serialize import problem_shape

        files = [
            {"path": one.path, "dialect": one.dialect, "layer": one.layer, "approved": one.path not in unapproved}
            for one in found
        ]
        shapes = [problem_shape(one) for one in problems]
        print_json({"ok": not errors, "files": files, "problems": shapes, "fail_open": fail_open})
    else:
        _print_report(problems, approval_lines(runtime), fail_open)
        print(_summary(len(found), count_hooks(loaded.specs), problems))
    return 78 if errors else 0


def _with_missing(runtime: Runtime, *, registered: bool) -> Loaded:
    more = [*missing_hooks(runtime), *_expired_exceptions(runtime.loaded.specs)]
    if registered:
        more += map(_unregistered_problem, missing_registrations(runtime))
        more += unread_files(runtime)
        more += _misplaced_problems({os.path.realpath(one.path) for one in runtime.loaded.sources})
    more += (problem for one in runtime.loaded.sources if one.found for problem in _front_matter_problems(one))
    return replace(runtime.loaded, problems=(*runtime.loaded.problems, *more))


def _expired_exceptions(specs: Sequence[HookSpec]) -> Iterator[Problem]:
    """Exceptions of a [guard] whose last day is over; the guard is one hook for each of its events."""
    today = strftime("%Y-%m-%d")  # an exception ends on the person's own day
    guards = {
        spec.origin: spec.action.given for spec in specs if isinstance(spec.action, Function) and spec.action.given
    }
    for origin, given in guards.items():
        for row in json.loads(given).get("exception", ()):
            if str(row["until"])[:10] < today:
                what = row.get("command") or row.get("path") or row["effect"]
                finding = f"the exception for {what!r} ended on {row['until']}, and has no effect any more"
                yield origin.problem(finding, "remove it, or set a later day: until = …", "warning")


def _unregistered_problem(one: Unregistered) -> Problem:
    return Problem(file=one.path, severity="warning", pointer="$.hooks", finding=one.finding, fix=one.fix)


def _misplaced_problems(read: set[str]) -> Iterator[Problem]:
    """Files that look like a project's configuration, and are not read."""
    folder = os.path.join(project_root(os.getcwd(), home_directory(os.environ)), FOLDER)
    for name, right in ((f"../{FILE}", FILE), ("hookline.local.toml", LOCAL)):
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(path) and os.path.realpath(path) not in read:
            fix = f"move it to {os.path.join(folder, right)}"
            yield Problem(file=path, severity="warning", pointer="$", finding="this file is not read here", fix=fix)


def _front_matter_problems(source: SourceFile) -> Iterator[Problem]:
    """Hooks in other files of the same agent, which run only while it uses that file, and never here."""
    folder, patterns = os.path.dirname(source.path), getattr(dialect_named(source.dialect), "elsewhere", ())
    if not patterns:
        return
    import re
    from glob import glob

    from hookline.config.files import read_text

    for pattern in patterns:
        for name in sorted(glob(pattern, root_dir=folder)):
            path = os.path.join(folder, name)
            head = re.match(r"---\n(.*?)\n---", str(read_text(path) or ""), re.DOTALL)
            if head is not None and re.search(r"^hooks\s*:", head[1], re.MULTILINE):
                finding = "hookline does not run the hooks in this front matter, so no other agent has them"
                fix = f"write those that count everywhere into {source.path} or hookline.toml"
                yield Problem(file=path, severity="warning", pointer="$.hooks", finding=finding, fix=fix)


def _problems(loaded: Loaded) -> list[Problem]:
    found = lint(loaded.specs, os.getcwd(), os.environ)
    return [*loaded.problems, *found, *find_changes_of_meaning(loaded.specs)]


def _print_report(problems: Iterable[Problem], approvals: Iterable[str], fail_open: Sequence[str]) -> None:
    for problem in problems:
        _print(problem)
    for line in dict.fromkeys(approvals):
        print(safe(line))
    if fail_open:
        names = safe(", ".join(fail_open))
        print(f'If they fail, what they guard goes ahead (on_failure = "deny" refuses it): {names}')


def _summary(files: int, hooks: int, problems: Sequence[Problem]) -> str:
    found = Counter(problem.severity for problem in problems)
    numbers = [(files, "file"), (hooks, "hook"), (found["error"], "error"), (found["warning"], "warning")]
    notes = len(problems) - found["error"] - found["warning"]
    return ", ".join(plural(number, word) for number, word in [*numbers, *([(notes, "note")] if notes else [])])


def _print(problem: Problem) -> None:
    place = f"{problem.file}:{problem.line}" if problem.line else problem.file
    within = "" if problem.pointer == "$" else f"{safe(problem.pointer)}: "
    print(f"{paint(place, 'bold')}: {paint_status(problem.severity)}: {within}{safe(problem.finding)}")
    print(f"    {paint('fix:', 'green')} {safe(problem.fix)}")
