"""What the node scripts of a pack import: looked up where modules lie, never fetched.

A module that is not in the pack is found in the folders of this machine's node, and linked beside the pack's files, where
node looks for it whether a script says ``import`` or ``require``.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping

from hookline.packs.tree import Tree

_ENDINGS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
#: Only where a script cannot do without it: a ``require`` further in may be guarded by a ``try``.
_IMPORTS = re.compile(
    r"""^(?:import\b[^'"`;()]*|export\b[^'"`;()]*\bfrom\s*|(?:const|let|var)\b[^=\n]*=\s*require\(\s*|require\(\s*)["']([^'"\n]+)["']""",
    re.MULTILINE,
)
_BUILT_IN = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs"
    " http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream"
    " string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib bun deno".split()
)


def find_modules(tree: Tree, texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Module -> its folder on this machine, "" if there is none; ``texts`` say which scripts are started."""
    said = "\n".join(texts)
    starts = [path for path in tree if path.endswith(_ENDINGS) and posixpath.basename(path) in said]
    names = dict.fromkeys(_outside(tree, starts))
    places = list(_places(environ)) if names else []
    return {
        name: next((found for place in places if os.path.isdir(found := os.path.join(place, name))), "")
        for name in names
    }


def link_modules(modules: Mapping[str, str], folder: str) -> None:
    """In ``node_modules`` of this folder; what was there is replaced."""
    inner = os.path.join(folder, "node_modules")
    shutil.rmtree(inner, ignore_errors=True)
    for name, target in modules.items():
        if target:
            link = os.path.join(inner, name)
            os.makedirs(os.path.dirname(link), 0o700, exist_ok=True)
            os.symlink(target, link)


def _outside(tree: Tree, scripts: list[str]) -> Iterator[str]:
    """The modules that these scripts, and those of the pack that they import, expect elsewhere."""
    left, seen = list(scripts), set(scripts)
    while left:
        path = left.pop(0)
        for name in _IMPORTS.findall(tree[path].data.decode(errors="replace")):
            if name.startswith("."):
                inner = _file(tree, posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
                if inner and inner not in seen:
                    seen.add(inner)
                    left.append(inner)
                continue
            package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
            if re.fullmatch(r"(?:@[\w.-]+/)?\w[\w.-]*", package) and package not in _BUILT_IN:
                yield from () if _is_inside(tree, path, package) else (package,)


def _file(tree: Tree, path: str) -> str:
    tried = (path, *(f"{path}{end}" for end in _ENDINGS), *(f"{path}/index{end}" for end in _ENDINGS))
    return next((one for one in tried if one in tree), "")


def _is_inside(tree: Tree, path: str, package: str) -> bool:
    """In a ``node_modules`` of the script's folder or one above it."""
    folder = path
    while folder:
        folder = posixpath.dirname(folder)
        if any(one.startswith(posixpath.join(folder, "node_modules", package, "")) for one in tree):
            return True
    return False


def _places(environ: Mapping[str, str]) -> Iterator[str]:
    """Where node and package managers put modules for everybody, in the order in which node looks."""
    yield from (one for one in environ.get("NODE_PATH", "").split(os.pathsep) if os.path.isabs(one))
    home = environ.get("HOME", "")
    yield from (os.path.join(home, name) for name in (".node_modules", ".node_libraries") if home)
    if prefix := environ.get("NPM_CONFIG_PREFIX") or environ.get("npm_config_prefix"):
        yield os.path.join(prefix, "lib", "node_modules")
    if node := shutil.which("node", path=environ.get("PATH")):
        for program in dict.fromkeys((node, os.path.realpath(node))):
            yield os.path.join(os.path.dirname(os.path.dirname(program)), "lib", "node_modules")
    yield from ("/usr/local/lib/node_modules", "/usr/lib/node_modules", "/usr/share/nodejs")
