"""The README's picture shows what was recorded, wherever it is looked at."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[2]
PICTURE = (ROOT / "docs/images/guard.svg").read_text(encoding="utf-8")


def test_the_picture_loads_nothing():
    ET.fromstring(PICTURE)
    assert re.findall(r"@font-face|@import|url\((?!#)|href=|<script|<image", PICTURE) == []


def test_the_picture_shows_every_agent_refuse():
    shown = "\n".join(ET.fromstring(PICTURE).itertext()).replace("\N{NO-BREAK SPACE}", " ")
    for agent in ("PreToolUse:Bash hook error", "Command blocked by PreToolUse hook", "Tool execution blocked"):
        assert f"{agent}: guard: r''m -rf $HOME: files are deleted" in shown
