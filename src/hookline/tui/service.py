"""Everything a person can do with hooks; used by the command line and the screen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from hookline.config.discover import lookup_for
from hookline.core._dataclass import dataclass
from hookline.core.describe import is_inner
from hookline.core.errors import DataError
from hookline.engine.build import record_store
from hookline.state.record.query import find, firings, load_runs, stats
from hookline.tui import dry_run
from hookline.tui.catalog import Hook, catalog
from hookline.tui.files import Removed, add_hook, layer_file, remove_hook

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.core.hook import HookSpec
    from hookline.dialects.base import Lookup
    from hookline.engine.build import Runtime
    from hookline.state.record.query import HookStats, Row, Run
    from hookline.state.record.store import Store
    from hookline.tui.dry_run import Trial
    from hookline.tui.new_hook import Draft

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
        self._look_up_stats()

    def reload(self) -> None:
        self.runtime.engine.close()
        self.runtime = self._assemble()
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
        written = {one.id for spec in self.runtime.loaded.specs for one in (spec, spec.below) if one is not None}
        return tuple(spec for spec in self.runtime.engine.specs if spec.id in written and not is_inner(spec))

    @property
    def now(self) -> float:
        return self.runtime.switches.clock()

    def _trust(self, spec: HookSpec) -> str:
        verdict = self.runtime.verdicts.get(spec.extra.get("plugin", spec.id))
        return "own" if verdict is None else verdict.state

    # ── switching ────────────────────────────────────────────────────────────────────────────────────

    def switch_off(self, hook: Hook, seconds: float | None = None) -> None:
        """On all its events, for good or for ``seconds``."""
        until = None if seconds is None else self.now + seconds
        self.runtime.switches.switch_off(hook.specs, among=self._specs, until=until)

    def switch_on(self, hook: Hook) -> bool:
        """False if it was not switched off."""
        return self.runtime.switches.switch_on(hook.specs) > 0

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────

    def add(self, draft: Draft, layer: str) -> str:
        """The file it was written to."""
        engine = self.runtime.engine
        file = add_hook(draft, layer_file(layer, engine.cwd, self._home, self.runtime.paths), self._lookup)
        self.reload()
        return file

    def remove(self, hook: Hook) -> Removed:
        removed = remove_hook(hook, self.runtime.paths)
        self.runtime.switches.switch_on(hook.specs)
        self._forget(hook)
        self.reload()
        return removed

    def _forget(self, hook: Hook) -> None:
        """Remove its approval too: a missing hook counts as failed, but this one was deleted on purpose."""
        store = self.runtime.trust
        if store is not None:
            gone = {(spec.name, spec.event, spec.origin.file) for spec in hook.specs}
            store.forget([one for one in store.list() if (one.name, one.event, one.file) in gone])

    @property
    def _home(self) -> str:
        return self.runtime.engine.environ.get("HOME") or os.path.expanduser("~")

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

        return self._asked(ask, ())

    def recorded(self, event: str, last: int = 20) -> tuple[Row, ...]:
        """Recorded events of this kind, the newest first."""
        return self._asked(lambda store: tuple(reversed(firings(store, event=event, last=last))), ())

    def recorded_as(self, id: str) -> Row:  # noqa: A002  what people call it
        nothing: list[Row] = []
        found = self._asked(lambda store: find(store, id), nothing)
        if len(found) != 1:
            told = "more than one recorded event has an id" if found else "no recorded event has an id"
            raise DataError(f"{told} that begins with {id!r}; see: hookline log")
        return found[0]

    def _look_up_stats(self) -> None:
        self._stats = self._asked(stats, {})

    def _asked(self, ask: Callable[[Store], _T], nothing: _T) -> _T:
        store = record_store(self.runtime.paths, self.runtime.loaded.settings.record)
        try:
            return ask(store) if os.path.exists(store.path) else nothing
        finally:
            store.close()

    # ── trying ───────────────────────────────────────────────────────────────────────────────────────

    def try_sample(self, hook: Hook, event: str = "") -> Trial:
        spec = dry_run.spec_on(hook, event)
        return self._tried(spec, dry_run.sample_event(spec, self.runtime))

    def try_recorded(self, hook: Hook, row: Row) -> Trial:
        spec = dry_run.spec_on(hook, row.event)
        data = row.data if row.before is None else row.before
        payload = data if isinstance(data, dict) else {}
        return self._tried(spec, dry_run.payload_event(spec, {"event": row.event, "data": payload}, self.runtime))

    def _tried(self, spec: HookSpec, event: Any) -> Trial:
        why = dry_run.why_not(spec, event, self.runtime)
        return dry_run.try_hook(spec, event, self.runtime, would_not=why)
