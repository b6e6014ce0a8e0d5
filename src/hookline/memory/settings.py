"""The settings of the knowledge loop, with lazy-harness's documented defaults.

They come from hookline's own files and from lazy-harness's ``config.toml``; ours win. An approved project can opt out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.config.discover import lazy_places, native_places
from hookline.config.layers import LayerLoader
from hookline.config.load import lazy_layer
from hookline.core._dataclass import dataclass, empty, field, replace
from hookline.core.own_directories import surroundings
from hookline.core.paths import Paths, find_paths, project_root
from hookline.dialects.base import FOREIGN, Layer, Lookup
from hookline.engine.load import project_gate

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.problem import Problem
    from hookline.dialects.native.memory import Tables

#: The agent of our own commands. A person typed them, so their variables are trusted.
OWN_AGENT = "hookline"
_TRUSTED_ABSOLUTE = ("LH_CONFIG_DIR", "CLAUDE_CONFIG_DIR", "LCT_LEARNINGS_DIR")
_TRUSTED_OWN = ("HOOKLINE_CONFIG_DIR", "HOOKLINE_STATE_DIR", "HOOKLINE_DATA_DIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """For sessions whose directory has ``pattern`` in its path."""

    pattern: str
    profile: str
    session_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Knowledge:
    enabled: bool = True
    path: str = ""
    #: The file that sets ``path``.
    path_file: str = ""
    min_messages: int = 4
    keep_days: int = 30
    #: None: not set; empty: no rules.
    classify_rules: tuple[Rule, ...] | None = None
    sessions_subdir: str = "sessions"
    sessions_enabled: bool = True
    #: ``qmd`` indexes new notes too, if it is on PATH.
    search_engine: str = "qmd"
    #: Whether ``path`` is a git repository that we commit and merge.
    git: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompoundLoop:
    enabled: bool = False
    model: str = "claude-haiku-4-5-20251001"
    backend: str = "claude"
    backend_options: Mapping[str, Any] = field(default_factory=empty)
    min_messages: int = 4
    min_user_chars: int = 200
    debounce_seconds: float = 60.0
    reprocess_min_growth_seconds: float = 120.0
    timeout_seconds: float = 120.0
    attempts: int = 5
    learnings_subdir: str = "learnings"
    slim_handoff_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _ContextInject:
    enabled: bool = True
    max_body_chars: int = 3000
    last_session_enabled: bool = True
    #: Relevant notes that are shown; 0 for none. None are shown where ``recall`` runs: it knows the prompt.
    relevant_notes: int = 3
    #: Of what is recalled with a prompt.
    recall_tokens: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class _LazyNorth:
    enabled: bool = False
    path: str = ""
    universal_doc: str = "LazyNorth.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str
    config_dir: str = ""
    roots: tuple[str, ...] = ()
    lazynorth_doc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeLoop:
    """All settings."""

    knowledge: _Knowledge = _Knowledge()
    compound_loop: CompoundLoop = CompoundLoop()
    context_inject: _ContextInject = _ContextInject()
    lazynorth: _LazyNorth = _LazyNorth()
    profiles: tuple[Profile, ...] = ()
    default_profile: str = ""
    #: Further patterns of ``[record] redact``: a secret that is not recorded is not remembered either.
    redact: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedEnvironment:
    """The directories to use, and only the variables that can be trusted there."""

    cwd: str
    home: str
    paths: Paths
    environ: Mapping[str, str]
    #: The root of the project for configuration.
    project: str = ""


def resolve_environment(cwd: str, environ: Mapping[str, str], *, agent: str = OWN_AGENT) -> TrustedEnvironment:
    """A repository's agent settings can set variables. One that points into the project is ignored, and
    ``HOOKLINE_*_DIR`` counts only for our own commands."""
    project = project_root(cwd, environ.get("HOME", ""))
    home, xdg = surroundings(cwd, environ, project)
    if agent == OWN_AGENT:
        # Typed by the person, maybe in the home directory, which is not a project that could set anything.
        home = environ["HOME"] if os.path.isabs(environ.get("HOME", "")) else home
        xdg = {name: value for name, value in environ.items() if name.startswith("XDG_")}
        trusted = {name: environ[name] for name in (*_TRUSTED_ABSOLUTE, *_TRUSTED_OWN) if environ.get(name)}
    else:
        trusted = _outside_project(_TRUSTED_ABSOLUTE, environ, project)
    known = {**xdg, **trusted}
    return TrustedEnvironment(cwd=cwd, home=home, paths=find_paths(known, home), environ=known, project=project)


def event_environment(event: Event) -> TrustedEnvironment:
    cwd, own = event.cwd or os.getcwd(), event.directories
    if own is None:
        return resolve_environment(cwd, event.environ, agent=event.agent)
    project = project_root(cwd, own.home)
    # These say where an agent keeps its sessions, not where our files are.
    trusted = _outside_project(("CLAUDE_CONFIG_DIR", "LCT_LEARNINGS_DIR"), event.environ, project)
    known = {**own.variables(), **trusted}
    return TrustedEnvironment(cwd=cwd, home=own.home, paths=own.paths, environ=known, project=project)


def _outside_project(names: Iterable[str], environ: Mapping[str, str], project: str) -> dict[str, str]:
    """Those of the variables that name a directory outside the project."""
    root = os.path.realpath(project).rstrip("/") + "/"
    given = {name: environ[name] for name in names if os.path.isabs(environ.get(name, ""))}
    return {name: path for name, path in given.items() if not (os.path.realpath(path) + "/").startswith(root)}


def load(here: TrustedEnvironment) -> tuple[KnowledgeLoop, tuple[Problem, ...]]:
    """lazy-harness's file lowest, then machine, user, project and local. Never raises on a file."""
    from hookline.dialects.native.memory import read_knowledge  # only loading needs it

    gate = project_gate(here.paths, here.cwd, here.home, here.environ)
    reading = LayerLoader(lookup=Lookup(cwd=here.cwd, home=here.home, environ=here.environ), gate=gate)
    named = lazy_places(here.home, here.environ, here.paths, here.project)
    theirs = [layer] if (layer := lazy_layer(reading, named)) else []
    found = reading.load_layers(native_places(here.cwd, here.home, here.paths), "native")
    ours = [layer for layer in found if gate.counts(layer)]
    lower, problems = read_knowledge(theirs, lenient=True)
    upper, more = read_knowledge(ours)
    tables = {name: {**lower.get(name, {}), **upper.get(name, {})} for name in {*lower, *upper}}
    loop = _build(tables, _legacy_relevant_notes(theirs))
    knowledge = replace(loop.knowledge, path_file=_path_file([*theirs, *ours], loop.knowledge.path))
    return replace(loop, knowledge=knowledge, redact=_redact(ours)), (*reading.problems, *problems, *more)


def _path_file(layers: Sequence[Layer], path: str) -> str:
    """The file to change: the last one that sets the path."""
    for layer in reversed(layers):
        if path and _table(layer, "knowledge").get("path") == path and layer.name not in FOREIGN:
            return layer.path
    return ""


def _redact(layers: Sequence[Layer]) -> tuple[str, ...]:
    found: list[str] = []
    for layer in layers:
        patterns = _table(layer, "record").get("redact")
        found += [one for one in (patterns if isinstance(patterns, list) else [patterns]) if isinstance(one, str)]
    return tuple(dict.fromkeys(found))


def _legacy_relevant_notes(layers: Sequence[Layer]) -> int | None:
    """lazy-harness's ``qmd_suggest_*`` settings, which are our ``relevant_notes``."""
    for layer in reversed(layers):
        if table := _table(layer, "context_inject"):
            if table.get("qmd_suggest_enabled") is False:
                return 0
            most = table.get("qmd_suggest_top_k")
            return most if isinstance(most, int) and 0 <= most <= 50 else None
    return None


def _build(tables: Tables, relevant_notes: int | None = None) -> KnowledgeLoop:
    """The values of the files over the documented defaults."""
    inject = dict(tables.get("context_inject", {}))
    if relevant_notes is not None:
        inject.setdefault("relevant_notes", relevant_notes)
    knowledge = tables.get("knowledge", {})
    loop = dict(tables.get("compound_loop", {}))
    if subdir := _text(knowledge.get("learnings", {}), "subdir"):
        loop.setdefault("learnings_subdir", subdir)
    profiles = dict(tables.get("profiles", {}))
    default = profiles.pop("default", "")
    return KnowledgeLoop(
        knowledge=_knowledge(knowledge),
        compound_loop=CompoundLoop(**loop),
        context_inject=_ContextInject(**inject),
        lazynorth=_LazyNorth(**tables.get("lazynorth", {})),
        profiles=tuple(_profile(name, values) for name, values in profiles.items()),
        default_profile=default if isinstance(default, str) else "",
    )


def _profile(name: str, values: Mapping[str, Any]) -> Profile:
    return Profile(
        name=name,
        config_dir=_text(values, "config_dir"),
        roots=tuple(values.get("roots", ())),
        lazynorth_doc=_text(values, "lazynorth_doc"),
    )


def _knowledge(values: Mapping[str, Any]) -> _Knowledge:
    plain = {key: values[key] for key in ("enabled", "path", "min_messages", "keep_days", "git") if key in values}
    rules = values.get("classify_rules")
    sessions = values.get("sessions", {})
    return _Knowledge(
        **plain,
        classify_rules=None if rules is None else tuple(Rule(**rule) for rule in rules),
        sessions_subdir=_text(sessions, "subdir") or "sessions",
        sessions_enabled=sessions.get("enabled") is not False,
        search_engine=_text(values.get("search", {}), "engine") or "qmd",
    )


def _table(layer: Layer, name: str) -> Mapping[str, Any]:
    found = layer.tree.get(name) if isinstance(layer.tree, dict) else None
    return found if isinstance(found, dict) else {}


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""
