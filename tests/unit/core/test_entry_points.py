"""Entry points of other packages are found, and looking for them loads nothing where there are none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hookline.core.entry_points import entry_points


def test_a_package_that_names_the_group_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    about = tmp_path / "thing-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[hookline.test.group]\none = thing:one\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert [one.value for one in entry_points("hookline.test.group")] == ["thing:one"]
    assert list(entry_points("hookline.test.another")) == []


def test_where_no_package_names_the_group_no_metadata_is_read():
    code = (
        "import sys; sys.meta_path[:] = [one for one in sys.meta_path if not hasattr(one, 'find_distributions')"
        " or one.__name__ == 'PathFinder']\n"
        "from hookline.core.entry_points import entry_points\n"
        "print(list(entry_points('hookline.test.nobody')), 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[] False\n"
