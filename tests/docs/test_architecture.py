"""The map is right for the tree as it is: every package is on it, and every module that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hookline"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
#: A forward for old registrations, named at the end of the page.
FORWARDS = {"shim"}


def test_every_package_has_its_row() -> None:
    rows = {
        name for row in re.findall(r"^\| \d+ \| (.+?) \|", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)/`", row)
    }
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert rows == packages - FORWARDS


def test_every_file_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`((?!tests/)(?:[\w-]+/)+\w+\.(?:py|c))`", PAGE))
    places = (SOURCE, SOURCE.parent, SOURCE / "daemon", ROOT)
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_every_module_that_a_row_begins_to_explain_is_there() -> None:
    missing: list[str] = []
    for packages, text in re.findall(r"^\| \d+ \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE):
        folders = [SOURCE / name for name in re.findall(r"`(\w+)/`", packages)]
        for name in re.findall(r"`([a-z_]+)` \(", text):
            found = [path for folder in folders for path in folder.rglob(f"{name}*") if path.stem == name]
            missing += [] if found else [f"{packages}: {name}"]
    assert missing == []
