"""An engine from what lies on disk: configuration, trust, sessions and the record, put together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from hookline.core._dataclass import dataclass, field, replace
from hookline.core.files import note
from hookline.core.hook import HookSpec
from hookline.core.loaded import Loaded, Unapproved
from hookline.core.paths import Directories, Paths, find_paths, home_directory, project_root
from hookline.core.result import Blocked
from hookline.core.settings import RecordSettings
from hookline.core.typed import TYPE_CHECKING, Any, TypeAlias
from hookline.engine.eligibility import HookBlocks, agent_files, block_agents_own, block_other_files, inside_agent
from hookline.engine.engine import Engine
from hookline.state.disabled import Switches, switches_at

if TYPE_CHECKING:
    from hookline.engine.load import Found
    from hookline.engine.snapshot import Restored
    from hookline.state.record.store import Store
    from hookline.state.trust import Approval, TrustStore, TrustVerdict
    from hookline.state.trust.covered import CoveredFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """An engine, with what the commands that look at it need besides."""

    engine: Engine
    loaded: Loaded
    paths: Paths
    trust: TrustStore | None
    verdicts: Mapping[str, TrustVerdict]
    #: What the user has switched off by hand, for good or for a while.
    switches: Switches
    #: Hooks of this project that were trusted and are no longer written anywhere: a guard may have been removed.
    missing: tuple[Approval, ...] = ()
    #: What the project's files hold besides hooks, with what trust says of it.
    contents: tuple[tuple[HookSpec, TrustVerdict], ...] = ()
    #: What of the project is not approved, and so has no effect.
    unapproved: tuple[Unapproved, ...] = ()
    #: The command that shows it to the person who is to approve it.
    review: str = "hookline trust"
    #: A line for each file whose guards stay in force as they were deployed, because it was changed since.
    held: tuple[str, ...] = ()
    #: Event, agent and given limit -> seconds until an answer is due, as far as it was asked.
    answer_seconds: dict[tuple[str, str, float], float] = field(default_factory=dict)


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
    #: The project in ``cwd`` itself, though only one around it is approved: its owner is about to approve it.
    inner: bool = False
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


def load_runtime(sources: Sources, stores: StoreOptions = _KEEP_ALL, *, reuse: bool = False) -> Runtime:
    """Find the hooks and make an engine of them. ``reuse``: as the process before found them, while all is as it was."""
    place = _place(sources)
    judged = _find(place, sources, reuse=reuse)
    loaded = _with_policy(judged.loaded, place, sources)
    packs = _pack_files(loaded, place, judged.store, sources)
    loaded = _with_plugins(loaded, judged.verdicts, place.environ, packs)
    specs = judged.standing(loaded.specs)
    if not sources.inspect:
        loaded = replace(loaded, specs=specs)
    switches = switches_at(place.paths.state)
    blocks = _blocks(judged, loaded, place, sources, switches=switches, packs=packs)
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
        held=judged.held,
    )


def _blocks(
    judged: Found | Restored, loaded: Loaded, place: Place, sources: Sources, *, switches: Switches, packs: _PackFiles | None
) -> HookBlocks:  # fmt: skip
    return HookBlocks(
        verdicts=judged.verdicts,
        store=judged.store,
        removed=judged.gone,
        show=_trust_command(sources),
        agent_runs=_agent_runs(loaded, place, sources),
        disabled=switches,
        inside_agent=inside_agent(place.environ, agents_door=sources.agents_door),
        packs=packs,
        faulty=loaded.faulty if judged.gone else (),
    )


def _find(place: Place, sources: Sources, *, reuse: bool) -> Found | Restored:
    if not reuse:
        from hookline.engine.load import find_hooks

        return find_hooks(place, sources)
    from hookline.engine.snapshot import find_and_keep, restore

    restored = restore(place, sources)
    if restored is not None:
        return restored
    from hookline.engine.load import find_hooks

    return find_and_keep(place, sources, find_hooks)


def _with_policy(loaded: Loaded, place: Place, sources: Sources) -> Loaded:
    """The hooks of the machine's owner, wherever a person's are looked up, and at every call of an agent. They are read
    anew each time: a snapshot lies with the person."""
    folder = place.paths.policy
    note(folder)
    if sources.config and not sources.agents_door:
        return loaded
    try:
        os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return loaded
    except OSError:
        pass  # one that we may not even see is one that cannot be used, and that is said below
    from hookline.config.discover import lookup_for  # most machines have no policy
    from hookline.config.managed import load_managed, with_managed

    environ = place.environ if sources.lookup is None else sources.lookup
    lookup = lookup_for(cwd=place.cwd, home=place.home, environ=environ, paths=place.paths)
    return with_managed(loaded, load_managed(lookup, place.paths, loaded.settings))


#: The files of a pack, by its digest; None where nobody approved it.
_PackFiles: TypeAlias = Callable[[str], "CoveredFiles | None"]


def _pack_files(loaded: Loaded, place: Place, store: TrustStore | None, sources: Sources) -> _PackFiles | None:
    """The files of each pack, read when the first of its hooks is about to run."""
    if not any("pack" in spec.extra for spec in loaded.specs):
        return None
    from hookline.engine.load import trust_store  # most configurations have no pack
    from hookline.packs.store import PackStore

    packs = PackStore(place.paths)
    known: dict[str, CoveredFiles | None] = {}
    approvals = store or trust_store(place.paths, place.cwd, place.home, place.environ)

    def files(digest: str) -> CoveredFiles | None:
        if digest not in known:
            cover = packs.cover(digest)
            if cover is None and (sources.config or sources.trust_all):
                cover = packs.published_cover(digest)
            known[digest] = None if cover is None else approvals.watch_files(cover, packs.folder(digest))
        return known[digest]

    return files


def _agent_runs(loaded: Loaded, place: Place, sources: Sources) -> Mapping[str, Blocked]:
    asker = _asker(sources)
    return block_agents_own(asker, loaded.specs, place.cwd, place.home, place.environ) if asker else {}


def _asker(sources: Sources) -> str:
    """The agent that calls and runs the hooks of its own files itself; "" where files or a dialect were named."""
    if sources.config or sources.dialect:
        return ""
    return sources.asked_by or (sources.agent if sources.agents_door else "")


def _without_agents_own(unapproved: Sequence[Unapproved], place: Place, sources: Sources) -> tuple[Unapproved, ...]:
    """The calling agent asks about its own files itself."""
    asker = _asker(sources) if unapproved else ""
    if not asker:
        return tuple(unapproved)
    _user, theirs = agent_files(asker, place.cwd, place.home, place.environ)
    return tuple(one for one in unapproved if os.path.realpath(one.file) not in theirs)


# ── where ────────────────────────────────────────────────────────────────────────────────────────────


class Place:
    """Where hooks are looked up, and by whose variables."""

    # No dataclass, as ``Found``: those are written out at their first use, and a cold run uses these two once.
    __slots__ = ("cwd", "environ", "home", "paths")

    def __init__(self, cwd: str, home: str, environ: Mapping[str, str], paths: Paths) -> None:
        self.cwd = cwd
        self.home = home
        self.environ = environ
        self.paths = paths

    def root(self) -> str:
        return project_root(self.cwd, self.home)


def _place(sources: Sources) -> Place:
    environ = dict(os.environ) if sources.environ is None else sources.environ
    home = sources.home or home_directory(environ)
    return Place(
        cwd=os.path.abspath(sources.cwd if sources.cwd is not None else os.getcwd()),
        home=home,
        environ=environ,
        paths=sources.paths or find_paths(environ, home),
    )


def _with_plugins(
    loaded: Loaded, verdicts: Mapping[str, TrustVerdict], environ: Mapping[str, str], packs: _PackFiles | None
) -> Loaded:
    """Plugins say in their handshake which events they hook: those that may run are asked."""
    if not any(spec.extra.get("unexpanded") for spec in loaded.specs):
        return loaded
    from hookline.engine.plugins import register_plugins  # most configurations have no plugin

    def is_changed(pack: str) -> bool:
        files = packs(pack) if packs is not None else None
        return files is None or bool(files.check())

    return register_plugins(loaded, verdicts, environ, is_changed)


def _trust_command(sources: Sources) -> Callable[[HookSpec], str]:
    """The command that shows a hook: the files of another dialect are read only where it is named."""
    named = {spec.id: spec.dialect for spec in sources.more}

    return lambda spec: _review_command(sources.dialect or named.get(spec.id))


def _review_command(dialect: str | None) -> str:
    return f"hookline trust --dialect {dialect}" if dialect not in {None, "native"} else "hookline trust"


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────


def record_store(paths: Paths, settings: RecordSettings, *, brief: bool = False) -> Store:
    """The file that every firing is kept in, whoever fires it. ``brief`` is for a process that fires once."""
    from hookline.state.record.store import store_in  # only who records pays for SQLite

    return store_in(paths.state, settings, brief=brief)


def _stores(place: Place, loaded: Loaded, stores: StoreOptions) -> dict[str, Any]:
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
