"""Everything a person can do with hooks; used by the command line and the screen."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from hookline.config.discover import lookup_for
from hookline.config.files import Unread, read_text
from hookline.core._dataclass import dataclass, replace
from hookline.core.errors import ConfigError, DataError, UsageError
from hookline.core.files import atomic_writer, backup
from hookline.core.git import ignore_local_file
from hookline.core.hook import HookSpec, is_inner
from hookline.core.json_edit import JsonError
from hookline.core.paths import FILE, FOLDER, LOCAL, Paths, home_directory, project_root, unusable
from hookline.dialects.base import MANAGED, Lookup
from hookline.dialects.claude_family.settings_edit import (
    RULES,
    WrittenHook,
    all_off,
    change_hook,
    read_hook,
    remove_hook,
    switch_all,
)
from hookline.engine.build import Runtime, record_store
from hookline.engine.try_hook import Trial, payload_event, sample_event, spec_on, try_hook, why_not
from hookline.runners.base import Stop
from hookline.state import own_guards
from hookline.state.protection import require_outside_agent
from hookline.state.record.chain import chain, chain_lines
from hookline.state.record.query import HookStats, Row, Run, find, firings, load_runs, stats
from hookline.state.record.store import Store
from hookline.tui.catalog import Hook, catalog
from hookline.tui.settings_files import (
    FileChange,
    SettingsFile,
    real_file,
    require_loadable,
    settings_files,
    with_new_hook,
)
from hookline.tui.toml_edit import Draft, check_draft, remove_table

_PLACE = re.compile(r"\$\.hook\[(\d+)\]")


def layer_file(layer: str, cwd: str, home: str, paths: Paths) -> str:
    """The file of a layer: ``user``, ``project`` or ``local``."""
    if layer == "user":
        return os.path.join(paths.config, FILE)
    if layer not in {"project", "local"}:
        raise UsageError(f"hooks can be added to the user, project or local file, not {layer!r}")
    return os.path.join(project_root(cwd, home), FOLDER, FILE if layer == "project" else LOCAL)


def _add_hook(draft: Draft, file: str, lookup: Lookup) -> str:
    """Append the hook to ``file``; return its real path. Raises UsageError if the hook would not load."""
    target = config_target(file)
    text = config_text(target, missing="")
    replace_config(target, text, check_draft(draft, text, target, lookup))
    if os.path.basename(target) == LOCAL:
        with suppress(OSError):
            ignore_local_file(os.path.dirname(target))
    return target


@contextmanager
def _json_errors(file: str) -> Generator[None]:
    try:
        yield
    except JsonError as error:
        raise ConfigError(f"{file}: {error}; press f5 to reload") from error


def _without_hook(hook: Hook, text: str) -> str:
    """The file without the hook. Raises ConfigError if it cannot be removed exactly."""
    left: str | None = None
    if hook.dialect in RULES:
        with _json_errors(hook.origin.file):
            left = remove_hook(text, hook.origin.pointer)
    elif hook.dialect != "native":
        msg = f"{hook.name!r} is defined in {hook.origin.file} ({hook.dialect}); delete it there, or switch it off"
        raise UsageError(msg)
    elif place := _PLACE.fullmatch(hook.origin.pointer):
        left = remove_table(text, "hook", int(place[1])) if _is_still_at(text, int(place[1]), hook.name) else None
    if left is None:
        raise ConfigError(f"{hook.name!r} cannot be removed from {hook.origin.file} exactly; delete it with an editor")
    return left


def _is_still_at(text: str, index: int, name: str) -> bool:
    """Whether it is still there: the file may have been edited since it was loaded."""
    import tomllib  # only a deletion needs it here

    try:
        found = tomllib.loads(text)["hook"][index]
    except (ValueError, KeyError, IndexError, TypeError):
        return False
    return not isinstance(found.get("name"), str) or found["name"] == name


def config_target(file: str) -> str:
    """The target of a symbolic link; a project's link must not lead out of the project."""
    real = os.path.realpath(file)
    folder = os.path.dirname(os.path.abspath(file))
    if os.path.basename(folder) == FOLDER and not real.startswith(os.path.realpath(os.path.dirname(folder)) + os.sep):
        raise ConfigError(f"{file} is a link out of its project to {real}; edit that file yourself")
    return real


def config_text(path: str, *, missing: str | None) -> str:
    text = read_text(path)
    if not isinstance(text, Unread):
        return text
    if text.missing and missing is not None:
        return missing
    raise ConfigError(str(text.problem))


def replace_config(
    path: str, before: str, after: str, elsewhere: str = "write it elsewhere (--to user, project or local)"
) -> None:
    """Replace atomically, unless the file has changed meanwhile. Its permissions stay.

    ``elsewhere`` is the advice where it cannot be written.
    """
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with atomic_writer(path, keep_mode=True) as file:
            file.write(after.encode("utf-8-sig" if _has_mark(path) else "utf-8"))
            if config_text(path, missing="") != before:
                raise ConfigError(f"{path} has just changed; nothing was written")
    except OSError as error:
        raise ConfigError(str(unusable(folder, error, elsewhere))) from error


def _has_mark(path: str) -> bool:
    """Whether the file begins with a byte order mark, which the loader removes."""
    try:
        with open(path, "rb") as file:
            return file.read(3) == b"\xef\xbb\xbf"
    except OSError:
        return False


HOUR = 3600.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """One hook's run on one event."""

    row: Row
    run: Run


class HookService:
    """The hooks of one directory; ``reload`` reads them again."""

    def __init__(self, assemble: Callable[[], Runtime]) -> None:
        self._assemble = assemble
        self.runtime = assemble()
        self._stats: Mapping[str, HookStats] = {}
        self._changes: list[FileChange] = []
        self._trial: Stop | None = None
        self._look_up_stats()

    def reload(self) -> None:
        before, self.runtime = self.runtime, self._assemble()
        before.engine.close()
        self._look_up_stats()

    def close(self) -> None:
        self.runtime.engine.close()

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """What would run: a project's change to one's own hook counts once it is trusted."""
        runtime = self.runtime
        return catalog(self._specs, trust=self._trust, switch=runtime.switches.off, stats=self._stats)

    @property
    def _specs(self) -> tuple[HookSpec, ...]:
        """Without the stand-ins for trusted hooks that are missing from their files."""
        written = {one.id: one for spec in self.runtime.loaded.specs for one in (spec.below, spec) if one is not None}
        # As they are written: a changed one runs as a stand-in, which nobody can approve.
        engine = self.runtime.engine
        return tuple(written[spec.id] for spec in engine.specs if spec.id in written and not is_inner(spec))

    @property
    def now(self) -> float:
        return self.runtime.switches.clock()

    def _trust(self, spec: HookSpec) -> str:
        verdict = self.runtime.verdicts.get(spec.extra.get("plugin", spec.id))
        return "own" if verdict is None else verdict.state

    # ── switching ────────────────────────────────────────────────────────────────────────────────────

    def switch_off(self, hook: Hook, seconds: float | None = None) -> None:
        """On all its events, for good or for ``seconds``."""
        require_outside_agent(self.runtime.paths.state, "switch off a hook")
        if hook.origin.layer == MANAGED:
            raise UsageError(
                f"{hook.title} belongs to the policy of this machine, which only its owner changes; see: hookline policy show"
            )
        until = None if seconds is None else self.now + seconds
        self.runtime.switches.switch_off(hook.specs, among=self._specs, until=until)

    def switch_on(self, hook: Hook) -> bool:
        """False if it was not switched off."""
        return self.runtime.switches.switch_on(hook.specs) > 0

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def settings_files(self) -> tuple[SettingsFile, ...]:
        """Files of agents to which a hook can be added, besides our own."""
        engine = self.runtime.engine
        return tuple(settings_files(engine.cwd, self._home, engine.environ))

    def add(self, draft: Draft, layer: str) -> str:
        """The file it was written to."""
        engine = self.runtime.engine
        path = layer_file(layer, engine.cwd, self._home, self.runtime.paths)
        target = config_target(path)
        before = None if not os.path.exists(target) else config_text(target, missing="")
        file = _add_hook(draft, path, self._lookup)
        self._changes.append(FileChange(file=file, before=before, after=config_text(file, missing="")))
        self.reload()
        return file

    def add_to(self, file: SettingsFile, hook: WrittenHook) -> FileChange:
        target = real_file(file, self.runtime.engine.cwd, self._home)
        text = config_text(target, missing="")
        after = with_new_hook(replace(file, path=target), text, hook, self._lookup)
        return self._write(target, text, after)

    def written(self, hook: Hook) -> WrittenHook | None:
        """What can be changed of it; None for a hook that is not in a settings file."""
        if hook.dialect not in RULES:
            return None
        with _json_errors(hook.origin.file):
            return read_hook(config_text(hook.origin.file, missing=None), hook.origin.pointer, RULES[hook.dialect])

    def change(self, hook: Hook, new: WrittenHook) -> FileChange:
        require_outside_agent(self.runtime.paths.state, "change a hook")
        file = self._settings_file(hook)
        text = config_text(file.path, missing=None)
        with _json_errors(file.path):
            after = change_hook(text, hook.origin.pointer, new, RULES[hook.dialect])
        require_loadable(file, text, after, self._lookup)
        return self._write(file.path, text, after)

    def remove(self, hook: Hook) -> FileChange:
        require_outside_agent(self.runtime.paths.state, "delete a hook")
        target = self._settings_file(hook).path if hook.dialect in RULES else config_target(hook.origin.file)
        text = config_text(target, missing=None)
        left = _without_hook(hook, text)
        self.runtime.switches.switch_on(hook.specs)
        self._forget(hook)
        done = self._write(target, text, left)
        if not left and not os.path.islink(hook.origin.file):  # an empty file would still ask for approval
            os.unlink(target)
            self.reload()
        return done

    def switch_file(self, hook: Hook) -> bool:
        """Switch all hooks of its settings file off, or on again; whether they are off now."""
        require_outside_agent(self.runtime.paths.state, "switch off a hook")
        if hook.dialect not in RULES:
            raise UsageError(f"{hook.origin.file} has no switch for all its hooks; press space for this one")
        file, rules = self._settings_file(hook).path, RULES[hook.dialect]
        text = config_text(file, missing=None)
        with _json_errors(file):
            off = not all_off(text, rules)
            after = switch_all(text, rules, off=off)
        self._write(file, text, after)
        return off

    def undo(self) -> FileChange:
        """Take back the latest change that was made here. Raises UsageError if there is none."""
        if not self._changes:
            raise UsageError("nothing was changed here yet")
        last = self._changes[-1]
        if config_text(last.file, missing="") != last.after:
            raise ConfigError(
                f"{last.file} was changed by somebody else since; the copy is {last.backup or 'not kept'}"
            )
        require_outside_agent(self.runtime.paths.state, "change a hook")
        if last.before is None:
            os.unlink(last.file)
        else:
            replace_config(last.file, last.after, last.before)
        self._changes.pop()
        own_guards.accept(self.runtime.paths.state, last.file)
        self.reload()
        return last

    def _settings_file(self, hook: Hook) -> SettingsFile:
        file = SettingsFile(dialect=hook.dialect, layer=hook.origin.layer, path=hook.origin.file)
        return replace(file, path=real_file(file, self.runtime.engine.cwd, self._home))

    def _write(self, file: str, before: str, after: str) -> FileChange:
        existed = os.path.exists(file)
        copy = backup(self.runtime.paths.state, file, before) if existed else ""
        replace_config(file, before, after)
        done = FileChange(file=file, before=before if existed else None, after=after, backup=copy)
        self._changes.append(done)
        own_guards.accept(self.runtime.paths.state, file)
        self.reload()
        return done

    def _forget(self, hook: Hook) -> None:
        """Remove its approval too: a missing hook counts as failed, but this one was deleted on purpose."""
        store = self.runtime.trust
        if store is not None:
            gone = {(spec.name, spec.event, spec.origin.file) for spec in hook.specs}
            store.forget([one for one in store.list() if (one.name, one.event, one.file) in gone])

    @property
    def _home(self) -> str:
        return home_directory(self.runtime.engine.environ)

    @property
    def _lookup(self) -> Lookup:
        engine = self.runtime.engine
        return lookup_for(cwd=engine.cwd, home=self._home, environ=engine.environ, paths=self.runtime.paths)

    # ── looking back ─────────────────────────────────────────────────────────────────────────────────

    def fired(self, hook: Hook, last: int = 5) -> tuple[HookRun, ...]:
        """The hook's latest runs, the newest first."""
        ids = {spec.id for spec in hook.specs}

        def ask(store: Store) -> tuple[HookRun, ...]:
            rows = {row.number: row for one in ids for row in firings(store, hook=one, last=last)}
            newest = sorted(rows, reverse=True)[:last]
            runs = load_runs(store, newest)
            return tuple(
                HookRun(row=rows[n], run=run)
                for n in newest
                for run in runs[n]
                if (run.hook_id in ids and run.hook == hook.name)
            )

        return self._query(ask, ())

    def recorded(self, event: str, last: int = 20) -> tuple[Row, ...]:
        """Recorded events of this kind, the newest first."""
        return self._query(lambda store: tuple(reversed(firings(store, event=event, last=last))), ())

    def find_recorded(self, prefix: str) -> Row:
        nothing: list[Row] = []
        found = self._query(lambda store: find(store, prefix), nothing)
        if len(found) != 1:
            count = "more than one recorded event has" if found else "no recorded event has"
            raise DataError(f"{count} an id that begins with {prefix!r}; see: hookline log")
        return found[0]

    def chain_text(self, row: Row) -> str:
        """The same as ``hookline log --chain``."""
        nothing: dict[int, tuple[Run, ...]] = {}
        runs = self._query(lambda store: load_runs(store, [row.number]), nothing)[row.number]
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.time))
        return "\n".join(chain_lines(chain(row, runs), when))

    def _look_up_stats(self) -> None:
        names = {spec.id: spec.name for spec in self._specs}
        self._stats = self._query(lambda store: stats(store, names), {})

    def _query(self, ask: Callable[[Store], _T], nothing: _T) -> _T:
        store = record_store(self.runtime.paths, self.runtime.loaded.settings.record)
        try:
            return ask(store) if os.path.exists(store.path) else nothing
        finally:
            store.close()

    # ── trying ───────────────────────────────────────────────────────────────────────────────────────

    def try_sample(self, hook: Hook, event: str = "") -> Trial:
        spec = spec_on(hook.specs, event)
        return self._try(spec, sample_event(spec, self.runtime))

    def try_recorded(self, hook: Hook, row: Row) -> Trial:
        spec = spec_on(hook.specs, row.event)
        data = row.data if row.before is None else row.before
        payload = data if isinstance(data, dict) else {}
        return self._try(spec, payload_event(spec, {"event": row.event, "data": payload}, self.runtime))

    def _try(self, spec: HookSpec, event: Any) -> Trial:
        why = why_not(spec, event, self.runtime)
        stop = self._trial = Stop()
        try:
            return try_hook(spec, event, self.runtime, would_not=why, stop=stop)
        finally:
            self._trial = None
            stop.close()

    def stop_trial(self) -> None:
        """End the hook that is being tried, with everything it started."""
        if (trial := self._trial) is not None:
            trial.set()
