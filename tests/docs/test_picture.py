"""The recordings of a terminal show what was recorded, wherever they are looked at."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

IMAGES = Path(__file__).resolve().parents[2] / "docs/images"


@pytest.mark.parametrize("name", ["guard.svg", "tutorial.svg"])
def test_a_picture_loads_nothing(name: str):
    picture = (IMAGES / name).read_text(encoding="utf-8")
    ET.fromstring(picture)
    assert re.findall(r"@font-face|@import|url\((?!#)|href=|<script|<image", picture) == []


def shown_in(name: str) -> str:
    return "\n".join(ET.parse(IMAGES / name).getroot().itertext()).replace("\N{NO-BREAK SPACE}", " ")


def test_the_tutorials_picture_shows_an_edited_guard_refuse():
    assert "hook failed: changed since it was trusted" in shown_in("tutorial.svg")


def test_the_picture_shows_every_agent_refuse():
    shown = shown_in("guard.svg")
    for agent in ("PreToolUse:Bash hook error", "Command blocked by PreToolUse hook", "Tool execution blocked"):
        assert f"{agent}: guard: r''m -rf $HOME: files are deleted" in shown
