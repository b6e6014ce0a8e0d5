"""Hooks for the pages: every hook of a project with source, trust, state and numbers, and what a person can do to one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from hookline.config.discover import lookup_for
from hookline.config.syntax import parse_text
from hookline.core._dataclass import replace
from hookline.core.describe import action_whole, conditions
from hookline.core.errors import ConfigError, DataError, UsageError
from hookline.core.files import backup
from hookline.core.hook import Function, HookSpec
from hookline.core.paths import home_directory
from hookline.core.result import STATUS
from hookline.core.serialize import decision_shape
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer
from hookline.dialects.native.fields import HOOK_FIELDS
from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime, record_store
from hookline.engine.load import approve
from hookline.engine.match import in_order
from hookline.gateway.notices import missing_hooks
from hookline.state import own_guards
from hookline.state.record.chain import subject, verdict_word
from hookline.state.record.redact import Redactor
from hookline.state.trust.digest import definition_digest
from hookline.tui.catalog import Hook
from hookline.tui.service import HookService, config_target, config_text, replace_config
from hookline.tui.toml_edit import table_span
from hookline.web.sessions import sparkline

_PLACE = re.compile(r"\$\.hook\[(\d+)\]")
#: Characters of a covered file that are shown.
_SHOWN = 40_000


@contextmanager
def _service(project: str) -> Generator[HookService]:
    """The hooks of a folder, loaded anew: what is shown is what the files say now."""

    def assemble() -> Runtime:
        return load_runtime(Sources(cwd=project, inspect=True), READ_ONLY)

    found = HookService(assemble)
    try:
        yield found
    finally:
        found.close()


def hooks(project: str) -> dict[str, Any]:
    with _service(project) as found:
        runtime = found.runtime
        store = record_store(runtime.paths, runtime.loaded.settings.record)
        try:
            place = {spec.id: at for at, spec in enumerate(in_order(runtime.loaded.specs))}
            ordered = sorted(found.hooks, key=lambda hook: min(place.get(spec.id, 0) for spec in hook.specs))
            rows = [_shape(hook, found.now, sparkline(store, [s.id for s in hook.specs])) for hook in ordered]
        finally:
            store.close()
        problems = [str(one) for one in runtime.loaded.problems]
        return {
            "project": project,
            "hooks": rows,
            "problems": [*problems, *map(str, missing_hooks(runtime)), *runtime.held],
        }


def _shape(hook: Hook, now: float, days: list[int]) -> dict[str, Any]:
    latest, times = hook.latest, hook.slowest
    first = hook.specs[0]
    return {
        "id": hook.id, "name": hook.name, "dialect": hook.dialect, "file": hook.origin.file, "line": hook.origin.line,
        "layer": hook.origin.layer, "events": list(dict.fromkeys(hook.events)), "match": hook.match,
        "action": hook.action[:300], "trust": hook.trust, "state": hook.state, "state_text": hook.state_text(now),
        "order": first.order, "mode": first.mode, "on_failure": first.on_failure, "fired": hook.fired,
        "failures": hook.failures, "p50": times[0] if times else None, "p95": times[1] if times else None,
        "last": latest.last_time if latest else None, "last_effect": latest.last_effect if latest else None,
        "days": days, "editable": hook.dialect == "native" and _PLACE.fullmatch(hook.origin.pointer) is not None,
    }  # fmt: skip


def details(project: str, name: str) -> dict[str, Any]:
    """One hook whole: its text, what its approval covers, its latest runs."""
    with _service(project) as found:
        hook = _find(found, name)
        runtime, spec = found.runtime, hook.specs[0]
        clean = Redactor(os.environ).text
        verdict = runtime.verdicts.get(spec.extra.get("plugin", spec.id))
        runs = [
            {"id": one.row.id, "t": one.row.time, "event": one.row.event, "about": subject(one.row.data)[:200],
             "verdict": verdict_word(one.run), "ms": one.run.ms, "error": one.run.error}
            for one in found.fired(hook, 20)
        ]  # fmt: skip
        place = _PLACE.fullmatch(hook.origin.pointer)
        store = runtime.trust if verdict else None
        files = [path for path, _ in store.pins(spec).files] if store else []
        # The rest of its file is approved with it.
        asked = [(spec, verdict), *((one, v) for one, v in runtime.contents if one.origin.file == spec.origin.file)]
        diffs = [change for one, judged in asked for change in store.changes(one, judged)] if store else []
        return {
            **_shape(hook, found.now, []), "conditions": list(conditions(spec)), "does": clean(action_whole(spec)),
            "changed": list(verdict.changed) if verdict else [], "runs": runs, "given": _given(spec),
            "seal": _seal(runtime, hook), "diff": [{"path": d.path, "lines": [clean(line) for line in d.lines]} for d in diffs],
            "table": _table(hook.origin.file, int(place[1])) if place and hook.dialect == "native" else None,
            "covered": [{"path": path, "text": clean(_text(path))} for path in files],
            "help": [{"key": field.key, "about": field.about} for field in HOOK_FIELDS],
        }  # fmt: skip


def _given(spec: HookSpec) -> Any:
    """The settings of a ready hook: a guard's policy, rules and exceptions."""
    return json.loads(spec.action.given) if isinstance(spec.action, Function) and spec.action.given else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_SHOWN)
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _find(found: HookService, name: str) -> Hook:
    hook = next((one for one in found.hooks if any(spec.id == name for spec in one.specs)), None)
    if hook is None:
        raise DataError("this hook is gone; load the page again")
    return hook


def _table(file: str, index: int) -> str | None:
    text = config_text(config_target(file), missing="")
    span = table_span(text, "hook", index)
    return None if span is None else text[span[0] : span[1]]


# ── what a person does ───────────────────────────────────────────────────────────────────────────────


def switch(project: str, name: str, *, on: bool, seconds: float | None) -> None:
    with _service(project) as found:
        hook = _find(found, name)
        if on:
            found.switch_on(hook)
        else:
            found.switch_off(hook, seconds)


def trust(project: str, name: str, seal: str) -> None:
    """Approve one hook as it was shown, with what its file holds besides."""
    with _service(project) as found:
        hook = _find(found, name)
        if _seal(found.runtime, hook) != seal:
            raise ConfigError(f"{hook.name!r} has changed since it was shown; look at it again")
        approve(found.runtime, hook.specs)


def _seal(runtime: Runtime, hook: Hook) -> str:
    """A digest of everything that an approval covers: what is approved must be what was shown."""
    store = runtime.trust
    covered = [] if store is None else [store.pins(spec).files for spec in hook.specs]
    besides = [definition_digest(spec) for spec, verdict in runtime.contents if verdict.state != "trusted"]
    whole = repr(([definition_digest(spec) for spec in hook.specs], covered, besides))
    return hashlib.sha256(whole.encode(errors="replace")).hexdigest()


def try_hook(project: str, name: str, event: str) -> dict[str, Any]:
    with _service(project) as found:
        trial = found.try_sample(_find(found, name), event)
        raw = trial.raw
        return {
            "event": trial.event.kind.name, "status": STATUS[type(trial.outcome)], "ms": trial.outcome.ms,
            "error": trial.outcome.error, "would_not": trial.would_not, "stdout": raw.stdout if raw else "",
            "stderr": raw.stderr if raw else "", "exit_code": raw.exit_code if raw else None,
            "decision": decision_shape(trial.decision),
        }  # fmt: skip


def save(project: str, name: str, table: str) -> str:
    """Replace the table of a native hook; where the old file is kept. The file must still load, with the same hooks."""
    with _service(project) as found:
        hook = _find(found, name)
        place = _PLACE.fullmatch(hook.origin.pointer)
        if hook.dialect != "native" or place is None:
            raise UsageError(f"{hook.name!r} is defined in {hook.origin.file} ({hook.dialect}); edit it there")
        target = config_target(hook.origin.file)
        before = config_text(target, missing=None)
        span = table_span(before, "hook", int(place[1]))
        if span is None:
            raise ConfigError(f"{target} has changed; load the page again")
        after = before[: span[0]] + table.rstrip() + "\n" + before[span[1] :]
        _require_loadable(found, target, before, after, int(place[1]))
        copy = backup(found.runtime.paths.state, target, before)
        replace_config(target, before, after)
        own_guards.accept(found.runtime.paths.state, target)
        return copy


def _require_loadable(found: HookService, path: str, before: str, after: str, index: int) -> None:
    """Only this table may have changed, and the loader must have nothing new to say."""
    try:
        was, now = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is not TOML: {error}") from error
    if {**was, "hook": None} != {**now, "hook": None} or len(was["hook"]) != len(now.get("hook", ())):
        raise ConfigError("change this one [[hook]] table only")
    if any(one != other for at, (one, other) in enumerate(zip(was["hook"], now["hook"], strict=True)) if at != index):
        raise ConfigError("change this one [[hook]] table only")
    old, new = (_findings(found, path, text) for text in (before, after))
    if fresh := [text for text in new if text not in old]:
        raise ConfigError("\n".join(fresh))


def _findings(found: HookService, path: str, text: str) -> list[str]:
    document = parse_text(path, text, "toml")
    if document.tree is None:
        return [f"{one.finding}; {one.fix}" for one in document.problems]
    engine = found.runtime.engine
    home = home_directory(engine.environ)
    lookup = lookup_for(cwd=engine.cwd, home=home, environ=engine.environ, paths=found.runtime.paths)
    layer = Layer(path=path, name="user", syntax="toml", text=text, tree=document.tree, line=document.line)
    problems = dialect_named("native").parse([layer], lookup).problems
    return [f"{one.pointer}: {one.finding}; {one.fix}" for one in problems if one.severity == "error"]


def what_if(project: str, agent: str, event: str, data: Mapping[str, Any], able: Callable[..., Any]) -> dict[str, Any]:
    """Which hooks would run and which not, by the code of ``explain``; what the guard would say; what the agent can do."""
    runtime = load_runtime(Sources(cwd=project, inspect=True, asked_by=agent), READ_ONLY)
    with runtime.engine as engine:
        made = engine.event(event, {**data, "cwd": project}, agent=agent, session="", cwd=project)
        found = [
            {"hook": one.spec.name, "id": one.spec.id, "dialect": one.spec.dialect, "file": one.spec.origin.file,
             "why_not": one.why, "on_failure": one.spec.on_failure, "mode": one.spec.mode,
             "guard": one.spec.name == "guard" and not one.why, "policy": _policy(one.spec)}
            for one in engine.explain(made)
        ]  # fmt: skip
    tool = data.get("tool_input")
    command = tool.get("command") if isinstance(tool, dict) else None
    verdict = _guard(str(command), project) if isinstance(command, str) else None
    return {"event": event, "agent": agent, "hooks": found, "guard": verdict, "able": able(agent, event, data)}


def _policy(spec: HookSpec) -> str:
    """The ready policy that a guard has, as it is; "" where rules or exceptions of one's own change it."""
    given = _given(spec) or {}
    return str(given.get("policy", "standard")) if set(given) <= {"policy"} else ""


def _guard(command: str, project: str) -> dict[str, Any]:
    """What the ready policies say to a command, whether or not a guard is configured."""
    from hookline.guard.verdict import here, judge  # reading commands takes a while to load

    around = replace(here(), cwd=project)
    strict = judge(command, policy="strict", around=around)
    return {
        "standard": _verdict(judge(command, policy="standard", around=around)), "strict": _verdict(strict),
        "reads_only": strict.reads_only,
        "effects": [{"kind": one.kind, "harm": one.harm, "what": one.what, "where": one.where, "why": one.why}
                    for one in strict.effects],
    }  # fmt: skip


def _verdict(one: Any) -> dict[str, str]:
    return {"verdict": "no opinion" if one.verdict == "none" else one.verdict, "reason": one.reason, "safer": one.safer}
