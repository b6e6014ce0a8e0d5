"""The page on platforms names every place that a system without them would write again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/hookline"
PAGE = (ROOT / "docs/explanation/platforms.md").read_text(encoding="utf-8")


def users(pattern: str) -> list[str]:
    return [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        if re.search(pattern, path.read_text(encoding="utf-8"))
    ]


def place(topic: str) -> str:
    found = re.search(rf"^- \*\*{topic}\*\*(.*?)(?=^- |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("topic", "pattern"),
    [
        ("Locks and atomic files", r"\bfcntl\.(flock|lockf)\("),
        ("The transport", r"socket\.AF_UNIX"),
        ("Starting and ending programs", r"\.(killpg|posix_spawn|setsid)\(|start_new_session="),
    ],
)
def test_every_module_that_uses_what_windows_lacks_is_named(topic: str, pattern: str):
    named = re.findall(r"`([\w/]+(?:\.py|/))`", place(topic))
    assert [one for one in named if not (SOURCE / one).exists()] == []
    assert [one for one in users(pattern) if not one.startswith(tuple(named))] == []
