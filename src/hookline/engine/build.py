"""An engine from what lies on disk: configuration, trust, sessions and the record, put together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hookline.config import load
from hookline.config.discover import project_root
from hookline.core._dataclass import dataclass, replace
from hookline.core.paths import Paths, paths_of
from hookline.dialects.base import FOREIGN
from hookline.engine.eligibility import HookBlocks, block_agents_own, block_other_files, inside_agent
from hookline.engine.engine import Engine
from hookline.engine.tampered import as_trusted, taken_out
from hookline.state.disabled import switches_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hookline.config import Loaded
    from hookline.core.hook import HookSpec
    from hookline.core.settings import RecordSettings
    from hookline.state.disabled import Switches
    from hookline.state.record.store import Store
    from hookline.state.trust import Approval, Judgement, TrustStore, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """An engine, with what the commands that look at it need besides."""

    engine: Engine
    loaded: Loaded
    paths: Paths
    trust: TrustStore | None
    verdicts: Mapping[str, Verdict]
    #: What the user has switched off by hand, for good or for a while.
    switches: Switches
    #: Hooks of this project that were trusted and are no longer written anywhere: a guard may have been removed.
    missing: tuple[Approval, ...] = ()


def assemble(
    *,
    cwd: str | os.PathLike[str] | None = None,
    config: Sequence[str | os.PathLike[str]] | None = None,
    dialect: str | None = None,
    environ: Mapping[str, str] | None = None,
    home: str | None = None,
    agent: str = "hookline",
    record: bool = True,
    sessions: bool = False,
    trust_all: bool = False,
    agents_door: bool = False,
    live: bool = True,
    paths: Paths | None = None,
    more: Sequence[HookSpec] = (),
    as_approved: Sequence[HookSpec] = (),
    adjust: Callable[[HookSpec], HookSpec] | None = None,
    asked_by: str = "",
) -> Runtime:
    """Find the hooks of ``cwd`` (or exactly those of ``config``) and make an engine of them.

    ``record`` keeps every firing in the state directory; ``sessions`` keeps turns and claims there too, for
    separate processes that share a session. Files named in ``config`` are trusted by that. At the ``agents_door`` a
    variable cannot switch hooks off, except those that ask a model. ``more`` are hooks that the caller has read itself
    (a conversation's); ``as_approved`` are those of them that trust knows in another form, under the same ids.
    ``asked_by`` is the agent whose own hooks are left to it: without files or a dialect that were named on purpose, the
    one at its door. ``adjust`` gives every hook what the caller's place asks of it, such as a shorter deadline, after trust has judged.
    """
    place = _place(cwd, environ, home, paths)
    loaded = _loaded(place, config, dialect, more)
    judged = _judged(loaded, place, dialect, as_approved, named=bool(config), trust_all=trust_all)
    loaded = _with_plugins(loaded, judged.verdicts, place.environ)
    specs = judged.standing(loaded.specs)
    switches = switches_at(place.paths.state)
    asker = "" if config or dialect else asked_by or (agent if agents_door else "")
    blocked = HookBlocks(
        verdicts=judged.verdicts,
        store=judged.store,
        removed=judged.gone,
        show=_trust_command(dialect, more),
        agent_runs=block_agents_own(asker, loaded.specs, place.cwd, place.home, place.environ) if asker else {},
        disabled=switches,
        inside_agent=inside_agent(place.environ, agents_door=agents_door),
    )
    engine = Engine(
        specs=specs if adjust is None else tuple(map(adjust, specs)),
        settings=loaded.settings,
        problems=loaded.problems,
        cwd=place.cwd,
        agent=agent,
        environ=place.environ,
        live=live,
        blocked=blocked,
        blocked_in=block_other_files(judged.verdicts, place.root()) if judged.verdicts else None,
        **_stores(place, loaded, record=record, sessions=sessions, live=live),
    )
    return Runtime(
        engine=engine,
        loaded=loaded,
        paths=place.paths,
        trust=judged.store,
        verdicts=judged.verdicts,
        switches=switches,
        missing=judged.missing,
    )


# ── where ────────────────────────────────────────────────────────────────────────────────────────────


class _Place:
    """Where hooks are looked up, and by whose variables."""

    # No dataclass, as ``_Judged``: those are written out at their first use, and a cold run uses these two once.
    __slots__ = ("cwd", "environ", "home", "paths")

    def __init__(self, cwd: str, home: str, environ: Mapping[str, str], paths: Paths) -> None:
        self.cwd = cwd
        self.home = home
        self.environ = environ
        self.paths = paths

    def root(self) -> str:
        return project_root(self.cwd, self.home)


def _place(
    cwd: str | os.PathLike[str] | None, environ: Mapping[str, str] | None, home: str | None, paths: Paths | None
) -> _Place:
    around = dict(os.environ) if environ is None else environ
    at_home = home or around.get("HOME") or os.path.expanduser("~")
    return _Place(
        cwd=os.path.abspath(cwd if cwd is not None else os.getcwd()),
        home=at_home,
        environ=around,
        paths=paths or paths_of(around, at_home),
    )


# ── which hooks ──────────────────────────────────────────────────────────────────────────────────────


def _loaded(
    place: _Place, config: Sequence[str | os.PathLike[str]] | None, dialect: str | None, more: Sequence[HookSpec]
) -> Loaded:
    """A file that the caller has read itself counts as the caller has read it."""
    loaded = load(
        cwd=place.cwd,
        home=place.home,
        environ=place.environ,
        paths=place.paths,
        files=[os.path.abspath(os.fspath(file)) for file in config] if config else None,
        dialect=dialect,
    )
    loaded = replace(loaded, settings=replace(loaded.settings, state_dir=place.paths.state))
    if not more:
        return loaded
    read = {(spec.dialect, spec.origin.file) for spec in more}
    rest = tuple(spec for spec in loaded.specs if (spec.dialect, spec.origin.file) not in read)
    return replace(loaded, specs=(*rest, *more))


def _with_plugins(loaded: Loaded, verdicts: Mapping[str, Verdict], environ: Mapping[str, str]) -> Loaded:
    """Plugins say in their handshake which events they hook: those that may run are asked."""
    if not any(spec.extra.get("unexpanded") for spec in loaded.specs):
        return loaded
    from hookline.engine.plugins import expanded  # noqa: PLC0415  most configurations have no plugin

    return expanded(loaded, verdicts, environ)


# ── trust ────────────────────────────────────────────────────────────────────────────────────────────


class _Judged:
    """What trust says of the hooks that a project brought along; without a judgement all of them stand as written."""

    __slots__ = ("gone", "judgement", "store", "verdicts")

    def __init__(self, store: TrustStore | None, judgement: Judgement | None, foreign: Sequence[HookSpec] = ()) -> None:
        self.store = store
        self.judgement = judgement
        #: By the hooks' ids.
        self.verdicts: Mapping[str, Verdict] = {}
        #: Stand-ins for guards that were trusted and taken out since.
        self.gone: tuple[HookSpec, ...] = ()
        if judgement is not None:
            self.verdicts = dict(zip((spec.id for spec in foreign), judgement.verdicts, strict=True))
            self.gone = tuple(spec for approval in judgement.missing if (spec := taken_out(approval)))

    @property
    def missing(self) -> tuple[Approval, ...]:
        return self.judgement.missing if self.judgement is not None else ()

    def standing(self, specs: tuple[HookSpec, ...]) -> tuple[HookSpec, ...]:
        if self.judgement is None:
            return specs
        return (*self.gone, *(_standing(spec, self.verdicts.get(spec.id)) for spec in specs))


def _judged(
    loaded: Loaded,
    place: _Place,
    dialect: str | None,
    as_approved: Sequence[HookSpec],
    *,
    named: bool,
    trust_all: bool,
) -> _Judged:
    """Files that were ``named`` on purpose are trusted by that."""
    if named:
        return _Judged(None, None)
    store = trust_store(place.paths, place.cwd, place.home, place.environ, dialect)
    if trust_all:
        return _Judged(store, None)
    foreign = [spec for spec in loaded.specs if spec.origin.layer in FOREIGN]
    approved = {spec.id: spec for spec in as_approved}
    return _Judged(store, store.judge([approved.get(spec.id, spec) for spec in foreign]), foreign)


def _standing(spec: HookSpec, verdict: Verdict | None) -> HookSpec:
    """What a project changes counts only once it is trusted, turning off a guard above all: of one's own hooks, the
    own version stands; a hook of the project's that was trusted stands as one that failed."""
    if verdict is not None and verdict.state == "trusted":
        return spec
    if spec.below is not None:
        return spec.below
    return spec if verdict is None else as_trusted(spec, verdict)


def _trust_command(dialect: str | None, more: Sequence[HookSpec]) -> Callable[[HookSpec], str]:
    """The command that shows a hook: the files of another dialect are read only where it is named."""
    named = {spec.id: spec.dialect for spec in more}

    def command(spec: HookSpec) -> str:
        name = dialect or named.get(spec.id, "native")
        return f"hookline trust --dialect {name}" if name != "native" else "hookline trust"

    return command


def trust_store(
    paths: Paths, cwd: str, home: str, environ: Mapping[str, str], dialect: str | None = None
) -> TrustStore:
    from hookline.state.trust import TrustStore as Approvals  # noqa: PLC0415  files named on the command line need none

    root = project_root(cwd, home)
    look = f"{dialect or 'native'} {root}"
    return Approvals(os.path.join(paths.state, "trust.json"), root=root, look=look, environ=environ)


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────


def record_store(paths: Paths, settings: RecordSettings, *, brief: bool = False) -> Store:
    """The file that every firing is kept in, whoever fires it. ``brief`` is for a process that fires once."""
    from hookline.state.record.store import store_in  # noqa: PLC0415  only who records pays for SQLite

    return store_in(paths.state, settings, brief=brief)


def _stores(place: _Place, loaded: Loaded, *, record: bool, sessions: bool, live: bool) -> dict[str, Any]:
    paths = place.paths
    chosen: dict[str, Any] = {}
    settings = loaded.settings.record
    if record and settings.enabled and live:
        from hookline.state.record.journal import journaled  # noqa: PLC0415  only who stays gathers records

        chosen["recorder"] = journaled(paths.state, settings)
    elif record and settings.enabled:
        chosen["recorder"] = record_store(paths, settings, brief=True)
    if sessions:
        from hookline.state.record.redact import Redactor  # noqa: PLC0415  only who shares a session needs them
        from hookline.state.sessions.sqlite import StoredSessions  # noqa: PLC0415

        clean = Redactor(place.environ, settings.redact).text
        chosen["sessions"] = StoredSessions(os.path.join(paths.state, "sessions.db"), clean=clean, brief=not live)
    return chosen
