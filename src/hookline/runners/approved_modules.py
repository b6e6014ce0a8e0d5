"""Modules of an approved hook: the bytes that are compiled are the bytes that were approved, whatever lies on disk."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from hookline.runners.base import ApprovedFiles


class ApprovedFinder:
    """Finds what Python would find. A module of the project must be source that was approved.

    While a hook is ``loading``, that is true of all its imports; later, of those relative to its own package ``root``.
    """

    def __init__(self, root: str, base: str, approved: ApprovedFiles) -> None:
        self.loading = False
        self._prefix = f"{root}."
        self._base = base
        self._approved = approved

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self.loading and not name.startswith(self._prefix):
            return None
        spec = PathFinder.find_spec(name, [self._base] if path is None else path, target)
        if spec is None or spec.origin is None or not self._is_in_project(spec.origin):
            return None  # Python's own finders go on
        # By its name, not by its loader: programs that host the engine (xonsh, import hooks of tests) wrap loaders.
        if not spec.origin.endswith(tuple(SOURCE_SUFFIXES)):
            msg = f"{spec.origin} is not source code; a project's hook imports only source that was approved"
            raise ImportError(msg)
        spec.loader = _ApprovedLoader(name, spec.origin, self._approved)
        spec.cached = None
        return spec

    def _is_in_project(self, path: str) -> bool:
        """What is installed there for this interpreter is as little the hook's as Python itself."""
        if path.startswith((f"{sys.prefix}/", f"{sys.base_prefix}/")) or "/site-packages/" in path:
            return False
        return os.path.realpath(path).startswith(self._approved.root.rstrip("/") + "/")


class _ApprovedLoader(SourceFileLoader):
    """Compiles the bytes it has checked, and reads no cache."""

    def __init__(self, name: str, path: str, approved: ApprovedFiles) -> None:
        super().__init__(name, path)
        self._approved = approved

    def get_code(self, fullname: str) -> CodeType:
        data = self.get_data(self.path)
        real = os.path.join(os.path.realpath(os.path.dirname(self.path)), os.path.basename(self.path))
        wanted = self._approved.digest(real)
        if not wanted:
            msg = f"{self.path} was not approved with the hook; name it with covers = [...] and run: hookline trust"
            raise ImportError(msg)
        if hashlib.sha256(data).hexdigest() != wanted:
            msg = f"{self.path} is not as it was approved; review it with: hookline trust"
            raise ImportError(msg)
        code: Any = self.source_to_code(data, self.path)
        return code  # type: ignore[no-any-return]  # source_to_code is untyped
