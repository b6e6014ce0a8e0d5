"""Import a Python function by ``pkg.mod:name``, so that the modules of two projects do not collide."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

_PREFIX = "_hookline_hooks_"


class Loader:
    """The modules of one engine.

    A module that is found in a hook's own directory gets a private name, so that ``hooks/guard.py`` of two projects
    are two modules, and a later engine sees a later version of the file. Its relative imports work as always.
    ``import sibling`` works while the module is loaded; afterwards the host's modules are as they were.
    """

    __slots__ = ("_lock", "_roots", "_token")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._roots: dict[str, str] = {}
        self._token = os.urandom(4).hex()

    def load(self, target: str, base: str) -> Any:
        """The object; whatever the module raises while it is loaded comes out."""
        module_name, colon, attribute = target.partition(":")
        if not module_name or not colon or not attribute:
            msg = f"{target!r} is not 'package.module:function'"
            raise ImportError(msg)
        found: Any = self._module(module_name, base)
        for part in attribute.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                msg = f"{module_name} has no {attribute!r}"
                raise ImportError(msg) from None
        if not callable(found):
            msg = f"{target!r} is not a function"
            raise ImportError(msg)  # noqa: TRY004  # for the caller it is one thing: the target is not there
        return found

    def _module(self, name: str, base: str) -> ModuleType:
        if not base or not module_exists(base, name):
            return importlib.import_module(name)
        with self._lock:
            root = self._root(base)
            with _siblings_of(base):
                return importlib.import_module(f"{root}.{name}")

    def _root(self, base: str) -> str:
        root = self._roots.get(base)
        if root is None:
            root = self._roots[base] = f"{_PREFIX}{self._token}_{len(self._roots)}"
            package = ModuleType(root)
            package.__path__ = [base]
            sys.modules[root] = package
        return root

    def close(self) -> None:
        roots = tuple(self._roots.values())
        self._roots.clear()
        for name in list(sys.modules):
            if name.partition(".")[0] in roots:
                sys.modules.pop(name, None)


def module_exists(base: str, name: str) -> bool:
    """Whether a module of this name lies in ``base``; nothing is imported."""
    place = os.path.join(base, *name.split("."))
    return os.path.isfile(f"{place}.py") or os.path.isdir(place)


@contextmanager
def _siblings_of(base: str) -> Generator[None]:
    """``base`` comes first on the path, and what was imported from it is forgotten at the end."""
    names = {entry.removesuffix(".py") for entry in os.listdir(base)} - set(sys.stdlib_module_names)
    hidden = _take_out(names)
    sys.path.insert(0, base)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(base)
        _take_out(names)
        sys.modules.update(hidden)


def _take_out(names: set[str]) -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in names}
