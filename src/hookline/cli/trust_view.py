"""What is to be approved, as a person and a program see it: every hook with all that its approval covers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hookline.cli.output import paint, paint_trust, print_json, safe
from hookline.core._dataclass import dataclass
from hookline.core.describe import action_text, action_whole, conditions
from hookline.core.event import event_kind
from hookline.core.hook import HookSpec, Http
from hookline.engine.build import Runtime
from hookline.state.record.redact import Redactor
from hookline.state.trust import Pins, TrustStore, TrustVerdict

if TYPE_CHECKING:
    from hookline.state.trust.copies import TrustChange

#: A file of which more than hooks is to be approved, or that has none at all.
OpenFile = tuple[HookSpec, TrustVerdict]
#: A header whose value is a variable, perhaps after one word: it contains no secret.
_VARIABLE = re.compile(r"[\w-]+: (?:\w{1,10} )?\$\{?\w+\}?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustReview:
    """The files of one dialect here, and what of them is to be approved."""

    runtime: Runtime
    dialect: str
    asking: tuple[HookSpec, ...]
    files: tuple[OpenFile, ...]
    #: Files with errors. A hook that is missing there may be one that cannot be read: its approval stays.
    faulty: frozenset[str] = frozenset()

    @property
    def is_open(self) -> bool:
        return bool(self.asking or self.files or self.runtime.missing)

    @property
    def store(self) -> TrustStore:
        assert self.runtime.trust is not None, "hooks found in a project need trust"
        return self.runtime.trust

    def renewable(self) -> list[HookSpec]:
        """Hooks whose approval counts, but covers less than one of today would."""
        verdicts = ((spec, self.runtime.verdicts.get(spec.id)) for spec in self.runtime.loaded.specs)
        return [spec for spec, one in verdicts if one and one.state == "trusted" and _is_outdated(one)]


def _is_outdated(verdict: TrustVerdict) -> bool:
    return verdict.approval is not None and not verdict.approval.covers_folders


# ── for a person ─────────────────────────────────────────────────────────────────────────────────────


def show(review: TrustReview) -> None:
    files = dict.fromkeys(spec.origin.file for spec in (*review.asking, *(spec for spec, _ in review.files)))
    for file in files if review.dialect != "hookline" else ():
        print(f"{review.dialect}: {safe(file)}")
    for text in _render_hooks(review):
        print(text)
    for contents, verdict in review.files:
        print(_render_file(contents, verdict, review.store))
    for gone in review.runtime.missing:
        what = f"on {safe(gone.event)} was trusted and is missing from {safe(gone.file)}"
        print(f"{paint('gone', 'red')}  {paint(safe(gone.name), 'bold')} {what}")


def _render_hooks(review: TrustReview) -> Iterator[str]:
    """Each hook once, with all events on which it does the same: nobody reads repetitions."""
    alike: dict[Any, list[tuple[HookSpec, Pins]]] = {}
    verdicts = review.runtime.verdicts
    for spec in review.asking:
        verdict, pins = verdicts[spec.id], review.store.pins(spec)
        rest = [fact for fact in _facts(spec) if fact[0] != "listens to"]
        key = (spec.name, verdict.state, verdict.changed, pins.files, pins.unpinned, *rest)
        alike.setdefault(key, []).append((spec, pins))
    for group in alike.values():
        first, pins = group[0]
        shown = _hook([spec for spec, _ in group], verdicts[first.id], pins)
        yield "\n".join([shown, *_change_lines(review.store.changes(first, verdicts[first.id]))])


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


def _facts(spec: HookSpec) -> Iterator[tuple[str, str]]:
    yield "written at", spec.origin.place
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
    return f"{below.name} ({below.origin.place}): {action_text(below)}"


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


def _pin_lines(pins: Pins) -> Iterator[str]:
    for path, digest, size in _files(pins):
        yield f"    {'pinned':<11}{safe(path)}  {paint(f'{digest[:12]}, {size} bytes', 'grey')}"
    yield from (f"    {'unpinned':<11}{safe(name)}" for name in pins.unpinned)
    for note in pins.notes:
        yield f'    {"not whole":<11}{safe(note)}; name the rest of it with: covers = ["FOLDER", …]'


def _files(pins: Pins) -> Iterator[tuple[str, str, int]]:
    """Path, digest and size of every pinned file."""
    for (path, digest), signature in zip(pins.files, pins.cover.signatures, strict=True):
        yield path, digest, signature[1]


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


def _render_file(contents: HookSpec, verdict: TrustVerdict, store: TrustStore) -> str:
    """What a file contains besides hooks, value by value."""
    changed = f" ({', '.join(map(safe, verdict.changed))})" if verdict.changed else ""
    values = list(_values(_contents(contents))) or ["nothing besides its hooks"]
    lines = [f"{paint_trust(verdict.state)}{changed}  {paint(safe(contents.name), 'bold')}, besides its hooks"]
    lines.append(f"    {'written at':<11}{safe(contents.origin.file)}")
    for label, value in zip(("contains", *[""] * len(values)), values, strict=False):
        lines.append(f"    {label:<11}{safe(Redactor(os.environ).text(value))}")
    return "\n".join([*lines, *_pin_lines(store.pins(contents)), *_change_lines(store.changes(contents, verdict))])


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


# ── for a program ────────────────────────────────────────────────────────────────────────────────────


def print_reviews(reviews: Sequence[TrustReview]) -> None:
    hooks, files, missing, renewable = [], [], [], []
    for review in reviews:
        runtime, store = review.runtime, review.store
        hooks += [_shape(spec, runtime.verdicts[spec.id], store) for spec in review.asking]
        files += [_file_shape(contents, verdict, store) for contents, verdict in review.files]
        missing += [{"hook": one.name, "event": one.event, "file": one.file} for one in runtime.missing]
        renewable += [
            {"hook": one.name, "event": one.event, "file": one.origin.file} for one in review.renewable()
        ]  # fmt: skip
    print_json({"hooks": hooks, "files": files, "missing": missing} | ({"renewable": renewable} if renewable else {}))


def _shape(spec: HookSpec, verdict: TrustVerdict, store: TrustStore) -> dict[str, Any]:
    clean, pins = Redactor(os.environ).text, store.pins(spec)
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
        "diff": _diffs(store.changes(spec, verdict)),
    }


def _file_shape(contents: HookSpec, verdict: TrustVerdict, store: TrustStore) -> dict[str, Any]:
    clean, pins = Redactor(os.environ).text, store.pins(contents)
    return {
        "file": contents.origin.file,
        "dialect": contents.dialect,
        "state": verdict.state,
        "changed": list(verdict.changed),
        "contents": [clean(line) for line in _values(_contents(contents))],
        "pinned": [{"path": path, "sha256": digest, "bytes": size} for path, digest, size in _files(pins)],
        "unpinned": list(pins.unpinned),
        "diff": _diffs(store.changes(contents, verdict)),
    }


def _diffs(changes: Iterable[TrustChange]) -> list[dict[str, Any]]:
    return [{"path": one.path, "lines": _diff_lines(one)} for one in changes]
