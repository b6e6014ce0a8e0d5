"""Imports of hookline's own modules without a search: where each is follows from its name.

A cold call imports seventy, and Python's search looks at eight names for each. Whatever is unusual is left to Python: a
bytecode file that is missing or older than its source, and names that are no files of ours.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import loads

from hookline.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TAIL = f".{sys.implementation.cache_tag}.pyc"
#: Of bytecode that belongs to a source of this time and size, which follow.
_HEAD = MAGIC_NUMBER + bytes(4)


def shorten_imports() -> None:
    if sys.pycache_prefix is None and os.path.isfile(__file__):  # else the bytecode is somewhere else
        sys.meta_path.insert(0, OwnFinder())


class OwnFinder:
    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith("hookline."):
            return None
        folder, _, file = f"{_ROOT}/{name[9:].replace('.', '/')}".rpartition("/")
        return module_spec(name, folder, file) or module_spec(name, f"{folder}/{file}", "__init__")


def module_spec(name: str, folder: str, file: str) -> ModuleSpec | None:
    source = f"{folder}/{file}.py"
    try:
        status = os.stat(source)
    except OSError:
        return None
    bytecode = f"{folder}/__pycache__/{file}{_TAIL}"
    head = _HEAD + _four_bytes(int(status.st_mtime)) + _four_bytes(status.st_size)
    package = file == "__init__"
    spec = ModuleSpec(name, _OwnLoader(name, source, bytecode, head), origin=source, is_package=package)
    spec.has_location, spec.cached = True, bytecode
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations.append(folder)
    return spec


def _four_bytes(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


class _OwnLoader(SourceFileLoader):
    def __init__(self, name: str, source: str, bytecode: str, head: bytes) -> None:
        super().__init__(name, source)
        self._bytecode, self._head = bytecode, head

    def get_code(self, fullname: str) -> CodeType | None:
        data = _read(self._bytecode)
        if data[:16] != self._head:
            return super().get_code(fullname)
        code: CodeType = loads(memoryview(data)[16:])  # noqa: S302  as every import does it
        return code


def _read(path: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, os.fstat(handle).st_size)
    finally:
        os.close(handle)
