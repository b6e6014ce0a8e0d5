"""As installed without an extra: every command that needs one names the packages to install, and is no bug."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Project

#: What `pip install .` brings; everything else is as if it were not installed.
BASE = """
import sys
from importlib.machinery import PathFinder

KNOWN = {*sys.stdlib_module_names, "argcomplete", "hookline", "msgpack", "regex", "yaml"}

class Base(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return super().find_spec(name, path, target) if name.partition(".")[0] in KNOWN or path else None

sys.meta_path = [Base if one is PathFinder else one for one in sys.meta_path]
"""


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("web --no-browser", "starlette"),
        ("fleet status", "nats-py"),
        ("policy keygen key", "cryptography"),
        ("memory serve", "mcp"),
        ("log --format parquet --output events.parquet", "pyarrow"),
        ("hooks", "textual"),
        ("shell", "xonsh"),
    ],
)
def test_a_command_without_its_extra_names_what_to_install(
    project: Project, tmp_path: Path, words: str, package: str
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BASE)
    told = project.run(*words.split(), PYTHONPATH=str(tmp_path / "site"))
    assert (told.code, "pip install" in told.err, package in told.err) == (78, True, True), told.err
