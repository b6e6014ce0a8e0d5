"""Modules that a hook's code imports or requires, and what else would be loaded in their place."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Iterator

from hookline.state.trust.code_files import MODULES
from hookline.state.trust.digest import Digests
from hookline.state.trust.found_files import FoundFiles, is_below_root
from hookline.state.trust.words import NODE_MODULES, Words

#: In the order in which they are tried: one that appears in front of another is loaded instead of it.
_SCRIPT_SUFFIXES = (
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".json",
    ".node",
    ".rb",
    ".pl",
    ".pmc",
    ".pm",
    ".lua",
    ".php",
    ".py",
    ".sh",
)


class FoundModules(FoundFiles):
    def __init__(self, root: str, digests: Digests, covers: tuple[str, ...]) -> None:
        super().__init__(root, digests, covers)
        self._import_roots: dict[str, None] = {}
        #: Python modules that are imported.
        self._imported: set[str] = set()

    def _inner_folders(self, words: Words, bases: Iterable[str]) -> tuple[str, ...]:
        found = (path for word in words.folders for path in self._candidates(word, bases))
        return unique(path for path in found if self._inside(path) and os.path.isdir(path))

    def _imports(self, path: str, words: Words, bases: Iterable[str]) -> None:
        """Python looks beside the script that was started, and where its variables and its own code say."""
        own = os.path.dirname(path)
        if not os.path.isfile(os.path.join(own, "__init__.py")):
            self._import_roots[own] = None
        roots = unique((*self._import_roots, *self._inner_folders(words, bases)))
        for name in words.modules:
            self._module(name, (own,) if name.startswith(".") else roots)
            self._module(name, (own,), searched=False)

    def _import(self, name: str, bases: Iterable[str]) -> None:
        if not self._module(name, unique((*bases, *self._import_roots))):
            self._unpinned[f"module {name}"] = None

    def _module(self, name: str, bases: Iterable[str], *, searched: bool = True) -> bool:
        """A module's file, and every package on the way to it. Folders that Python searches must not get another one."""
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name[dots:].split(".") if part]
        if not all(part.isidentifier() for part in parts) or not (parts or dots):
            return False
        found = False
        for folder in bases:
            base = os.path.normpath(os.path.join(folder, *[".."] * (dots - 1)))
            if not (is_below_root(base, self._root) or base == self._root):
                continue
            files = [path for path in _module_files(base, parts) if self._inside(path)]
            here = [path for path in files if self._take(path, named=False)]
            self._imported.update(path for path in here if path.endswith(".py"))
            found |= bool(here)
            if searched and not dots and not self._is_covered(os.path.join(base, "x")):
                self._folders[self._shown(base), MODULES] = None
                if not here and parts[0] not in sys.stdlib_module_names:
                    places = (os.path.join(base, f"{parts[0]}.py"), os.path.join(base, parts[0], "__init__.py"))
                    self._absent |= {self._shown(place): None for place in places if not os.path.lexists(place)}
        return found

    def _require(self, name: str, bases: Iterable[str]) -> None:
        """A module of another language: beside the script, or a package of the project."""
        for base in bases:
            stem = os.path.normpath(os.path.join(base, name))
            files = [stem + suffix for suffix in _SCRIPT_SUFFIXES if self._inside(stem + suffix)]
            taken = [path for path in files if self._take(path, named=False)]
            if name[:1] in "./" or taken:
                before = files[: files.index(taken[0])] if taken else files
                self._absent |= {self._shown(path): None for path in before if not os.path.lexists(path)}
            if os.path.isdir(stem) and self._inside(stem):
                self._cover_folder(stem, limited=True)
                self._take_or_miss(os.path.join(stem, "package.json"))
            if name[:1] not in "./":
                self._package(base, "/".join(name.split("/")[: 2 if name.startswith("@") else 1]))

    def _package(self, base: str, name: str) -> None:
        """The nearest package of that name; one that appears nearer would be loaded instead."""
        while (is_below_root(base, self._root) or base == self._root) and name not in NODE_MODULES and ":" not in name:
            folder = os.path.join(base, "node_modules", name)
            if name.startswith("#"):  # package.json says what it means
                if self._take_or_miss(os.path.join(base, "package.json")):
                    return
            elif os.path.isdir(folder):
                self._cover_folder(folder, limited=True)
                return
            else:
                self._absent[self._shown(folder)] = None
            base = os.path.dirname(base)

    def _cover_compiled(self) -> None:
        """A Python without our variables reads what was compiled of a module, if it says that it fits."""
        for path in sorted(self._imported):
            folder, name = os.path.split(path)
            self._notes[
                f"compiled modules beside {self._shown(path)} are read, and count as code; python -B writes none"
            ] = None
            cache = os.path.join(folder, "__pycache__")
            if os.path.isdir(cache):
                self._match_names(os.path.join(cache, f"{name.removesuffix('.py')}.*"), (cache,))
            else:
                self._absent[self._shown(cache)] = None


def _module_files(base: str, parts: list[str]) -> Iterator[str]:
    for depth in range(1, len(parts)):
        yield os.path.join(base, *parts[:depth], "__init__.py")
    stem = os.path.join(base, *parts)
    if parts:
        yield stem + ".py"
        yield from (one for one in glob.glob(glob.escape(stem) + ".*") if one.endswith((".so", ".pyc")))
    yield os.path.join(stem, "__init__.py")
    yield os.path.join(stem, "__main__.py")


def unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
