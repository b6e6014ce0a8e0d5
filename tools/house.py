"""The numbers of the house: sizes, ``noqa``, and names that break the house style."""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "hookline"
#: A user's project, as a user writes it.
DEMO = SRC / "demo" / "project"
#: Where names of ours are used, and where a ``noqa`` counts.
HOUSES = tuple(ROOT / name for name in ("src", "tests", "bench", "tools", "hatch_build.py"))
#: Names that begin like "told" or "asked_twice"; verbs such as "need" and "embed" only look like it.
_PARTICIPLE = re.compile(
    r"(?!(need|feed|embed|read|proceed|exceed|succeed|speed|seed|shed|shared)(_|$))([a-z]+ed|begun|bound|broken|brought|"
    r"built|done|drawn|felt|found|given|gone|heard|held|hidden|hung|kept|known|laid|led|left|lost|made|meant|met|paid|said|"
    r"put_aside|seen|sent|shown|spent|spoken|stood|taken|taught|thought|told|understood|woken|worn|written)(_|$)"
)
#: Looked up by name where no import says so: a dialect's value, a program's start, the doors of commands and readers.
BY_NAME = frozenset({"DIALECT", "main"})
BY_NAME_IN: Mapping[Path, frozenset[str]] = {
    SRC / "cli" / "commands": frozenset({"configure", "run", "plain", "parse_fast"}),
    SRC / "daemon" / "client": frozenset({"SHIPPED"}),  # in the Makefile
    SRC / "config" / "syntax": frozenset({"read"}),
    SRC / "llm" / "scripted": frozenset({"NAME", "parse_request", "reply", "stream", "error"}),
    SRC / "agent" / "wires": frozenset({"PROVIDER", "call", "read"}),
    SRC / "deploy": frozenset(
        {"fresh", "tree", "find", "others", "names", "add", "remove", "is_given", "approve", "withdraw"}
    ),
    **dict.fromkeys(
        (SRC / "dialects").iterdir(),
        frozenset(
            {"places", "includes", "parse", "render", "besides_hooks", "event_out", "reply_in", "event_in", "reply_out"}
        ),
    ),
}
_NOQA = re.compile(r"#\s*noqa(?::\s*([A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?")
_IN_TEXT = re.compile(r"\b(hookline(?:\.\w+)*)[.:](\w+)|from\s+(hookline[\w.]*)\s+import\s+\(?([\w\s,]+)")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hops", action="store_true", help="also the walk of one event (tools/hops.py)")
    parser.add_argument("--list", choices=("participles", "of", "duplicates", "unimported", "noqa"), default="")
    asked = parser.parse_args(words)
    trees = {path: ast.parse(path.read_bytes()) for path in _files(SRC)}
    functions = _public(trees, Function)
    places = {
        "participles": [f"{place} {name}" for place, name in functions if _PARTICIPLE.match(name)],
        "of": [f"{place} {name}" for place, name in functions if name.endswith("_of")],
        "duplicates": list(_duplicates(_public(trees, ast.ClassDef))),
        "unimported": list(_unimported(trees)), "noqa": list(_noqa()),
    }  # fmt: skip
    if asked.list:
        print("\n".join(places[asked.list]))
        return 0
    numbers = _sizes(trees) | {f"names: {kind}": len(found) for kind, found in places.items() if kind != "noqa"}
    rules = Counter(place.rpartition(" ")[2] for place in places["noqa"])
    numbers |= {"noqa": sum(rules.values())} | {f"noqa {rule}": count for rule, count in rules.most_common()}
    if asked.hops:
        line = [sys.executable, str(Path(__file__).with_name("hops.py")), "--json"]
        numbers |= json.loads(subprocess.check_output(line))
    print(json.dumps(numbers, indent=2) if asked.json else "\n".join(f"{k:<40}{v:>8}" for k, v in numbers.items()))
    return 0


def _sizes(trees: Mapping[Path, ast.Module]) -> dict[str, Any]:
    lines = [len(path.read_bytes().splitlines()) for path in trees]
    nodes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, Function)]
    functions = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes]
    return {
        "packages at the top": len({path.parent for path in trees if path.parent.parent == SRC}),
        "modules": len(lines), "lines": sum(lines), "module median": statistics.median(lines), "module max": max(lines),
        "functions": len(functions), "function median": statistics.median(functions),
        "function p90": statistics.quantiles(functions, n=10)[8], "function max": max(functions),
        "public functions": len(_public(trees, Function)),
    }  # fmt: skip


def _public(trees: Mapping[Path, ast.Module], kind: Any) -> list[tuple[str, str]]:
    nodes = [(path, node) for path, tree in trees.items() for node in tree.body if isinstance(node, kind)]
    return [(_place(path, node), node.name) for path, node in nodes if not node.name.startswith("_")]


def _duplicates(classes: Iterable[tuple[str, str]]) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for place, name in classes:
        places[name].append(place)
    return (f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1)


def _unimported(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Public names that nobody else imports, reaches through their module, or names in a text."""
    used: dict[tuple[str, str], set[Path]] = defaultdict(set)
    for path in _files(*HOUSES):
        for use in _uses(trees.get(path) or ast.parse(path.read_bytes())):
            used[use].add(path)
    for path, tree in trees.items():
        exported = {text for node in tree.body if "__all__" in _names(node) for text in _texts(node)}
        exempt = BY_NAME | BY_NAME_IN.get(path.parent, frozenset()) | exported
        for node in tree.body:
            for name in _names(node):
                if not name.startswith("_") and name not in exempt and not used[_module(path), name] - {path}:
                    yield f"{_place(path, node)} {name}"


def _names(node: ast.stmt) -> Iterable[str]:
    if isinstance(node, Definition):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    modules = {"hookline": "hookline"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hookline"):
            yield from ((str(node.module), alias.name) for alias in node.names)
            modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.asname: alias.name for alias in node.names if alias.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            start, _, rest = ast.unparse(node.value).partition(".")
            if start in modules:
                yield f"{modules[start]}.{rest}".rstrip("."), node.attr
    for text in _texts(tree):
        for dotted, name, source, names in _IN_TEXT.findall(text):
            yield from [(dotted, name)] if dotted else [(source, word) for word in re.findall(r"\w+", names)]


def _texts(tree: ast.AST) -> Iterator[str]:
    return (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _noqa() -> Iterator[str]:
    for path in _files(*HOUSES):
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if match := _NOQA.search(line):
                for rule in re.split(r"[,\s]+", match[1] or "all"):
                    yield f"{path.relative_to(ROOT)}:{number} {rule}"


def _files(*tops: Path) -> Iterator[Path]:
    return (
        path
        for top in tops
        for path in ([top] if top.is_file() else sorted(top.rglob("*.py")))
        if DEMO not in path.parents
    )


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def _place(path: Path, node: ast.stmt) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
