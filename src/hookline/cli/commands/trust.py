"""Approve this project's hooks, by the exact content of their definition and of the files they run.

All files of the project count: hookline's own, and those of every dialect that has some here (lectic.yaml,
.letta/settings.json, .claude/settings.json, …), each with the name of its dialect.

Before this, nothing of a project's files has any effect. If a trusted hook changes, it counts as failed until you approve
it again. Project files that a hook runs are part of the approval; what is shown as unpinned (a program on PATH, a module)
is not. What a file contains besides hooks (settings, sources, tools, servers) is approved as a whole.

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

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hookline.cli.loading import missing_registrations, tell_problems
from hookline.cli.options import add_json
from hookline.cli.output import paint, paint_trust, plural, print_json, safe, table
from hookline.core._dataclass import dataclass, replace
from hookline.core.describe import action_text, action_whole, conditions
from hookline.core.errors import UsageError
from hookline.core.event import event_kind
from hookline.core.git import ignore_local_file
from hookline.core.hook import FILE_EVENT, HookSpec, Http
from hookline.core.paths import FOLDER, LOCAL, find_paths
from hookline.dialects import DIALECTS, dialect_named
from hookline.dialects.base import FOREIGN
from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime
from hookline.engine.load import approve, trust_store
from hookline.state.protection import require_outside_agent
from hookline.state.record.redact import Redactor
from hookline.state.trust import Approval, Pins, TrustStore, TrustVerdict

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.state.trust.copies import TrustChange


#: A header whose value is a variable, perhaps after one word: it contains no secret.
_VARIABLE = re.compile(r"[\w-]+: (?:\w{1,10} )?\$\{?\w+\}?")


def _render_hooks(
    specs: Sequence[HookSpec],
    verdicts: Mapping[str, TrustVerdict],
    pins: Callable[[HookSpec], Pins],
    store: TrustStore | None,
) -> Iterator[str]:
    """Each hook once, with all events on which it does the same: nobody reads repetitions."""
    alike: dict[Any, list[tuple[HookSpec, Pins]]] = {}
    for spec in specs:
        verdict, covered = verdicts[spec.id], pins(spec)
        rest = [fact for fact in _facts(spec) if fact[0] != "listens to"]
        key = (spec.name, verdict.state, verdict.changed, covered.files, covered.unpinned, *rest)
        alike.setdefault(key, []).append((spec, covered))
    for group in alike.values():
        first, covered = group[0]
        shown = _hook([spec for spec, _ in group], verdicts[first.id], covered)
        changes = store.changes(first, verdicts[first.id]) if store else ()
        yield "\n".join([shown, *_change_lines(changes)])


def _change_lines(changes: Iterable[TrustChange]) -> Iterator[str]:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for one in changes:
        yield f"    {'changed':<11}{safe(one.path)}"
        for line in _diff_lines(one):
            text = f"      {safe(line)}"
            yield paint(text, colours[line[0]]) if line[:1] in colours else text


def _diff_lines(change: TrustChange) -> list[str]:
    """What a hook runs is shown as it is (``_full_action``); settings may hold secrets."""
    clean, code = Redactor(os.environ).text, change.path != "definition"
    return [line if code or line[1:].startswith(("action.", "    ")) else clean(line) for line in change.lines]


def _hook(specs: Sequence[HookSpec], verdict: TrustVerdict, pins: Pins) -> str:
    """All lines of one hook, with the full text of its action."""
    changed = f" ({', '.join(map(safe, verdict.changed))})" if verdict.changed else ""
    if not changed and _is_outdated(verdict):
        changed = " (by an older version, which covered only the files that the hook names; approve it again)"
    events = safe(", ".join(spec.event for spec in specs))
    lines = [f"{paint_trust(verdict.state)}{changed}  {paint(safe(specs[0].name), 'bold')} on {events}"]
    where, *rest = _facts(specs[0])
    heard = [fact for spec in specs for fact in _facts(spec) if fact[0] == "listens to"]
    for label, value in (where, *heard, *(fact for fact in rest if fact[0] != "listens to")):
        first, *more = value.split("\n")
        lines.append(f"    {label:<11}{safe(first)}")
        lines += [f"    {'':<11}{safe(line)}".rstrip() for line in more]
    return "\n".join([*lines, *_pin_lines(pins)])


def _pin_lines(pins: Pins) -> Iterator[str]:
    for path, digest, size in _files(pins):
        yield f"    {'pinned':<11}{safe(path)}  {paint(f'{digest[:12]}, {size} bytes', 'grey')}"
    yield from (f"    {'unpinned':<11}{safe(name)}" for name in pins.unpinned)
    for note in pins.notes:
        yield f'    {"not whole":<11}{safe(note)}; name the rest of it with: covers = ["FOLDER", …]'


def _render_file(contents: HookSpec, verdict: TrustVerdict, pins: Pins, changes: Iterable[TrustChange]) -> str:
    """What a file contains besides hooks, value by value."""
    changed = f" ({', '.join(map(safe, verdict.changed))})" if verdict.changed else ""
    values = list(_values(_contents(contents))) or ["nothing besides its hooks"]
    lines = [f"{paint_trust(verdict.state)}{changed}  {paint(safe(contents.name), 'bold')}, besides its hooks"]
    lines.append(f"    {'written at':<11}{safe(contents.origin.file)}")
    for label, value in zip(("contains", *[""] * len(values)), values, strict=False):
        lines.append(f"    {label:<11}{safe(Redactor(os.environ).text(value))}")
    return "\n".join([*lines, *_pin_lines(pins), *_change_lines(changes)])


def _contents(spec: HookSpec) -> Any:
    return json.loads(spec.extra.get("besides", "{}"))


def _values(tree: Any, pointer: str = "") -> Iterator[str]:
    """``record.redact[0] = "…"``, one line each."""
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from _values(value, f"{pointer}.{key}" if pointer else str(key))
    elif isinstance(tree, list) and tree:
        for index, value in enumerate(tree):
            yield from _values(value, f"{pointer}[{index}]")
    elif pointer:
        yield f"{pointer} = {json.dumps(tree, ensure_ascii=False)}"


def _facts(spec: HookSpec) -> Iterator[tuple[str, str]]:
    yield "written at", f"{spec.origin.file}:{spec.origin.line}"
    if spec.below and not spec.enabled:
        yield "does", f"nothing: it disables your own {_describe_own(spec.below)}"
        return
    native = f" ({spec.dialect}: {spec.native_event})" if spec.native_event not in {"", spec.event} else ""
    yield "listens to", f"{spec.event}{native}{_condition_text(conditions(spec))}"
    yield "runs", _how_it_runs(spec)
    if spec.below:
        yield "instead of", f"your own {_describe_own(spec.below)}"
    if not spec.enabled:
        yield "is off", "enabled = false: it does not run"
    yield "does", _full_action(spec)
    if spec.output.inject != "none":
        yield "its output", f"becomes {spec.output.inject}"
    for name, value in spec.environ.items():
        yield "sets", Redactor(os.environ).text(f"{name}={value}")


def _full_action(spec: HookSpec) -> str:
    """Hide tokens in a URL, but not which variable is sent to it. Never redact a command: TOKEN=$(…) looks like a
    secret to a redactor and is code to a shell."""
    text = action_whole(spec)
    if not isinstance(spec.action, Http):
        return text
    clean = Redactor(os.environ).text
    return "\n".join(line if _VARIABLE.fullmatch(line) else clean(line) for line in text.split("\n"))


def _describe_own(below: HookSpec) -> str:
    return f"{below.name} ({below.origin.file}:{below.origin.line}): {action_text(below)}"


def _condition_text(tests: tuple[str, ...]) -> str:
    return f", if {'; '.join(tests)}" if tests else ", always"


def _how_it_runs(spec: HookSpec) -> str:
    limit = "for as long as it takes" if spec.timeout is None else f"for at most {spec.timeout:g} s"
    failing = {
        "ignore": "if it fails, nothing happens",
        "deny": f"if it fails, {event_kind(spec.event).denies or 'nothing'} is refused",
        "abort": "if it fails, the run ends",
    }
    return f"{spec.mode}, {limit}; {failing[spec.on_failure]} (on_failure = {spec.on_failure})"


def _files(pins: Pins) -> Iterator[tuple[str, str, int]]:
    """Path, digest and size of every pinned file."""
    for (path, digest), signature in zip(pins.files, pins.cover.signatures, strict=True):
        yield path, digest, signature[1]


def _shape(spec: HookSpec, verdict: TrustVerdict, pins: Pins) -> dict[str, Any]:
    """The same for programs."""
    clean = Redactor(os.environ).text
    return {
        "hook": spec.name,
        "event": spec.event,
        "native_event": spec.native_event,
        "dialect": spec.dialect,
        "file": spec.origin.file,
        "line": spec.origin.line,
        "state": verdict.state,
        "changed": list(verdict.changed),
        "files": [path for path, _ in pins.files],
        "pinned": [{"path": path, "sha256": digest, "bytes": size} for path, digest, size in _files(pins)],
        "unpinned": list(pins.unpinned),
        "notes": list(pins.notes),
        "match": list(conditions(spec)),
        "mode": spec.mode,
        "timeout": spec.timeout,
        "on_failure": spec.on_failure,
        "enabled": spec.enabled,
        "inject": spec.output.inject,
        "environ": {name: clean(value) for name, value in spec.environ.items()},
        "action": _full_action(spec),
        "instead_of": action_text(spec.below) if spec.below else None,
    }


def _diffs(changes: Iterable[TrustChange]) -> list[dict[str, Any]]:
    return [{"path": one.path, "lines": _diff_lines(one)} for one in changes]


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--dialect", metavar="D", help="only this dialect's own files")
    parser.add_argument("--yes", action="store_true", help="approve everything without asking")
    parser.add_argument("--list", action="store_true", help="show what is trusted, in every project")
    parser.add_argument("--revoke", metavar="NAME", help="revoke the approval of every hook of this name")
    add_json(parser)


def run(args: Namespace) -> int:
    if args.list or args.revoke:
        home = os.environ.get("HOME") or os.path.expanduser("~")
        paths = find_paths(os.environ, home)
        store = trust_store(paths, os.getcwd(), home, os.environ)
        if not args.revoke:
            return _list(store, as_json=args.json)
        require_outside_agent(paths.state, "revoke an approval")
        return _revoke(store, args.revoke)
    looks = _looks(args.dialect)
    if args.json and not args.yes:
        _print_json(looks)
        return 1 if any(look.is_open for look in looks) else 0
    needed = any(look.is_open or look.faulty for look in looks)
    looks = [replace(look, asking=(*look.asking, *_renewable(look.runtime))) for look in looks]
    for look in looks:
        _show(look)
    code = _decide(looks, yes=args.yes)
    return code if needed else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """The files of one dialect here, and what of them is to be approved."""

    runtime: Runtime
    dialect: str
    asking: tuple[HookSpec, ...]
    #: Those of which more than hooks is to be approved, or that have no hooks at all.
    files: tuple[_File, ...]
    #: Files with errors. A hook that is missing there may be one that cannot be read: its approval stays.
    faulty: frozenset[str] = frozenset()

    @property
    def is_open(self) -> bool:
        return bool(self.asking or self.files or self.runtime.missing)


def _looks(dialect: str | None) -> list[_Look]:
    """Our own files and those that any other dialect has here; or those of the dialect that was named."""
    looks: list[_Look] = []
    seen: set[str] = set()
    for name in (dialect,) if dialect else (None, *_dialects_here()):
        runtime = load_runtime(Sources(dialect=name, inspect=True), READ_ONLY)
        runtime.engine.close()
        tell_problems(replace(runtime, missing=()))  # a hook that cannot be loaded is not in the list
        # Which hooks a file with errors has is unknown: they are not gone, and refuse until it is corrected.
        wrong = {one.file for one in runtime.loaded.problems if one.severity == "error"}
        faulty = _broken_files(runtime) | {one.file for one in runtime.missing if one.file in wrong}
        runtime = replace(runtime, missing=tuple(one for one in runtime.missing if one.file not in faulty))
        new = [spec for spec in runtime.loaded.specs if spec.origin.file not in seen]
        asking = [spec for spec in new if _state(runtime, spec) in {"unknown", "changed"}]
        files = [one for one in _open_files(runtime, asking) if one[0].origin.file not in seen]
        seen |= {spec.origin.file for spec in (*new, *(spec for spec, _ in runtime.contents))}
        look = _Look(runtime=runtime, dialect=name or "hookline", asking=tuple(asking), files=tuple(files))
        looks.append(replace(look, faulty=frozenset(faulty)))
    return looks


def _broken_files(runtime: Runtime) -> set[str]:
    """Files of which nothing can be read."""
    return {one.file for one in runtime.loaded.problems if one.severity == "error" and one.pointer == "$"}


def _dialects_here() -> Iterator[str]:
    cwd, home = os.getcwd(), os.environ.get("HOME") or os.path.expanduser("~")
    for name in DIALECTS:
        places = dialect_named(name).places(cwd, home, os.environ) if name != "native" else ()
        if any(place.layer in FOREIGN and os.path.isfile(place.path) for place in places):
            yield name


def _renewable(runtime: Runtime) -> list[HookSpec]:
    """Hooks whose approval counts, but covers less than one of today would."""
    verdicts = ((spec, runtime.verdicts.get(spec.id)) for spec in runtime.loaded.specs)
    return [spec for spec, one in verdicts if one and one.state == "trusted" and _is_outdated(one)]


def _is_outdated(verdict: TrustVerdict) -> bool:
    return verdict.approval is not None and not verdict.approval.covers_folders


_File = tuple[HookSpec, TrustVerdict]


def _open_files(runtime: Runtime, asking: list[HookSpec]) -> list[_File]:
    """Files of which more than hooks is to be approved, or that have none at all."""
    covered = {spec.origin.file for spec in asking}
    known = runtime.trust.knows if runtime.trust is not None else covered.__contains__
    return [
        (spec, verdict)
        for spec, verdict in runtime.contents
        if verdict.state != "trusted" and (spec.extra or not (spec.origin.file in covered or known(spec.origin.file)))
    ]


def _state(runtime: Runtime, spec: HookSpec) -> str:
    verdict = runtime.verdicts.get(spec.id)
    return verdict.state if verdict else "own"


def _show(look: _Look) -> None:
    pins, store = _pins(look.runtime), look.runtime.trust
    files = dict.fromkeys(spec.origin.file for spec in (*look.asking, *(spec for spec, _ in look.files)))
    for file in files if look.dialect != "hookline" else ():
        print(f"{look.dialect}: {safe(file)}")
    for text in _render_hooks(look.asking, look.runtime.verdicts, pins, store):
        print(text)
    for contents, verdict in look.files:
        print(_render_file(contents, verdict, pins(contents), store.changes(contents, verdict) if store else ()))
    for gone in look.runtime.missing:
        print(
            f"{paint('gone', 'red')}  {paint(safe(gone.name), 'bold')} on {safe(gone.event)} was trusted and is missing from {safe(gone.file)}"
        )


def _decide(looks: Sequence[_Look], *, yes: bool) -> int:
    hooks = sum(len(look.asking) for look in looks)
    files = sum(len(look.files) for look in looks)
    gone = sum(len(look.runtime.missing) for look in looks)
    if not (hooks or files or gone):
        if any(look.faulty for look in looks):
            print("Nothing changed. Correct the file first; all problems: hookline check", file=sys.stderr)
            return 1
        found = any(look.runtime.loaded.specs for look in looks)
        print("Nothing to approve: every hook here is trusted." if found else "No hooks here.")
        _report_unregistered(looks)
        return 0
    require_outside_agent(looks[0].runtime.paths.state, "approve hooks")
    sys.stdout.flush()
    if not yes and not _confirm(_question(hooks + files, gone)):
        print("Nothing changed. To approve without being asked: hookline trust --yes", file=sys.stderr)
        return 1
    for look in looks:
        if look.is_open and (store := look.runtime.trust) is not None:
            approve(look.runtime, look.asking)
            store.forget((*look.runtime.missing, *_renamed(look.runtime, look.asking)))
    done = [f"Approved {plural(hooks, 'hook')}."] if hooks else []
    done += [f"Approved {plural(files, 'file')} besides hooks."] if files else []
    done += [f"Removed {plural(gone, 'stale approval')}."] if gone else []
    print(" ".join(done))
    for file in sorted(file for look in looks for file in look.faulty):
        print(
            f"hookline: {safe(file)} has errors; what was approved of it stays. Correct it: hookline check",
            file=sys.stderr,
        )
    _ignore_local_files({os.path.dirname(spec.origin.file) for look in looks for spec in look.asking})
    _report_unregistered(looks)
    return 0


def _ignore_local_files(folders: Iterable[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            if ignore_local_file(folder):
                mine = f"{FOLDER}/{LOCAL}"
                print(f"Wrote {FOLDER}/.gitignore: what one person sets in {mine} is not committed.")


def _report_unregistered(looks: Sequence[_Look]) -> None:
    for look in looks:
        for one in missing_registrations(look.runtime, look.asking):
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


def _print_json(looks: Sequence[_Look]) -> None:
    hooks, files, missing, renewable = [], [], [], []
    for look in looks:
        runtime, pins = look.runtime, _pins(look.runtime)
        changes = runtime.trust.changes if runtime.trust else lambda *_: ()
        for spec in look.asking:
            verdict = runtime.verdicts[spec.id]
            hooks.append(_shape(spec, verdict, pins(spec)) | {"diff": _diffs(changes(spec, verdict))})
        for contents, verdict in look.files:
            files.append(_file_shape(contents, verdict, pins(contents)) | {"diff": _diffs(changes(contents, verdict))})
        missing += [{"hook": one.name, "event": one.event, "file": one.file} for one in runtime.missing]
        renewable += [
            {"hook": one.name, "event": one.event, "file": one.origin.file} for one in _renewable(runtime)
        ]  # fmt: skip
    print_json({"hooks": hooks, "files": files, "missing": missing} | ({"renewable": renewable} if renewable else {}))


def _pins(runtime: Runtime) -> Callable[[HookSpec], Pins]:
    assert runtime.trust is not None, "hooks found in a project need trust"
    return runtime.trust.pins


def _file_shape(contents: HookSpec, verdict: TrustVerdict, pins: Pins) -> dict[str, Any]:
    clean = Redactor(os.environ).text
    return {
        "file": contents.origin.file,
        "dialect": contents.dialect,
        "state": verdict.state,
        "changed": list(verdict.changed),
        "contents": [clean(line) for line in _values(_contents(contents))],
        "pinned": [{"path": path, "sha256": digest, "bytes": size} for path, digest, size in _files(pins)],
        "unpinned": list(pins.unpinned),
    }


def _approval(one: Approval) -> dict[str, Any]:
    files = [path for path, _ in one.cover.files]
    return {"hook": one.name, "event": one.event, "file": one.file, "when": _when(one.when), "files": files}


def _when(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
