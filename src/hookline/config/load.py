"""From files to hooks: every hook that can be loaded, in declared order, and every problem with its address."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from hookline.config.discover import is_inside_project, lazy_places, lookup_for, native_places
from hookline.config.layers import LayerLoader, ProjectGate, our_bug, own_layers
from hookline.core._dataclass import replace
from hookline.core.errors import UsageError
from hookline.core.event import GUARDED
from hookline.core.files import note
from hookline.core.hook import AgentRun, HookSpec, Prompt
from hookline.core.loaded import Loaded
from hookline.core.paths import Paths
from hookline.core.problem import Problem
from hookline.core.settings import Settings
from hookline.core.typed import Any
from hookline.dialects import ALIASES, DIALECTS, dialect_named
from hookline.dialects.base import FOREIGN, ConfigPlace, Dialect, Layer, Lookup, Syntax
from hookline.dialects.native.sources import SourceTable

COMMAND_LINE = "command line"
_NATIVE = "native"
_LAZY = "lazy"
_DEEPEST_SOURCE = 8
_NAME_IT = "name its dialect with --dialect: "


def load(
    *,
    cwd: str,
    home: str,
    environ: Mapping[str, str],
    paths: Paths,
    files: Sequence[str] | None = None,
    dialect: str | None = None,
    gate: ProjectGate | None = None,
) -> Loaded:
    """Named files and nothing else; or one system's own places; or our layers with the sources they name.

    ``gate`` decides what of a project's files is read and counts; without it, the caller trusts them. Never raises on a file. An unknown ``dialect`` is the caller's mistake: ``UsageError``.
    """
    speaker = dialect_named(dialect) if dialect else None
    reading = LayerLoader(
        lookup=lookup_for(cwd=cwd, home=home, environ=environ, paths=paths), gate=gate or ProjectGate(), paths=paths
    )
    if files is not None:
        return _finished(reading, *_named_files(reading, files, speaker, cwd), paths)
    if speaker and speaker.name != _NATIVE:
        return _finished(reading, _own_places(reading, speaker), (), paths)
    layers = reading.load_layers(native_places(cwd, home, paths), _NATIVE)
    own = load_native(reading, layers)
    return _finished(reading, (*own, *_lazy(reading, layers, paths, own)), layers, paths)


def _lazy(reading: LayerLoader, layers: Sequence[Layer], paths: Paths, own: Sequence[HookSpec]) -> tuple[HookSpec, ...]:
    """``[hooks.EVENT]`` of lazy-harness's file, as if it were named. A source of that dialect in the person's own files
    takes its place, also one that is switched off; no project can take it away."""
    if any(_names_lazy(layer.tree) for layer in layers if layer.name not in FOREIGN):
        return ()
    lookup = reading.lookup
    layer = lazy_layer(reading, lazy_places(lookup.home, lookup.environ, paths, lookup.project))
    known = {spec.id for spec in own}
    found = reading.parsed(dialect_named(_LAZY), [layer]) if layer else ()
    return tuple(spec for spec in found if spec.id not in known)


def lazy_layer(reading: LayerLoader, places: Sequence[ConfigPlace]) -> Layer | None:
    """The first that is there; those before it are noted as missing, so that a watcher sees them come."""
    for place in places:
        layer = reading.layer(place.path, place.layer, place.syntax, _LAZY, required=False)
        if layer or reading.sources[-1].found:
            return layer
    return None


def _names_lazy(tree: Any) -> bool:
    sources = tree.get("source") if isinstance(tree, dict) else None
    tables = [one for one in sources if isinstance(one, dict)] if isinstance(sources, list) else []
    return any(ALIASES.get(name := str(one.get("dialect")), name) == _LAZY for one in tables)


def _finished(reading: LayerLoader, specs: Sequence[HookSpec], layers: Sequence[Layer], paths: Paths) -> Loaded:
    from hookline.dialects.native.settings import read_settings

    settings, problems = read_settings(layers, counts=reading.gate.counts)
    if reading.models or any(isinstance(spec.action, Prompt | AgentRun) for spec in specs):
        own = settings if layers and layers[0].name != COMMAND_LINE else _own_settings(reading.lookup, paths)
        models = {**reading.models, **own.models, **settings.models}
        settings = replace(settings, models=models, mcp={**own.mcp, **settings.mcp})
    found = (*reading.problems, *problems)
    return Loaded(
        specs=tuple(specs),
        problems=tuple(one for one in found if one.code != "unknown-tool" or one.name not in settings.mcp),
        settings=replace(settings, state_dir=paths.state),
        sources=tuple(reading.sources),
        contents=tuple(reading.gate.contents.values()),
    )


def _own_settings(lookup: Lookup, paths: Paths) -> Settings:
    """The models and servers of the person, which hooks of every dialect may name, however they were loaded."""
    from hookline.dialects.native.settings import read_settings

    places = [one for one in native_places(lookup.cwd, lookup.home, paths) if one.layer not in FOREIGN]
    return read_settings(LayerLoader(lookup=lookup).load_layers(places, _NATIVE))[0]


def _named_files(
    reading: LayerLoader, files: Sequence[str], speaker: Dialect | None, cwd: str
) -> tuple[Sequence[HookSpec], Sequence[Layer]]:
    """Files that somebody named: all of the named dialect, or each of the one that its name tells."""
    together: dict[str, list[str]] = {}
    for file in files:
        path = os.path.normpath(_from_home(reading.lookup.home, cwd, file))
        together.setdefault(speaker.name if speaker else _detected(reading, path), []).append(path)
    specs, native = list[HookSpec](), tuple[Layer, ...]()
    for name, paths in together.items():
        theirs = dialect_named(name or _NATIVE)
        places = [ConfigPlace(path=path, layer=COMMAND_LINE, syntax=syntax_for(theirs, path)) for path in paths]
        layers = reading.load_layers(places, theirs.name, required=True) if name else ()
        if theirs.name == _NATIVE:
            native = (*native, *layers)
            specs += load_native(reading, layers)
        else:
            specs += _rooted(reading, layers, reading.parsed(theirs, reading.with_includes(theirs, layers)))
    return specs, native


def _rooted(reading: LayerLoader, layers: Sequence[Layer], specs: tuple[HookSpec, ...]) -> tuple[HookSpec, ...]:
    """A plugin's file that was named alone."""
    if not any("PLUGIN_ROOT" in layer.text or "extensionPath" in layer.text for layer in layers):
        return specs
    from hookline.config.packs import with_plugin_root

    return with_plugin_root(reading, layers, specs)


def _detected(reading: LayerLoader, path: str) -> str:
    """The dialect of a named file; "", with a problem, if its name does not tell."""
    from hookline.config.detect import dialect_of_file  # a registration names no file

    lookup = reading.lookup
    if os.path.basename(path) == "hooks.json":
        from hookline.dialects.plugins import plugin_dialect

        if name := plugin_dialect(path, os.path.exists):
            return name
    if os.path.isdir(path):
        reading.problems.append(Problem(file=path, finding="this is a directory, not a file", fix="name a file in it"))
        return ""
    if not (name := dialect_of_file(path, lookup.home, lookup.environ)):
        reading.problems.append(Problem(file=path, finding="unknown format", fix=_NAME_IT + ", ".join(DIALECTS)))
    return name


def _from_home(home: str, cwd: str, file: str) -> str:
    # The shell does this only where the path begins its word, so --config=~/x arrives as it was typed.
    return os.path.join(home, file[2:]) if file.startswith("~/") else os.path.join(cwd, file)


def syntax_for(speaker: Dialect, file: str) -> Syntax:
    """A dialect has one syntax, except that Lectic's YAML also stands at the top of a conversation."""
    return "lec" if speaker.syntax == "yaml" and file.endswith((".lec", ".md")) else speaker.syntax


def _own_places(reading: LayerLoader, speaker: Dialect) -> tuple[HookSpec, ...]:
    lookup = reading.lookup
    try:
        places = speaker.places(lookup.cwd, lookup.home, lookup.environ)
    except Exception as error:
        reading.problems.append(our_bug(lookup.cwd, speaker.name, error))
        return ()
    layers = reading.load_layers([_relabel(place, lookup) for place in places], speaker.name)
    return reading.parsed(speaker, reading.with_includes(speaker, layers))


def _relabel(place: ConfigPlace, lookup: Lookup) -> ConfigPlace:
    """The person's own files lie outside the project. An agent's settings in a repository can set the variable that
    says where they are, so one inside it is the project's, whatever it is called."""
    own = place.layer not in FOREIGN
    inside = own and is_inside_project(place.path, lookup.project, lookup.home)
    return replace(place, layer="project") if inside else place


# ── our own layers and their sources ─────────────────────────────────────────────────────────────────


def load_native(reading: LayerLoader, layers: Sequence[Layer], trail: tuple[str, ...] = ()) -> tuple[HookSpec, ...]:
    """The hooks of files of ours, with those of the sources and packs that they name. Hooks of a source stand where its table stands among the hooks of the file that names it."""
    # Imported here: another dialect's places are read without them.
    from hookline.dialects.native.config import place
    from hookline.dialects.native.sources import parse_sources

    try:
        placed, problems = place(layers, reading.lookup)
    except Exception as error:
        reading.problems.append(our_bug(layers[-1].path if layers else "", _NATIVE, error))
        own = own_layers(layers)
        return load_native(reading, own, trail) if len(own) < len(layers) else ()
    reading.problems += problems
    ranked: list[tuple[int, int, HookSpec]] = [(one.layer, one.line, one.spec) for one in placed]
    for rank, layer in enumerate(layers):
        if isinstance(layer.tree.get("hooks"), dict):
            named = reading.parsed(dialect_named(_LAZY), [layer])
            ranked += [(rank, layer.line("$.hooks"), spec) for spec in named]
        if "source" not in layer.tree:
            continue
        sources, problems = parse_sources(layer, reading.lookup.home)
        reading.problems += problems
        for source in sources if reading.gate.follows(layer) else ():
            specs = _source(reading, source, (*trail, os.path.realpath(layer.path)))
            specs = tuple(map(_hardened, specs)) if source.fail_closed else specs
            ranked += [(rank, source.where.line, spec) for spec in specs if _may_name(reading, layer, spec)]
    ranked += _packs(reading, layers, trail)
    return tuple(spec for _, _, spec in sorted(ranked, key=lambda one: one[:2]))


def _packs(reading: LayerLoader, layers: Sequence[Layer], trail: tuple[str, ...]) -> list[tuple[int, int, HookSpec]]:
    """Only the files of ours that are found without being named by another name packs."""
    paths = reading.paths
    named = [layer for layer in layers if "pack" in layer.tree]
    if trail or paths is None:
        where = (layer.origin("$.pack") for layer in named if trail)
        reading.problems += (
            one.problem("a file that a source names cannot name packs", "move it to your hookline.toml")
            for one in where
        )
        return []
    kept = [os.path.join(paths.state, name) for name in ("packs.json", "packs")]
    for one in kept:
        note(one)
    if not named and not any(map(os.path.exists, kept)):
        return []
    from hookline.config.packs import load_packs

    return list(load_packs(reading, layers, paths))


def _hardened(spec: HookSpec) -> HookSpec:
    """``[[source]] on_failure = "deny"``: where the hook is waited for and can refuse, its failure does so too."""
    waits = spec.mode == "sync" and spec.event in GUARDED and spec.on_failure == "ignore"
    return replace(spec, on_failure="deny") if waits else spec


def parse_native(reading: LayerLoader, layer: Layer) -> tuple[HookSpec, ...]:
    """The hooks that one file of ours defines itself."""
    from hookline.dialects.native.config import place

    placed, _ = place([layer], reading.lookup)
    return tuple(one.spec for one in placed)


def _may_name(reading: LayerLoader, layer: Layer, spec: HookSpec) -> bool:
    """A project that is not approved decides nothing about a hook of one's own, not even that it runs here."""
    return spec.origin.layer in FOREIGN or reading.gate.counts(layer)


def _source(reading: LayerLoader, source: SourceTable, trail: tuple[str, ...]) -> tuple[HookSpec, ...]:
    if source.installed:
        from hookline.config.packs import load_plugin_hooks

        return load_plugin_hooks(reading, source)
    try:
        speaker = dialect_named(source.dialect)
    except UsageError as error:
        reading.problems.append(source.where.at("dialect").problem(str(error), "name one of these"))
        return ()
    except Exception as error:
        reading.problems.append(our_bug(source.where.layer.path, source.dialect, error))
        return ()
    if not source.paths:
        return _placeless(reading, source, speaker)
    found = [_existing(candidates) for candidates in source.paths]
    if speaker.name == _NATIVE and not _may_follow(reading, source, found, trail):
        return ()
    layers = [_named_layer(reading, source, speaker, path) for path in found]
    good = [layer for layer in layers if layer]
    if speaker.name == _NATIVE:
        return load_native(reading, good, trail)
    return reading.parsed(speaker, reading.with_includes(speaker, good))


def _placeless(reading: LayerLoader, source: SourceTable, speaker: Dialect) -> tuple[HookSpec, ...]:
    if speaker.name == _NATIVE:
        reading.problems.append(source.where.problem("a native source needs a path", 'add path = "more.toml"'))
        return ()
    return _own_places(reading, speaker)


def _existing(candidates: tuple[str, ...]) -> str:
    return next((path for path in candidates if os.path.lexists(path)), candidates[0])


def _named_layer(reading: LayerLoader, source: SourceTable, speaker: Dialect, path: str) -> Layer | None:
    """A file that a source names must be there; the problem points at the line that names it."""
    before = len(reading.problems)
    layer = reading.layer(path, source.where.layer.name, syntax_for(speaker, path), speaker.name, required=True)
    if layer is None and not os.path.lexists(path):
        del reading.problems[before:]
        fix = "create it, correct the path, or take the source out"
        reading.problems.append(source.where.at("path").problem(f"there is no such file: {path}", fix))
    return layer


def _may_follow(reading: LayerLoader, source: SourceTable, found: Sequence[str], trail: tuple[str, ...]) -> bool:
    real = [os.path.realpath(path) for path in found]
    if any(path in trail for path in real):
        reading.problems.append(source.where.problem("this source leads back to this file", "take it out"))
        return False
    if len(trail) > _DEEPEST_SOURCE:
        reading.problems.append(source.where.problem("sources of sources go too deep", "name the files directly"))
        return False
    if not reading.followed.isdisjoint(real):
        finding = "another source has named this file already"
        reading.problems.append(source.where.problem(finding, "take this one out", "warning"))
        return False
    reading.followed.update(real)
    return True
