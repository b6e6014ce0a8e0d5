"""Lectic's files: where they are, what they import, and how all layers together become hooks."""

from __future__ import annotations

import os.path
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from hookline.core._dataclass import replace
from hookline.core.paths import upwards
from hookline.core.problem import Problem, ProblemCode, Severity
from hookline.dialects.base import ConfigPlace, Include, Layer, Lookup, Parsed
from hookline.dialects.lectic.build import Builder
from hookline.dialects.lectic.tokens import expand
from hookline.dialects.lectic.tree import Branch, Spot, TooLargeError, YamlNode, grow, later, merge, one_per_name
from hookline.dialects.lectic.validate import ReportProblem, is_reference, tidy
from hookline.dialects.lectic.variables import directory


def _resolve_references(root: YamlNode, report: ReportProblem) -> YamlNode:
    """The same tree without references; a reference to nothing is reported and left out."""
    hooks = _by_name(root.branch.get("hook_defs"))
    variables = _by_name(root.branch.get("env_defs"))
    return _active(_Resolver(hooks, variables, report).tree(root))


def _by_name(listed: YamlNode | None) -> dict[str, YamlNode]:
    return {item.name: item for item in (listed.items if listed else ()) if item.name is not None}


def _active(root: YamlNode) -> YamlNode:
    """``interlocutor`` on top of the entry of the same name in ``interlocutors``."""
    active = root.branch.get("interlocutor")
    listed = root.branch.get("interlocutors")
    if active is None or listed is None or active.name is None:
        return root
    for item in listed.items:
        if item.name == active.name:
            whole = merge(item, active)
            hooks = whole.branch.get("hooks")
            if hooks is not None:
                branch: Branch = {**whole.branch, "hooks": replace(hooks, value=one_per_name(hooks.items))}
                whole = replace(whole, value=branch)
            return replace(root, value={**root.branch, "interlocutor": whole})
    return root


class _Resolver:
    def __init__(self, hooks: Mapping[str, YamlNode], variables: Mapping[str, YamlNode], report: ReportProblem) -> None:
        self._hooks = hooks
        self._variables = variables
        self._report = report

    def tree(self, node: YamlNode) -> YamlNode:
        if isinstance(node.value, tuple):
            return replace(node, value=tuple(self.tree(item) for item in node.items))
        if not isinstance(node.value, dict):
            return node
        branch: Branch = {}
        for key, child in node.branch.items():
            branch[key] = self._hook_list(child) if key == "hooks" else self.tree(child)
        return replace(node, value=branch)

    def _hook_list(self, listed: YamlNode) -> YamlNode:
        whole = [hook for item in listed.items if (hook := self._hook(item)) is not None]
        return replace(listed, value=one_per_name(whole))

    def _hook(self, item: YamlNode) -> YamlNode | None:
        if not is_reference(item):
            return self._with_variables(item)
        name = item.branch["use"].value
        definition = self._hooks.get(name)
        if definition is None:
            finding = f"Unknown hook definition: {name}."
            self._report(item.at.at(".use"), finding, f"define it in hook_defs{_known(self._hooks)}")
            return None
        return self._with_variables(replace(definition, at=later(item.at, definition.at)))

    def _with_variables(self, hook: YamlNode) -> YamlNode:
        env = hook.branch.get("env")
        if env is None or set(env.branch) != {"use"}:
            return hook
        name = env.branch["use"].value
        definition = self._variables.get(name) if isinstance(name, str) else None
        if definition is None:
            finding = f"Unknown env definition: {name}."
            self._report(hook.at.at(".env.use"), finding, f"define it in env_defs{_known(self._variables)}")
            # Kept without its variables: a guard must not vanish because of a typo.
            return replace(hook, value={key: child for key, child in hook.branch.items() if key != "env"})
        chosen = definition.branch.get("env")
        if chosen is None:
            kept = {key: child for key, child in definition.branch.items() if key != "name"}
            chosen = YamlNode(value=kept, at=definition.at)
        return YamlNode(value={**hook.branch, "env": chosen}, at=later(hook.at, definition.at))


def _known(definitions: Mapping[str, YamlNode]) -> str:
    return f" (there: {', '.join(definitions)})" if definitions else ""


_FILE = "lectic.yaml"

#: The parts of a header that can contain hooks. Everything else is ignored.
_PARTS = ("hooks", "hook_defs", "env_defs", "interlocutor", "interlocutors", "kits")


# ── where ────────────────────────────────────────────────────────────────────────────────────────────


def places(cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
    """The user's file, then the nearest ``lectic.yaml`` from ``cwd`` upwards."""
    user = os.path.join(directory("LECTIC_CONFIG", {**environ, "HOME": home}, sys.platform), _FILE)
    above = [os.path.join(folder, _FILE) for folder in (upwards(cwd) if cwd else ())]
    walk = [
        ConfigPlace(path=path, layer="project", syntax="yaml", choice="nearest")
        for path in reversed(above)
        if path != user
    ]
    return [ConfigPlace(path=user, layer="user", syntax="yaml"), *walk]


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
        problems.append(layer.origin(pointer).problem(text, fix))

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
        where = self._layers[at.rank].origin(at.pointer)
        self.problems.append(where.problem(finding, fix, severity, code=code))


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
    specs = Builder(layers, report).specs(_resolve_references(merged, report))
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
