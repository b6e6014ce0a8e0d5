"""Lectic's files: where they are, what they import, and how all layers together become hooks."""

from __future__ import annotations

import os.path
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from hookline.core.problem import Problem, ProblemCode, Severity
from hookline.dialects.base import ConfigPlace, Include, Layer, Lookup, Parsed
from hookline.dialects.lectic.build import Builder
from hookline.dialects.lectic.directories import directory
from hookline.dialects.lectic.references import resolve_references
from hookline.dialects.lectic.tokens import expand
from hookline.dialects.lectic.tree import Spot, TooLargeError, YamlNode, grow, merge
from hookline.dialects.lectic.validate import tidy

_FILE = "lectic.yaml"

#: The parts of a header that can hold hooks. Everything else is Lectic's and is not looked at.
_PARTS = ("hooks", "hook_defs", "env_defs", "interlocutor", "interlocutors", "kits")


# ── where ────────────────────────────────────────────────────────────────────────────────────────────


def places(cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
    """The user's file, then the nearest ``lectic.yaml`` from ``cwd`` upwards."""
    user = os.path.join(directory("LECTIC_CONFIG", {**environ, "HOME": home}, sys.platform), _FILE)
    upwards = [os.path.join(folder, _FILE) for folder in _ancestors(cwd)]
    walk = [
        ConfigPlace(path=path, layer="project", syntax="yaml", choice="nearest")
        for path in reversed(upwards)
        if path != user
    ]
    return [ConfigPlace(path=user, layer="user", syntax="yaml"), *walk]


def _ancestors(cwd: str) -> Iterator[str]:
    folder = os.path.normpath(cwd) if cwd else ""
    while folder:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


# ── imports ──────────────────────────────────────────────────────────────────────────────────────────


def includes(layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
    """Every file that ``imports`` names, in order; what cannot be found is a problem unless optional."""
    found: list[Include] = []
    problems: list[Problem] = []
    written = layer.tree.get("imports") if isinstance(layer.tree, dict) else None
    if written is None:
        return found, problems

    def report(pointer: str, finding: str, fix: str) -> None:
        text = f"Error resolving imports in {layer.path}: {finding}"
        problems.append(Problem(file=layer.path, line=layer.line(pointer), pointer=pointer, finding=text, fix=fix))

    if not isinstance(written, list):
        report("$.imports", "imports must be a list", "write a list of paths")
        return found, problems
    for index, item in enumerate(written):
        try:
            include = _include(item, layer, lookup)
        except _ImportError as error:
            report(f"$.imports[{index}]", str(error), error.fix)
        else:
            found.extend((include,) if include else ())
    return found, problems


class _ImportError(ValueError):
    def __init__(self, finding: str, fix: str) -> None:
        super().__init__(finding)
        self.fix = fix


def _include(item: object, layer: Layer, lookup: Lookup) -> Include | None:
    entry = {"path": item} if isinstance(item, str) else item
    if not isinstance(entry, dict) or ("path" in entry) == ("plugin" in entry):
        raise _ImportError(
            "an import is a path, {path, optional} or {plugin, optional}", "write exactly one of path and plugin"
        )
    optional = entry.get("optional", False)
    target = entry.get("path", entry.get("plugin"))
    if not isinstance(target, str) or not target or not isinstance(optional, bool):
        raise _ImportError("path and plugin are texts, optional is true or false", "correct the field")
    if "plugin" in entry:
        return _plugin(target, lookup, optional=optional)
    return Include(path=_file_at(target, layer, lookup), optional=optional, syntax="yaml")


def _file_at(target: str, layer: Layer, lookup: Lookup) -> str:
    """``$VAR`` expanded, relative to the importing file; a directory means its ``lectic.yaml``."""
    named = expand(target.removeprefix("local:"), lookup.environ)
    if named.startswith("~/"):
        named = os.path.join(lookup.home, named[2:])
    path = os.path.normpath(os.path.join(os.path.dirname(layer.path), named))
    inside = os.path.join(path, _FILE)
    is_file = path.endswith((".yaml", ".yml"))
    return path if is_file or lookup.read(inside) is None else inside


def _plugin(name: str, lookup: Lookup, *, optional: bool) -> Include | None:
    """``NAME/lectic.yaml`` at any depth below LECTIC_RUNTIME, LECTIC_CONFIG or LECTIC_DATA, in that order."""
    if re.search(r"[/\\]", name) or name in {".", ".."}:
        raise _ImportError(f"plugin name {name!r} may hold no separator", "write only the plugin's name")
    for root in _plugin_roots(lookup):
        tail = os.path.join(name, _FILE)
        direct = os.path.join(root, tail)
        hits = lookup.search(root, tail) or ((direct,) if lookup.read(direct) is not None else ())
        if len(hits) > 1:
            raise _ImportError(f"plugin {name!r} is there more than once: {', '.join(hits)}", "keep one of them")
        if hits:
            return Include(path=hits[0], optional=optional, syntax="yaml")
    if optional:
        return None
    raise _ImportError(
        f"plugin {name!r} was not found", "install it below LECTIC_RUNTIME, LECTIC_CONFIG or LECTIC_DATA"
    )


def _plugin_roots(lookup: Lookup) -> Iterator[str]:
    environ = {**lookup.environ, "HOME": lookup.home or lookup.environ.get("HOME", "")}
    yield from (root for root in environ.get("LECTIC_RUNTIME", "").split(os.pathsep) if root)
    yield directory("LECTIC_CONFIG", environ, sys.platform)
    yield directory("LECTIC_DATA", environ, sys.platform)


# ── hooks ────────────────────────────────────────────────────────────────────────────────────────────


class _Reporter:
    """Collects findings and gives each the file and line of its address."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers
        self.problems: list[Problem] = []

    def __call__(
        self, at: Spot, finding: str, fix: str, severity: Severity = "error", code: ProblemCode | None = None
    ) -> None:
        layer = self._layers[at.rank]
        self.problems.append(
            Problem(
                file=layer.path,
                line=layer.line(at.pointer),
                pointer=at.pointer,
                finding=finding,
                fix=fix,
                severity=severity,
                code=code,
            )
        )


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:  # (the protocol's signature)
    """Merge, resolve, check, build: one bad hook is a problem, and all others are loaded."""
    # Each file is used once, at the lowest place it is met.
    layers = list({layer.path: layer for layer in layers}.values())
    report = _Reporter(layers)
    merged = YamlNode(value={}, at=Spot(rank=0, pointer="$"))
    for rank, layer in enumerate(layers):
        grown = _grown(layer, rank, report)
        if grown is not None:
            merged = merge(merged, tidy(grown, os.path.dirname(layer.path), report))
    specs = Builder(layers, report).specs(resolve_references(merged, report))
    return Parsed(specs=tuple(specs), problems=tuple(dict.fromkeys(report.problems)))


def _grown(layer: Layer, rank: int, report: _Reporter) -> YamlNode | None:
    if layer.tree is None:
        return None
    at = Spot(rank=rank, pointer="$")
    tree = layer.tree
    if isinstance(tree, dict):
        tree = {key: tree[key] for key in _PARTS if key in tree}
    try:
        return grow(tree, at)
    except TooLargeError:
        report(at, "the file unfolds to more than anybody writes by hand", "use fewer YAML aliases")
        return None
