"""An engine from what lies on disk: configuration, trust, sessions and the record, put together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hookline.config import Loaded, ProjectGate, load
from hookline.core._dataclass import dataclass, field, replace
from hookline.core.code_variables import is_inside
from hookline.core.hook import HookSpec
from hookline.core.paths import FILE, Directories, Paths, find_paths, project_root
from hookline.core.problem import Problem
from hookline.core.result import Blocked
from hookline.core.settings import RecordSettings
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN
from hookline.engine.eligibility import (
    HookBlocks,
    agent_files,
    block_agents_own,
    block_other_files,
    inside_agent,
    stand_in_for_changed,
    stand_in_for_removed,
)
from hookline.engine.engine import Engine
from hookline.state.disabled import Switches, switches_at
from hookline.state.protection import OWN_GUARDS
from hookline.state.record.store import Store
from hookline.state.trust import Approval, TrustStore, Verdict
from hookline.state.trust.covered import CoveredFiles


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
    #: What the project's files hold besides hooks, with what trust says of it.
    contents: tuple[tuple[HookSpec, Verdict], ...] = ()
    #: What of the project is not approved, and so has no effect.
    unapproved: tuple[Unapproved, ...] = ()
    #: The command that shows it to the person who is to approve it.
    review: str = "hookline trust"
    #: A line for each file whose guards stay in force as they were deployed, because it was changed since.
    held: tuple[str, ...] = ()
    #: Event, agent and given limit -> seconds until an answer is due, as far as it was asked.
    answer_seconds: dict[tuple[str, str, float], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unapproved:
    """A file of which nothing is in force; or some of its hooks, by name; or its settings."""

    file: str
    hooks: tuple[str, ...] = ()
    settings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Which hooks: where they are looked up, by whose variables, and on whose behalf."""

    #: The directory whose hooks count; the current one by default.
    cwd: str | os.PathLike[str] | None = None
    #: Where the agent works now, and where else its session was: their hooks count if nothing is approved in ``cwd``.
    working_in: Sequence[str] = ()
    #: Exactly these files instead. Naming a file trusts it.
    config: Sequence[str | os.PathLike[str]] | None = None
    dialect: str | None = None
    environ: Mapping[str, str] | None = None
    home: str | None = None
    paths: Paths | None = None
    #: The variables that say where files are; those of ``environ`` by default.
    lookup: Mapping[str, str] | None = None
    #: Further places whose guards and approvals count too.
    others: Sequence[Directories] = ()
    agent: str = "hookline"
    trust_all: bool = False
    #: A person looks: what is not approved is parsed and shown too. Otherwise it is not even read.
    inspect: bool = False
    #: An agent calls: a variable cannot switch hooks off, except those that ask a model.
    agents_door: bool = False
    #: An entry calls that names its directories: what its deployment left there is expected.
    registered: bool = False
    #: The agent that runs its own hooks itself, where neither files nor a dialect were named; else the calling one.
    asked_by: str = ""
    #: Hooks that the caller has read itself (a conversation's).
    more: Sequence[HookSpec] = ()
    #: Those of ``more`` that trust knows in another form, under the same ids.
    as_approved: Sequence[HookSpec] = ()
    #: Changes every hook after trust has judged it: a shorter deadline, for example.
    adjust: Callable[[HookSpec], HookSpec] | None = None
    #: The person's own run that hooks run in (``runners.host.Host``), if they do.
    host: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """What is kept in the state directory, and for how long the process lives."""

    #: Every firing.
    record: bool = True
    #: Turns and claims too, for separate processes that share a session.
    sessions: bool = False
    #: The process goes on after one event, and applies late answers.
    live: bool = True


_KEEP_ALL, READ_ONLY = StoreOptions(), StoreOptions(record=False)


def load_runtime(sources: Sources, stores: StoreOptions = _KEEP_ALL) -> Runtime:
    """Find the hooks and make an engine of them."""
    place = _place(sources)
    store = None if sources.config else _approvals(place, sources)
    loaded = _loaded(place, sources, store)
    loaded, held = _with_kept_guards(loaded, place, sources)
    judged = _judge(loaded, place, store, sources)
    packs = _pack_files(loaded, place, judged.store, sources)
    loaded = _with_plugins(loaded, judged.verdicts, place.environ, packs)
    specs = judged.standing(loaded.specs)
    if not sources.inspect:
        loaded = replace(loaded, specs=specs)
    switches = switches_at(place.paths.state)
    blocks = HookBlocks(
        verdicts=judged.verdicts,
        store=judged.store,
        removed=judged.gone,
        show=_trust_command(sources),
        agent_runs=_agent_runs(loaded, place, sources),
        disabled=switches,
        inside_agent=inside_agent(place.environ, agents_door=sources.agents_door),
        packs=packs,
    )
    engine = Engine(
        specs=specs if sources.adjust is None else tuple(map(sources.adjust, specs)),
        settings=loaded.settings,
        problems=loaded.problems,
        cwd=place.cwd,
        agent=sources.agent,
        environ=place.environ,
        directories=None if sources.lookup is None else Directories(home=place.home, paths=place.paths),
        live=stores.live,
        blocked=blocks,
        covered=blocks.covered_files if blocks.has_covered_files else None,
        blocked_in=block_other_files(judged.verdicts, place.root()) if judged.verdicts else None,
        **_stores(place, loaded, stores),
    )
    return Runtime(
        engine=engine,
        loaded=loaded,
        paths=place.paths,
        trust=judged.store,
        verdicts=judged.verdicts,
        switches=switches,
        missing=judged.missing,
        contents=judged.contents,
        unapproved=_without_agents_own(judged.unapproved, place, sources),
        review=_review_command(sources.dialect),
        held=held,
    )


#: The files of a pack, by its digest; None where nobody approved it.
_PackFiles: TypeAlias = Callable[[str], "CoveredFiles | None"]

_RESTORE = "in a terminal of your own: hookline deploy"


def _with_kept_guards(loaded: Loaded, place: _Place, sources: Sources) -> tuple[Loaded, tuple[str, ...]]:
    """One's own guards as they were deployed, where somebody has changed them since."""
    state = place.paths.state
    deployed = os.path.exists(os.path.join(state, OWN_GUARDS))
    if sources.config or sources.dialect or not (deployed or sources.registered):
        return loaded, ()
    from hookline.state import own_guards  # only who has deployed has guards that are kept

    if sources.registered and (lost := own_guards.find_lost(state)):
        finding = "hookline was deployed with this file, and it is gone or damaged"
        loaded = replace(loaded, problems=(*loaded.problems, Problem(file=lost, finding=finding, fix=_RESTORE)))
    read = {source.path for source in loaded.sources}
    # A file that is no longer named by the one above it is not read, and its guards are gone with that.
    now = own_guards.read_kept(state)
    kept = {path: one for path, one in now.items() if path not in read or own_guards.read_own(path) != one[0]}
    if not kept:
        return loaded, ()
    from hookline.config.discover import lookup_for  # only a changed file needs these
    from hookline.config.kept_guards import with_kept_guards

    environ = place.environ if sources.lookup is None else sources.lookup
    lookup = lookup_for(cwd=place.cwd, home=place.home, environ=environ, paths=place.paths)
    return with_kept_guards(loaded, kept, lookup)


def _pack_files(loaded: Loaded, place: _Place, store: TrustStore | None, sources: Sources) -> _PackFiles | None:
    """The files of each pack, read when the first of its hooks is about to run."""
    if not any("pack" in spec.extra for spec in loaded.specs):
        return None
    from hookline.packs.store import PackStore  # most configurations have no pack

    packs, known = PackStore(place.paths), dict[str, CoveredFiles | None]()
    approvals = store or trust_store(place.paths, place.cwd, place.home, place.environ)

    def files(digest: str) -> CoveredFiles | None:
        if digest not in known:
            cover = packs.cover(digest)
            if cover is None and (sources.config or sources.trust_all):
                cover = packs.published_cover(digest)
            known[digest] = None if cover is None else approvals.watch_files(cover, packs.folder(digest))
        return known[digest]

    return files


def _agent_runs(loaded: Loaded, place: _Place, sources: Sources) -> Mapping[str, Blocked]:
    asker = _asker(sources)
    return block_agents_own(asker, loaded.specs, place.cwd, place.home, place.environ) if asker else {}


def _asker(sources: Sources) -> str:
    """The agent that calls and runs the hooks of its own files itself; "" where files or a dialect were named."""
    if sources.config or sources.dialect:
        return ""
    return sources.asked_by or (sources.agent if sources.agents_door else "")


def _without_agents_own(unapproved: Sequence[Unapproved], place: _Place, sources: Sources) -> tuple[Unapproved, ...]:
    """The calling agent asks about its own files itself."""
    asker = _asker(sources) if unapproved else ""
    if not asker:
        return tuple(unapproved)
    _user, theirs = agent_files(asker, place.cwd, place.home, place.environ)
    return tuple(one for one in unapproved if os.path.realpath(one.file) not in theirs)


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


def _place(sources: Sources) -> _Place:
    environ = dict(os.environ) if sources.environ is None else sources.environ
    home = sources.home or environ.get("HOME") or os.path.expanduser("~")
    return _Place(
        cwd=os.path.abspath(sources.cwd if sources.cwd is not None else os.getcwd()),
        home=home,
        environ=environ,
        paths=sources.paths or find_paths(environ, home),
    )


# ── which hooks ──────────────────────────────────────────────────────────────────────────────────────


def _gate(store: TrustStore | None, sources: Sources) -> ProjectGate:
    if store is None or sources.trust_all:  # the caller has named the files, or trusts them all
        return ProjectGate("open")
    return ProjectGate("inspect" if sources.inspect else "approved", store)


def _loaded(place: _Place, sources: Sources, store: TrustStore | None) -> Loaded:
    """A file that the caller has read itself counts as the caller has read it."""
    config, more = sources.config, sources.more
    loaded = load(
        cwd=place.cwd,
        home=place.home,
        environ=place.environ if sources.lookup is None else sources.lookup,
        paths=place.paths,
        files=[os.path.abspath(os.fspath(file)) for file in config] if config else None,
        dialect=sources.dialect,
        gate=_gate(store, sources),
    )
    root = place.root() if sources.agents_door else ""
    # A folder above everything that is the person's is no project.
    names = (root,) if root and not is_inside(place.home, (root,)) else ()
    loaded = replace(loaded, settings=replace(loaded.settings, state_dir=place.paths.state, agents_project=names))
    loaded = loaded if sources.host is None else replace(loaded, settings=replace(loaded.settings, host=sources.host))
    if sources.agents_door and not config and not sources.registered and (given := place.environ.get("HOME")):
        lost = () if given == place.home else _unused_home(given, place, sources)
        loaded = replace(loaded, problems=(*loaded.problems, *lost)) if lost else loaded
    for other in () if config else sources.others:
        loaded = _with_others(loaded, load(
            cwd=place.cwd, home=other.home, environ=other.variables(), paths=other.paths, dialect=sources.dialect,
            gate=_gate(store, sources),
        ))  # fmt: skip
    if not more:
        return loaded
    read = {(spec.dialect, spec.origin.file) for spec in more}
    rest = tuple(spec for spec in loaded.specs if (spec.dialect, spec.origin.file) not in read)
    return replace(loaded, specs=(*rest, *more))


def _unused_home(given: str, place: _Place, sources: Sources) -> list[Problem]:
    """What is configured in a home directory that lies in the project, where a repository may have put it: it has no
    effect, and its owner must know."""
    inside = os.path.realpath(given).startswith(os.path.realpath(place.root()).rstrip("/") + "/")
    if not inside:
        return []
    files = [os.path.join(find_paths({}, given).config, FILE)]
    if sources.dialect not in {None, "native"}:
        places = dialect_named(str(sources.dialect)).places(place.cwd, given, {})
        files = [one.path for one in places if one.layer not in FOREIGN and one.path.startswith(given)]
    finding = f"HOME ({given}) lies in the project, where a repository may have put it, so this file has no effect"
    fix = f"if it is yours, name it in the entry: hookline deploy, or hookline hook --home {given}"
    return [Problem(file=file, finding=finding, fix=fix) for file in files if os.path.exists(file)]


def _with_others(loaded: Loaded, other: Loaded) -> Loaded:
    """Hooks of another home directory besides: neither overrides or switches off a hook of the other."""
    known, read = {spec.id for spec in loaded.specs}, {source.path for source in loaded.sources}
    return replace(
        loaded,
        specs=(*loaded.specs, *(spec for spec in other.specs if spec.id not in known)),
        problems=tuple(dict.fromkeys((*loaded.problems, *other.problems))),
        sources=(*loaded.sources, *(source for source in other.sources if source.path not in read)),
    )


def _with_plugins(
    loaded: Loaded, verdicts: Mapping[str, Verdict], environ: Mapping[str, str], packs: _PackFiles | None
) -> Loaded:
    """Plugins say in their handshake which events they hook: those that may run are asked."""
    if not any(spec.extra.get("unexpanded") for spec in loaded.specs):
        return loaded
    from hookline.engine.plugins import register_plugins  # most configurations have no plugin

    def is_changed(pack: str) -> bool:
        files = packs(pack) if packs is not None else None
        return files is None or bool(files.check())

    return register_plugins(loaded, verdicts, environ, is_changed)


# ── trust ────────────────────────────────────────────────────────────────────────────────────────────


class _Judged:
    """What trust says of what a project brought along; without a judgement all of it stands as written."""

    __slots__ = ("contents", "gone", "inspect", "missing", "store", "unapproved", "verdicts")

    def __init__(self, store: TrustStore | None, *, inspect: bool = False) -> None:
        self.store = store
        self.inspect = inspect
        #: By the hooks' ids.
        self.verdicts: Mapping[str, Verdict] = {}
        self.missing: tuple[Approval, ...] = ()
        #: Stand-ins for guards that were trusted and taken out since.
        self.gone: tuple[HookSpec, ...] = ()
        self.contents: tuple[tuple[HookSpec, Verdict], ...] = ()
        self.unapproved: tuple[Unapproved, ...] = ()

    def standing(self, specs: tuple[HookSpec, ...]) -> tuple[HookSpec, ...]:
        if not self.verdicts and not self.gone:
            return specs
        stands = [one for spec in specs if (one := self._standing(spec)) is not None]
        return (*stands, *self.gone)  # one's own are asked first

    def _standing(self, spec: HookSpec) -> HookSpec | None:
        """What a project changes counts only once it is trusted, turning off a guard above all: of one's own hooks, the
        own version stands; a hook of the project's that was trusted stands as one that failed."""
        verdict = self.verdicts.get(spec.extra.get("plugin", spec.id))
        if verdict is not None and verdict.state == "trusted":
            return spec
        if spec.below is not None:
            return spec.below
        if verdict is None:
            return spec
        if verdict.state == "unknown" and not self.inspect and not self._is_unreadable:
            return None
        return stand_in_for_changed(spec, verdict)

    @property
    def _is_unreadable(self) -> bool:
        """Nobody can tell what was approved, so it may have been: a bad disk must not open a guard."""
        return self.store is not None and bool(self.store.note)


def _judge(loaded: Loaded, place: _Place, store: TrustStore | None, sources: Sources) -> _Judged:
    judged = _Judged(store, inspect=sources.inspect)
    if store is None or sources.trust_all:
        return judged
    foreign = [spec for spec in loaded.specs if spec.origin.layer in FOREIGN]
    approved = {spec.id: spec for spec in sources.as_approved}
    judgement = store.judge([approved.get(spec.id, spec) for spec in foreign])
    judged.verdicts = {spec.id: one for spec, one in zip(foreign, judgement.verdicts, strict=True)}
    missing = (*judgement.missing, *store.moved_here(place.cwd, *sources.working_in))
    ours = [spec for spec in foreign if judged.verdicts[spec.id].state == "trusted"]
    left = [approval for approval in missing if not _overridden(approval, ours)]
    judged.missing = tuple(one for one in left if not sources.inspect or not _overridden(one, foreign))
    judged.gone = tuple(spec for approval in left if (spec := stand_in_for_removed(approval)))
    if sources.inspect:
        judged.contents = tuple((spec, store.verdict(spec)) for spec in loaded.contents)
    judged.unapproved = tuple(_unapproved(loaded, foreign, judged.verdicts, store))
    return judged


def _overridden(approval: Approval, specs: Iterable[HookSpec]) -> bool:
    """The hook is still in the committed file, and read from the person's own beside it, which changes it."""
    slot = (approval.event, approval.name, os.path.join(os.path.dirname(approval.file), "hookline.toml"))
    return approval.file == slot[2] and any(
        (spec.event, spec.name) == slot[:2] and spec.origin.layer == "local" for spec in specs
    )


def _unapproved(
    loaded: Loaded, foreign: Sequence[HookSpec], verdicts: Mapping[str, Verdict], store: TrustStore
) -> Iterator[Unapproved]:
    yield from (Unapproved(file=source.path) for source in loaded.sources if source.inert)
    new = [spec for spec in foreign if verdicts[spec.id].state == "unknown"]
    for contents in loaded.contents:
        file = contents.origin.file
        names = tuple(dict.fromkeys(spec.name for spec in new if spec.origin.file == file))
        settings = bool(contents.extra) and not store.covers(contents)
        if names or settings or not store.knows(file):
            yield Unapproved(file=file, hooks=names, settings=settings)


def _trust_command(sources: Sources) -> Callable[[HookSpec], str]:
    """The command that shows a hook: the files of another dialect are read only where it is named."""
    named = {spec.id: spec.dialect for spec in sources.more}

    return lambda spec: _review_command(sources.dialect or named.get(spec.id))


def _review_command(dialect: str | None) -> str:
    return f"hookline trust --dialect {dialect}" if dialect not in {None, "native"} else "hookline trust"


def approve(runtime: Runtime, specs: Sequence[HookSpec]) -> None:
    """Approve these hooks, and what the project's files hold besides hooks. Raises ``StateError``."""
    assert runtime.trust is not None, "hooks found in a project need trust"
    contents = [spec for spec, verdict in runtime.contents if verdict.state != "trusted"]
    runtime.trust.approve([*specs, *contents])


def project_gate(paths: Paths, cwd: str, home: str, environ: Mapping[str, str]) -> ProjectGate:
    """For who reads files without making an engine of them: what is not approved is not read."""
    return ProjectGate("approved", trust_store(paths, cwd, home, environ))


def trust_store(
    paths: Paths,
    cwd: str,
    home: str,
    environ: Mapping[str, str],
    dialect: str | None = None,
    *,
    others: Sequence[TrustStore] = (),
) -> TrustStore:
    from hookline.state.trust import TrustStore as Approvals  # files named on the command line need none

    root = project_root(cwd, home)
    look = f"{dialect or 'native'} {root}"
    return Approvals(os.path.join(paths.state, "trust.json"), root=root, look=look, environ=environ, others=others)


def _approvals(place: _Place, sources: Sources) -> TrustStore:
    """What is approved in the project, which is the one above where only that one has something approved."""
    others = [trust_store(one.paths, place.cwd, one.home, place.environ) for one in sources.others]
    store = trust_store(place.paths, place.cwd, place.home, place.environ, sources.dialect, others=others)
    above = store.approved_above(place.cwd, *sources.working_in)
    if not above:
        return store
    place.cwd = above
    return _approvals(place, sources)


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────


def record_store(paths: Paths, settings: RecordSettings, *, brief: bool = False) -> Store:
    """The file that every firing is kept in, whoever fires it. ``brief`` is for a process that fires once."""
    from hookline.state.record.store import store_in  # only who records pays for SQLite

    return store_in(paths.state, settings, brief=brief)


def _stores(place: _Place, loaded: Loaded, stores: StoreOptions) -> dict[str, Any]:
    paths = place.paths
    chosen: dict[str, Any] = {}
    settings = loaded.settings.record
    if stores.record and settings.enabled and stores.live:
        from hookline.state.record.journal import open_journal  # only who stays gathers records

        chosen["recorder"] = open_journal(paths.state, settings)
    elif stores.record and settings.enabled:
        chosen["recorder"] = record_store(paths, settings, brief=True)
    if stores.sessions:
        from hookline.state.record.redact import Redactor  # only who shares a session needs them
        from hookline.state.sessions.sqlite import StoredSessions

        clean = Redactor(place.environ, settings.redact).text
        chosen["sessions"] = StoredSessions(
            os.path.join(paths.state, "sessions.db"), clean=clean, brief=not stores.live
        )
    return chosen
