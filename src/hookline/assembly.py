"""An engine from what lies on disk: configuration, trust, sessions and the record, put together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hookline.config import load
from hookline.config.discover import project_root
from hookline.dataclass import dataclass, replace
from hookline.dialects.base import FOREIGN
from hookline.edited import as_trusted, taken_out
from hookline.engine import Engine
from hookline.own_files import run_by
from hookline.paths import Paths, paths_of
from hookline.spec import AgentRun, Command, Function, Prompt
from hookline.switches import switches_at, why

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hookline.config import Loaded
    from hookline.engine import Barred
    from hookline.record.store import Store
    from hookline.settings import RecordSettings
    from hookline.spec import HookSpec
    from hookline.switches import Switches
    from hookline.trust import Approval, TrustStore, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
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
) -> Assembly:
    """Find the hooks of ``cwd`` (or exactly those of ``config``) and make an engine of them.

    ``record`` keeps every firing in the state directory; ``sessions`` keeps turns and claims there too, for
    separate processes that share a session. Files named in ``config`` are trusted by that. At the ``agents_door`` a
    variable cannot switch hooks off, except those that ask a model. ``more`` are hooks that the caller has read itself
    (a conversation's); ``as_approved`` are those of them that trust knows in another form, under the same ids.
    ``asked_by`` is the agent whose own hooks are left to it: without files or a dialect that were named on purpose, the
    one at its door. ``adjust`` gives every hook what the caller's place asks of it, such as a shorter deadline, after trust has judged.
    """
    here = os.path.abspath(cwd if cwd is not None else os.getcwd())
    around = dict(os.environ) if environ is None else environ
    at_home = home or around.get("HOME") or os.path.expanduser("~")
    places = paths or paths_of(around, at_home)
    loaded = load(
        cwd=here,
        home=at_home,
        environ=around,
        paths=places,
        files=[os.path.abspath(os.fspath(file)) for file in config] if config else None,
        dialect=dialect,
    )
    loaded = replace(loaded, settings=replace(loaded.settings, state_dir=places.state))
    if more:
        read = {(spec.dialect, spec.origin.file) for spec in more}
        rest = tuple(spec for spec in loaded.specs if (spec.dialect, spec.origin.file) not in read)
        loaded = replace(loaded, specs=(*rest, *more))
    foreign = () if trust_all or config else tuple(spec for spec in loaded.specs if spec.origin.layer in FOREIGN)
    store = trust_store(places, here, at_home, around, dialect) if foreign or not config else None
    known = {spec.id: spec for spec in as_approved}
    judged = [known.get(spec.id, spec) for spec in foreign]
    judgement = store.judge(judged) if store is not None and not trust_all else None
    verdicts = dict(zip((spec.id for spec in foreign), judgement.verdicts, strict=True)) if judgement else {}
    loaded = _with_plugins(loaded, verdicts, around)
    gone = [spec for approval in judgement.missing if (spec := taken_out(approval))] if judgement else []
    switches = switches_at(places.state)
    asker = "" if config or dialect else asked_by or (agent if agents_door else "")
    theirs = run_by(asker, loaded.specs, here, at_home, around) if asker else {}
    specs = (*gone, *_standing(loaded.specs, verdicts)) if judgement else loaded.specs
    engine = Engine(
        specs=specs if adjust is None else tuple(map(adjust, specs)),
        settings=loaded.settings,
        problems=loaded.problems,
        cwd=here,
        agent=agent,
        environ=around,
        live=live,
        misplaced=_misplaced(verdicts, project_root(here, at_home)) if verdicts else None,
        barred=_silenced(
            _switched(_left(bar(verdicts, store, _look(dialect), gone), theirs), switches),
            around,
            agents_door=agents_door,
        ),
        **_stores(places, loaded, around, record=record, sessions=sessions, live=live),
    )
    return Assembly(
        engine=engine,
        loaded=loaded,
        paths=places,
        trust=store,
        verdicts=verdicts,
        switches=switches,
        missing=judgement.missing if judgement else (),
    )


def _look(dialect: str | None) -> str:
    """Another system's own places are not looked at unless it is named."""
    return f"hookline trust --dialect {dialect}" if dialect and dialect != "native" else "hookline trust"


def trust_store(
    paths: Paths, cwd: str, home: str, environ: Mapping[str, str], dialect: str | None = None
) -> TrustStore:
    from hookline.trust import TrustStore as Approvals  # noqa: PLC0415  files named on the command line need none

    root = project_root(cwd, home)
    look = f"{dialect or 'native'} {root}"
    return Approvals(os.path.join(paths.state, "trust.json"), root=root, look=look, environ=environ)


def _standing(specs: Sequence[HookSpec], verdicts: Mapping[str, Verdict]) -> tuple[HookSpec, ...]:
    """What a project changes counts only once it is trusted, turning off a guard above all: of one's own hooks, the
    own version stands; a hook of the project's that was trusted stands as one that failed."""

    def standing(spec: HookSpec) -> HookSpec:
        verdict = verdicts.get(spec.id)
        if verdict is not None and verdict.state == "trusted":
            return spec
        if spec.below is not None:
            return spec.below
        return spec if verdict is None else as_trusted(spec, verdict)

    return tuple(map(standing, specs))


def bar(
    verdicts: Mapping[str, Verdict],
    store: TrustStore | None,
    look: str = "hookline trust",
    gone: Sequence[HookSpec] = (),
) -> Callable[[HookSpec], Barred | None]:
    """A hook that was never trusted does not run; one that changed since counts as failed.

    Otherwise an agent could switch off a guard by editing it. ``look`` is the command that shows these hooks.
    """

    no_more = {spec.id for spec in gone}

    def barred(spec: HookSpec) -> Barred | None:
        if spec.id in no_more:
            return f"was trusted and is gone from {spec.origin.file}; look at it with: {look}", True
        # What stands in for a change that is not trusted has the identity of the change, and is one's own.
        if spec.origin.layer not in FOREIGN:
            return None
        # A plugin's hooks are approved with the plugin that registered them.
        verdict = verdicts.get(spec.extra.get("plugin", spec.id))
        if verdict is None:
            return None
        if verdict.state == "unknown" and store is not None and store.note:
            return store.note, True  # it may have been trusted: what must hold does not give way to a bad disk
        if verdict.state == "unknown":
            return f"not trusted yet; look at it with: {look}", False
        changed = verdict.changed or (() if store is None or store.still_valid(verdict.pins) else ("its files",))
        if changed:
            return f"changed since it was trusted ({', '.join(changed)}); look at it with: {look}", True
        return None

    return barred


def _misplaced(verdicts: Mapping[str, Verdict], root: str) -> Callable[[HookSpec, str], Barred | None]:
    """A hook's relative words mean files of the directory it runs in; those must be the files that were approved.

    Otherwise a second guard.sh, in a directory the agent works in, would run under the name of the first.
    """

    def misplaced(spec: HookSpec, cwd: str) -> Barred | None:
        verdict = verdicts.get(spec.id)
        if verdict is None or cwd == root:
            return None
        for path, _digest in verdict.pins.files:
            other = os.path.join(cwd, path)
            if not _found_from_the_root(spec, path) and os.path.lexists(other) and not _same(other, root, path):
                return (
                    f"{path} means another file in {cwd} than the one that was trusted; call it by its full path",
                    True,
                )
        return None

    return misplaced


def _found_from_the_root(spec: HookSpec, path: str) -> bool:
    """Our own ``run`` looks its program up in the project's root, and Python modules in their base, wherever it runs."""
    action = spec.action
    if isinstance(action, Command) and action.form == "argv" and spec.dialect == "native":
        return os.path.normpath(action.argv[0]) == path
    return isinstance(action, Function)


def _same(other: str, root: str, path: str) -> bool:
    return os.path.realpath(other) == os.path.realpath(os.path.join(root, path))


def _left(
    barred: Callable[[HookSpec], Barred | None], theirs: Mapping[str, str]
) -> Callable[[HookSpec], Barred | None]:
    """What the agent runs itself is left to it; a guard that was changed fails first, as with switches."""
    if not theirs:
        return barred

    def left(spec: HookSpec) -> Barred | None:
        foreign = barred(spec)
        return (theirs[spec.id], False) if spec.id in theirs and not (foreign and foreign[1]) else foreign

    return left


def _switched(barred: Callable[[HookSpec], Barred | None], switches: Switches) -> Callable[[HookSpec], Barred | None]:
    """What a person has switched off does not run. A guard that was changed behind their back still fails first:
    otherwise it could be given the name of a hook that is switched off."""

    def either(spec: HookSpec) -> Barred | None:
        foreign = barred(spec)
        if foreign is not None and foreign[1]:
            return foreign
        switch = switches.off(spec)
        return foreign if switch is None else (why(switch, switches.clock()), False)

    return either


def _silenced(
    barred: Callable[[HookSpec], Barred | None], environ: Mapping[str, str], *, agents_door: bool
) -> Callable[[HookSpec], Barred | None]:
    """Inside a hook's own agent no hooks run, or agents would ask agents without end.

    At the agents' door a repository's settings could set the variable to switch off a guard; there it holds back only
    the hooks that ask a model.
    """
    if environ.get("HOOKLINE_NO_HOOKS") != "1":
        return barred

    def silenced(spec: HookSpec) -> Barred | None:
        if agents_door and not isinstance(spec.action, (AgentRun, Prompt)):
            return barred(spec)
        return "hooks are off inside a hook's own agent (HOOKLINE_NO_HOOKS)", False

    return silenced


def _with_plugins(loaded: Loaded, verdicts: Mapping[str, Verdict], environ: Mapping[str, str]) -> Loaded:
    """Plugins say in their handshake which events they hook: those that may run are asked."""
    if not any(spec.extra.get("unexpanded") for spec in loaded.specs):
        return loaded
    from hookline.plugins import expanded  # noqa: PLC0415  most configurations have no plugin

    return expanded(loaded, verdicts, environ)


def record_store(paths: Paths, settings: RecordSettings, *, brief: bool = False) -> Store:
    """The file that every firing is kept in, whoever fires it. ``brief`` is for a process that fires once."""
    from hookline.record.store import store_in  # noqa: PLC0415  only who records pays for SQLite

    return store_in(paths.state, settings, brief=brief)


def _stores(
    paths: Paths, loaded: Loaded, environ: Mapping[str, str], *, record: bool, sessions: bool, live: bool
) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    settings = loaded.settings.record
    if record and settings.enabled and live:
        from hookline.record.journal import journaled  # noqa: PLC0415  only who stays gathers records

        chosen["recorder"] = journaled(paths.state, settings)
    elif record and settings.enabled:
        chosen["recorder"] = record_store(paths, settings, brief=True)
    if sessions:
        from hookline.record.redact import Redactor  # noqa: PLC0415  only who shares a session needs them
        from hookline.session.stored import StoredSessions  # noqa: PLC0415

        clean = Redactor(environ, settings.redact).text
        chosen["sessions"] = StoredSessions(os.path.join(paths.state, "sessions.db"), clean=clean, brief=not live)
    return chosen
