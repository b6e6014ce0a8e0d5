"""Modules of ours are found where Python would find them, and bytecode that is not of this source is not used."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import hookline
from hookline.cli.own_imports import OwnFinder, module_spec

_ROOT = Path(hookline.__file__).parent
_MODULES = sorted(
    ".".join(("hookline", *path.relative_to(_ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in _ROOT.rglob("*.py")
    if path.parent != _ROOT and (path.parent / "__init__.py").exists()
)


def _facts(spec: object) -> list[object]:
    return [getattr(spec, name) for name in ("name", "origin", "cached", "has_location", "submodule_search_locations")]


def test_every_module_is_found_as_python_finds_it() -> None:
    for name in _MODULES:
        above = _ROOT.parent.joinpath(*name.split(".")[:-1])
        assert _facts(OwnFinder().find_spec(name)) == _facts(PathFinder.find_spec(name, [str(above)])), name


@pytest.mark.parametrize(
    "name", ["hookline", "json", "hookline.nothing", "hookline.cli.commands.nothing", "hooklines.cli"]
)
def test_what_is_no_module_of_ours_is_left_to_python(name: str) -> None:
    assert OwnFinder().find_spec(name) is None


def _value(folder: Path) -> object:
    spec = module_spec("hookline.one", str(folder), "one")
    assert spec is not None
    assert spec.loader is not None
    found: dict[str, object] = {}
    exec(spec.loader.get_code("hookline.one"), found)  # type: ignore[attr-defined]
    return found["value"]


def test_bytecode_of_an_earlier_source_is_not_used(tmp_path: Path) -> None:
    source = tmp_path / "one.py"
    source.write_text("value = 1\n")
    py_compile.compile(str(source))
    before = source.stat()
    assert _value(tmp_path) == 1

    source.write_text("value = 2\n")  # as long as before, and a second later
    os.utime(source, (before.st_atime + 1, before.st_mtime + 1))
    assert _value(tmp_path) == 2

    source.write_text("value = 333\n")  # at the same time, and longer
    os.utime(source, (before.st_atime, before.st_mtime))
    assert _value(tmp_path) == 333


def test_bytecode_of_another_python_or_cut_short_is_not_used(tmp_path: Path) -> None:
    source = tmp_path / "one.py"
    source.write_text("value = 1\n")
    bytecode = Path(py_compile.compile(str(source)) or "")
    whole = bytecode.read_bytes()
    for damaged in (b"\0" * 4 + whole[4:], whole[:12], b""):
        bytecode.write_bytes(damaged)
        assert _value(tmp_path) == 1


def test_a_command_works_where_no_bytecode_can_be_found(tmp_path: Path) -> None:
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPYCACHEPREFIX": str(tmp_path / "elsewhere")}
    line = [sys.executable, "-m", "hookline", "list"]
    shown = subprocess.run(line, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout.partition(".")[0]) == (0, "No hooks here"), shown.stderr
