"""The hooks that count in a place, read from the files: configuration, one's own guards as deployed, and trust."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hookline.core._dataclass import replace
from hookline.core.code_variables import is_inside
from hookline.core.files import note
from hookline.core.hook import HookSpec
from hookline.core.loaded import Loaded, SourceFile, Unapproved
from hookline.core.paths import FILE, FOLDER, LOCAL, OWN_GUARDS, Paths, find_paths, project_root, upwards
from hookline.core.problem import Problem
from hookline.core.typed import TYPE_CHECKING
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN
from hookline.engine.eligibility import stand_in_for_changed, stand_in_for_removed
from hookline.state.trust import Approval, TrustStore, TrustVerdict

if TYPE_CHECKING:
    from hookline.config.layers import ProjectGate
    from hookline.engine.build import Place, Runtime, Sources


def find_hooks(place: Place, sources: Sources) -> Found:
    """Read the files, and ask what of them is approved."""
    given = place.cwd
    store = None if sources.config else _approvals(place, sources)
    loaded = _loaded(place, sources, store)
    if place.cwd != given:
        loaded = replace(loaded, sources=(*loaded.sources, *_inner_files(given, place, sources, loaded)))
    loaded, held = _with_kept_guards(loaded, place, sources)
    found = _judge(loaded, place, store, sources)
    found.held = held
    return found


def judge_loaded(loaded: Loaded, place: Place, sources: Sources) -> Found:
    """The same for files that were read before and have not changed since."""
    return _judge(loaded, place, None if sources.config else _approvals(place, sources), sources)


_RESTORE = "in a terminal of your own: hookline deploy"


def _with_kept_guards(loaded: Loaded, place: Place, sources: Sources) -> tuple[Loaded, tuple[str, ...]]:
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


# ── which hooks ──────────────────────────────────────────────────────────────────────────────────────


def _gate(store: TrustStore | None, sources: Sources) -> ProjectGate:
    from hookline.config.layers import ProjectGate

    if store is None or sources.trust_all:  # the caller has named the files, or trusts them all
        return ProjectGate("open")
    return ProjectGate("inspect" if sources.inspect else "approved", store)


def _loaded(place: Place, sources: Sources, store: TrustStore | None) -> Loaded:
    """A file that the caller has read itself counts as the caller has read it."""
    from hookline.config.load import load

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


def _inner_files(cwd: str, place: Place, sources: Sources, loaded: Loaded) -> Iterator[SourceFile]:
    """What a project inside the approved one has: nobody has approved it, so it has no effect, and its owner must know."""
    from hookline.config.discover import native_places

    dialect, environ = sources.dialect or "native", place.environ if sources.lookup is None else sources.lookup
    own = dialect == "native"
    places = (
        native_places(cwd, place.home, place.paths) if own else dialect_named(dialect).places(cwd, place.home, environ)
    )
    for folder in upwards(cwd, place.cwd):  # one that is written later counts as soon
        note(os.path.join(folder, FOLDER, FILE))
        note(os.path.join(folder, FOLDER, LOCAL))
    read = {source.path for source in loaded.sources}
    for one in places:
        if one.layer in FOREIGN and one.path not in read and os.path.isfile(one.path):
            yield SourceFile(path=one.path, layer=one.layer, dialect=dialect, found=True, inert=True)


def _unused_home(given: str, place: Place, sources: Sources) -> list[Problem]:
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


# ── trust ────────────────────────────────────────────────────────────────────────────────────────────


class Found:
    """What was loaded, and what trust says of what a project brought along; without a judgement all of it stands."""

    __slots__ = ("contents", "gone", "held", "inspect", "loaded", "missing", "store", "unapproved", "verdicts")

    def __init__(self, loaded: Loaded, store: TrustStore | None, *, inspect: bool = False) -> None:
        self.loaded = loaded
        #: A line for each file whose guards stay in force as they were deployed.
        self.held: tuple[str, ...] = ()
        self.store = store
        self.inspect = inspect
        #: By the hooks' ids.
        self.verdicts: Mapping[str, TrustVerdict] = {}
        self.missing: tuple[Approval, ...] = ()
        #: Stand-ins for guards that were trusted and taken out since.
        self.gone: tuple[HookSpec, ...] = ()
        self.contents: tuple[tuple[HookSpec, TrustVerdict], ...] = ()
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

    @property
    def is_plain(self) -> bool:
        """All is as it should be, and depends on no file but those that were read: it may be kept for the next process."""
        loaded = self.loaded
        return not (
            self._is_unreadable
            or self.held
            or self.missing
            or self.gone
            or any(one.state == "changed" for one in self.verdicts.values())
            or any(spec.below is not None or spec.extra.get("unexpanded") for spec in loaded.specs)
            or any(problem.severity == "error" for problem in loaded.problems)
            or any(self._has_files(contents) for contents in loaded.contents)
        )

    def _has_files(self, contents: HookSpec) -> bool:
        """Whether the settings of a project's file are in force only while certain other files are as approved."""
        verdict = None if self.store is None else self.store.verdict(contents)
        covered = None if verdict is None else verdict.covered
        return covered is not None and not covered.is_empty


def _judge(loaded: Loaded, place: Place, store: TrustStore | None, sources: Sources) -> Found:
    judged = Found(loaded, store, inspect=sources.inspect)
    if store is None or sources.trust_all:
        return judged
    foreign = [spec for spec in loaded.specs if spec.origin.layer in FOREIGN]
    approved = {spec.id: spec for spec in sources.as_approved}
    judgement = store.judge([approved.get(spec.id, spec) for spec in foreign])
    judged.verdicts = {spec.id: one for spec, one in zip(foreign, judgement.verdicts, strict=True)}
    moved = () if sources.inner else store.moved_here(place.cwd, *sources.working_in)
    missing = (*judgement.missing, *moved)
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
    loaded: Loaded, foreign: Sequence[HookSpec], verdicts: Mapping[str, TrustVerdict], store: TrustStore
) -> Iterator[Unapproved]:
    yield from (Unapproved(file=source.path) for source in loaded.sources if source.inert)
    new = [spec for spec in foreign if verdicts[spec.id].state == "unknown"]
    for contents in loaded.contents:
        file = contents.origin.file
        names = tuple(dict.fromkeys(spec.name for spec in new if spec.origin.file == file))
        settings = bool(contents.extra) and not store.covers(contents)
        if names or settings or not store.knows(file):
            yield Unapproved(file=file, hooks=names, settings=settings)


def approve(runtime: Runtime, specs: Sequence[HookSpec]) -> None:
    """Approve these hooks, and what the project's files hold besides hooks. Raises ``StateError``."""
    assert runtime.trust is not None, "hooks found in a project need trust"
    contents = [spec for spec, verdict in runtime.contents if verdict.state != "trusted"]
    runtime.trust.approve([*specs, *contents])


def project_gate(paths: Paths, cwd: str, home: str, environ: Mapping[str, str]) -> ProjectGate:
    """For who reads files without making an engine of them: what is not approved is not read."""
    from hookline.config.layers import ProjectGate

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


def _approvals(place: Place, sources: Sources) -> TrustStore:
    """What is approved in the project, which is the one above where only that one has something approved."""
    others = [trust_store(one.paths, place.cwd, one.home, place.environ) for one in sources.others]
    store = trust_store(place.paths, place.cwd, place.home, place.environ, sources.dialect, others=others)
    above = "" if sources.inner else store.approved_above(place.cwd, *sources.working_in)
    if not above:
        return store
    place.cwd = above
    return _approvals(place, sources)
