"""Approve this project's hooks, by the exact content of their definition and of the files they run.

All files of the project count: hookline's own, and those of every dialect that has some here (lectic.yaml,
.letta/settings.json, .claude/settings.json, …), each with the name of its dialect.

Before this, nothing of a project's files has any effect. If a trusted hook changes, it counts as failed until you approve
it again. Project files that a hook runs are part of the approval; what is shown as unpinned (a program on PATH, a module)
is not. What a file contains besides hooks (settings, sources, tools, servers) is approved as a whole. The hooks of the
nearest approved project count: one inside another counts instead of it once its own hooks are approved.

  hookline trust            review what is not trusted, and decide
  hookline trust --yes      approve everything without asking
  hookline trust --list     show what is trusted
  hookline trust --revoke NAME

You see everything that the approval covers: the event and the hook's conditions, how it runs and what its failure means,
the full text of its action, and every pinned file with digest and size. Of a hook that was approved before, you see what
changed since, line by line.

--json prints {"hooks": [{"hook", "event", "native_event", "dialect", "file", "line", "state", "changed",
"diff": [{"path", "lines"}], "files", "pinned": [{"path", "sha256", "bytes"}], "unpinned", "notes", "match", "mode",
"timeout", "on_failure", "enabled", "inject", "environ", "action", "instead_of"}],
"files": [{"file", "dialect", "state", "changed", "diff", "contents", "pinned", "unpinned"}],
"missing": [{"hook", "event", "file"}]}; "action" is the full text, "match" a list of conditions, "instead_of" what your
own hook of this name does, "contents" what the file contains besides hooks. Hooks that an older version approved, whose
approval covers less than one of today, are also in "renewable": [{"hook", "event", "file"}]. With --list {"trusted": [{"hook", "event",
"file", "when", "files"}], "files": [{"file", "when"}]}.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hookline.cli.loading import (
    files_of_other_systems,
    missing_registrations,
    tell_problems,
    tell_warnings,
    unread_files,
)
from hookline.cli.options import add_json
from hookline.cli.output import plural, print_json, safe, table
from hookline.cli.trust_view import OpenFile, TrustReview, print_reviews, show
from hookline.core._dataclass import replace
from hookline.core.errors import UsageError
from hookline.core.git import ignore_local_file
from hookline.core.hook import FILE_EVENT, HookSpec, count_hooks
from hookline.core.paths import FOLDER, LOCAL, find_paths, home_directory
from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime
from hookline.engine.load import approve, trust_store
from hookline.state.protection import require_outside_agent
from hookline.state.trust import Approval, TrustStore

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--dialect", metavar="D", help="only this dialect's own files")
    parser.add_argument("--yes", action="store_true", help="approve everything without asking")
    parser.add_argument("--list", action="store_true", help="show what is trusted, in every project")
    parser.add_argument("--revoke", metavar="NAME", help="revoke the approval of every hook of this name")
    add_json(parser)


def run(args: Namespace) -> int:
    if args.list or args.revoke:
        home = home_directory(os.environ)
        paths = find_paths(os.environ, home)
        store = trust_store(paths, os.getcwd(), home, os.environ)
        if not args.revoke:
            return _list(store, as_json=args.json)
        require_outside_agent(paths.state, "revoke an approval")
        return _revoke(store, args.revoke)
    reviews = _reviews(args.dialect)
    if args.json and not args.yes:
        print_reviews(reviews)
        return 1 if any(review.is_open for review in reviews) else 0
    needed = any(review.is_open or review.faulty for review in reviews)
    reviews = [replace(review, asking=(*review.asking, *review.renewable())) for review in reviews]
    for review in reviews:
        show(review)
        tell_warnings(review.asking, review.runtime.engine.cwd)
    code = _decide(reviews, yes=args.yes)
    return code if needed else 0


def _reviews(dialect: str | None) -> list[TrustReview]:
    """Our own files and those that any other dialect has here; or those of the dialect that was named."""
    reviews: list[TrustReview] = []
    seen: set[str] = set()
    for name in (dialect,) if dialect else (None, *dict.fromkeys(name for name, _ in files_of_other_systems())):
        review = _review(Sources(dialect=name, inspect=True), seen)
        if inner := [source.path for source in review.runtime.loaded.sources if source.inert]:
            review = _inner_review(review, inner, seen)
        seen |= {
            spec.origin.file for spec in (*review.runtime.loaded.specs, *(spec for spec, _ in review.runtime.contents))
        }
        reviews.append(review)
    return reviews


def _review(sources: Sources, seen: Container[str]) -> TrustReview:
    runtime = load_runtime(sources, READ_ONLY)
    runtime.engine.close()
    tell_problems(replace(runtime, missing=()))  # a hook that cannot be loaded is not in the list
    # Which hooks a file with errors has is unknown: they are not gone, and refuse until it is corrected.
    faulty = _broken_files(runtime) | {one.file for one in runtime.missing if one.file in runtime.loaded.faulty}
    runtime = replace(runtime, missing=tuple(one for one in runtime.missing if one.file not in faulty))
    new = [spec for spec in runtime.loaded.specs if spec.origin.file not in seen]
    asking = [spec for spec in new if _state(runtime, spec) in {"unknown", "changed"}]
    files = [one for one in _open_files(runtime, asking) if one[0].origin.file not in seen]
    return TrustReview(
        runtime=runtime, dialect=sources.dialect or "hookline", asking=tuple(asking), files=tuple(files),
        faulty=frozenset(faulty),
    )  # fmt: skip


def _inner_review(outer: TrustReview, inner: Sequence[str], seen: Container[str]) -> TrustReview:
    """Of a project inside an approved one, which takes the place of that one here; not both in one question."""
    around = outer.runtime.engine.cwd
    if outer.is_open or outer.faulty:
        print(f"hookline: {safe(inner[0])} comes after {safe(around)}, which is around it", file=sys.stderr)
        return outer
    told = f"the hooks of {around}, around this project, count here; if you approve this project's own, those count instead"
    print(f"hookline: {safe(told)}", file=sys.stderr)
    dialect = outer.dialect if outer.dialect != "hookline" else None
    return _review(Sources(dialect=dialect, inspect=True, inner=True), seen)


def _broken_files(runtime: Runtime) -> set[str]:
    """Files of which nothing can be read, or no hook."""
    useful = {spec.origin.file for spec in runtime.loaded.specs}
    errors = (one for one in runtime.loaded.problems if one.severity == "error")
    return {one.file for one in errors if one.pointer == "$" or one.file not in useful}


def _open_files(runtime: Runtime, asking: list[HookSpec]) -> list[OpenFile]:
    """Files of which more than hooks is to be approved, or that have none at all."""
    covered = {spec.origin.file for spec in asking}
    known = runtime.trust.knows if runtime.trust is not None else covered.__contains__
    return [
        (spec, verdict)
        for spec, verdict in runtime.contents
        if verdict.state != "trusted"
        and (spec.extra or not (spec.origin.file in covered or known(spec.origin.file)))
        and (spec.extra or spec.origin.file not in runtime.loaded.faulty)  # nothing of it would be in force
    ]


def _state(runtime: Runtime, spec: HookSpec) -> str:
    verdict = runtime.verdicts.get(spec.id)
    return verdict.state if verdict else "own"


def _decide(reviews: Sequence[TrustReview], *, yes: bool) -> int:
    hooks = sum(count_hooks(review.asking) for review in reviews)
    files = sum(len(review.files) for review in reviews)
    gone = sum(len(review.runtime.missing) for review in reviews)
    if not (hooks or files or gone):
        if any(review.faulty for review in reviews):
            print("Nothing changed. Correct the file first; all problems: hookline check", file=sys.stderr)
            return 1
        found = any(review.runtime.loaded.specs for review in reviews)
        print("Nothing to approve: every hook here is trusted." if found else "No hooks here.")
        _report_unregistered(reviews)
        return 0
    require_outside_agent(reviews[0].runtime.paths.state, "approve hooks")
    sys.stdout.flush()
    if not yes and not _confirm(_question(hooks + files, gone)):
        print("Nothing changed. To approve without being asked: hookline trust --yes", file=sys.stderr)
        return 1
    for review in reviews:
        if review.is_open:
            approve(review.runtime, review.asking)
            review.store.forget((*review.runtime.missing, *_renamed(review.runtime, review.asking)))
    done = [f"Approved {plural(hooks, 'hook')}."] if hooks else []
    done += [f"Approved {plural(files, 'file')} besides hooks."] if files else []
    done += [f"Removed {plural(gone, 'stale approval')}."] if gone else []
    print(" ".join(done))
    for review in reviews:
        for file in sorted(review.runtime.loaded.faulty):
            stays = (
                "; what was approved of it stays"
                if file in review.faulty
                else ", and is approved as far as it can be read"
            )
            print(f"hookline: {safe(file)} has errors{stays}. Correct it: hookline check", file=sys.stderr)
    _ignore_local_files({os.path.dirname(spec.origin.file) for review in reviews for spec in review.asking})
    if any(review.dialect != "hookline" and review.asking for review in reviews):
        for one in unread_files(reviews[0].runtime):
            print(f"hookline: {safe(str(one))}", file=sys.stderr)
    _report_unregistered(reviews)
    return 0


def _ignore_local_files(folders: Iterable[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            if ignore_local_file(folder):
                mine = f"{FOLDER}/{LOCAL}"
                print(f"Wrote {FOLDER}/.gitignore: what one person sets in {mine} is not committed.")


def _report_unregistered(reviews: Sequence[TrustReview]) -> None:
    for review in reviews:
        own = review.dialect == "hookline"  # agents do not call hookline for the hooks of another system
        for one in missing_registrations(review.runtime, review.asking) if own else ():
            print(f"hookline: {safe(str(one))}", file=sys.stderr)


def _renamed(runtime: Runtime, asking: Sequence[HookSpec]) -> Iterator[Approval]:
    """Approvals of the same hooks under their old names."""
    for spec in asking:
        before = runtime.verdicts[spec.id].approval
        if before is not None and before.name != spec.name:
            yield before


def _question(asking: int, gone: int) -> str:
    if asking and gone:
        return "Approve all of this?"
    if gone:
        return (
            "Remove the approval of this missing hook?"
            if gone == 1
            else f"Remove the approvals of these {gone} missing hooks?"
        )
    return "Approve this?" if asking == 1 else f"Approve all {asking}?"


def _confirm(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def _revoke(store: TrustStore, name: str) -> int:
    number = store.revoke(name)
    if not number:
        raise UsageError(f"there is no trusted hook {name!r}; see: hookline trust --list")
    print(f"Revoked {plural(number, 'approval')} of {name!r}.")
    return 0


def _list(store: TrustStore, *, as_json: bool) -> int:
    every = store.list()
    approvals = [one for one in every if one.event != FILE_EVENT]
    files = [one for one in every if one.event == FILE_EVENT]
    if store.note:
        print(f"hookline: {store.note}", file=sys.stderr)
    if as_json:
        shapes = [{"file": one.file, "when": _when(one.when)} for one in files]
        print_json({"trusted": [_approval(one) for one in approvals]} | ({"files": shapes} if shapes else {}))
    elif not every:
        print("Nothing is trusted yet. In a project, run: hookline trust")
    else:
        rows = [
            (safe(one.name), safe(one.event), _when(one.when), str(len(one.cover.files)), safe(one.file))
            for one in (*approvals, *files)
        ]
        print(table(("HOOK", "EVENT", "WHEN", "FILES", "WRITTEN IN"), rows))
    return 0


def _approval(one: Approval) -> dict[str, Any]:
    files = [path for path, _ in one.cover.files]
    return {"hook": one.name, "event": one.event, "file": one.file, "when": _when(one.when), "files": files}


def _when(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
