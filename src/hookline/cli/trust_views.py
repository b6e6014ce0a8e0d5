"""Show a hook before its approval: everything it would do, and when."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from hookline.cli.output import paint, paint_status, safe
from hookline.core.describe import action_text, action_whole, conditions
from hookline.core.event import event_kind
from hookline.core.hook import Http
from hookline.state.record.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hookline.core.hook import HookSpec
    from hookline.state.trust import Verdict


#: A header whose value is a variable, perhaps after one word: it contains no secret.
_VARIABLE = re.compile(r"[\w-]+: (?:\w{1,10} )?\$\{?\w+\}?")


def render_hooks(specs: Sequence[HookSpec], verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    """Each hook once, with all events on which it does the same: nobody reads repetitions."""
    alike: dict[Any, list[HookSpec]] = {}
    for spec in specs:
        verdict = verdicts[spec.id]
        rest = [fact for fact in _facts(spec) if fact[0] != "listens to"]
        key = (spec.name, verdict.state, verdict.changed, verdict.pins.files, verdict.pins.unpinned, *rest)
        alike.setdefault(key, []).append(spec)
    for group in alike.values():
        yield _hook(group, verdicts[group[0].id])


def _hook(specs: Sequence[HookSpec], verdict: Verdict) -> str:
    """All lines of one hook, with the full text of its action."""
    changed = f" ({', '.join(map(safe, verdict.changed))})" if verdict.changed else ""
    events = safe(", ".join(spec.event for spec in specs))
    lines = [f"{paint_status(verdict.state)}{changed}  {paint(safe(specs[0].name), 'bold')} on {events}"]
    where, *rest = _facts(specs[0])
    heard = [fact for spec in specs for fact in _facts(spec) if fact[0] == "listens to"]
    for label, value in (where, *heard, *(fact for fact in rest if fact[0] != "listens to")):
        first, *more = value.split("\n")
        lines.append(f"    {label:<11}{safe(first)}")
        lines += [f"    {'':<11}{safe(line)}".rstrip() for line in more]
    for path, digest, size in _files(verdict):
        lines.append(f"    {'pinned':<11}{safe(path)}  {paint(f'{digest[:12]}, {size} bytes', 'grey')}")
    lines += [f"    {'unpinned':<11}{safe(name)}" for name in verdict.pins.unpinned]
    return "\n".join(lines)


def _facts(spec: HookSpec) -> Iterator[tuple[str, str]]:
    yield "written at", f"{spec.origin.file}:{spec.origin.line}"
    if spec.below and not spec.enabled:
        yield "does", f"nothing: it disables your own {_own(spec.below)}"
        return
    native = f" ({spec.dialect}: {spec.native_event})" if spec.native_event not in {"", spec.event} else ""
    yield "listens to", f"{spec.event}{native}{_if(conditions(spec))}"
    yield "runs", _how(spec)
    if spec.below:
        yield "instead of", f"your own {_own(spec.below)}"
    if not spec.enabled:
        yield "is off", "enabled = false: it does not run"
    yield "does", _whole(spec)
    if spec.output.inject != "none":
        yield "its output", f"becomes {spec.output.inject}"
    for name, value in spec.environ.items():
        yield "sets", Redactor(os.environ).text(f"{name}={value}")


def _whole(spec: HookSpec) -> str:
    """Hide tokens in a URL, but not which variable is sent to it. Never redact a command: TOKEN=$(…) looks like a
    secret to a redactor and is code to a shell."""
    text = action_whole(spec)
    if not isinstance(spec.action, Http):
        return text
    clean = Redactor(os.environ).text
    return "\n".join(line if _VARIABLE.fullmatch(line) else clean(line) for line in text.split("\n"))


def _own(below: HookSpec) -> str:
    return f"{below.name} ({below.origin.file}:{below.origin.line}): {action_text(below)}"


def _if(tests: tuple[str, ...]) -> str:
    return f", if {'; '.join(tests)}" if tests else ", always"


def _how(spec: HookSpec) -> str:
    limit = "for as long as it takes" if spec.timeout is None else f"for at most {spec.timeout:g} s"
    failing = {
        "ignore": "if it fails, nothing happens",
        "deny": f"if it fails, {event_kind(spec.event).denies or 'nothing'} is refused",
        "abort": "if it fails, the run ends",
    }
    return f"{spec.mode}, {limit}; {failing[spec.on_failure]} (on_failure = {spec.on_failure})"


def _files(verdict: Verdict) -> Iterator[tuple[str, str, int]]:
    """Path, digest and size of every pinned file."""
    for path, digest in verdict.pins.files:
        looks = (one for one in verdict.pins.looks if one.digest == digest and one.path.endswith(path))
        signature = next((one.signature for one in looks), None)
        yield path, digest, signature[1] if signature else 0


def shape(spec: HookSpec, verdict: Verdict) -> dict[str, Any]:
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
        "files": [path for path, _ in verdict.pins.files],
        "pinned": [{"path": path, "sha256": digest, "bytes": size} for path, digest, size in _files(verdict)],
        "unpinned": list(verdict.pins.unpinned),
        "match": list(conditions(spec)),
        "mode": spec.mode,
        "timeout": spec.timeout,
        "on_failure": spec.on_failure,
        "enabled": spec.enabled,
        "inject": spec.output.inject,
        "environ": {name: clean(value) for name, value in spec.environ.items()},
        "action": _whole(spec),
        "instead_of": action_text(spec.below) if spec.below else None,
    }
