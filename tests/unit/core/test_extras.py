"""Nobody is told to install an extra of a package that is not published: its packages are named themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hookline.core.extras import install_command

SOURCES = Path(__file__).parents[3] / "src"


@pytest.mark.parametrize("extra", ["models", "chat", "ui", "shell", "daemon"])
def test_the_packages_of_an_extra_are_named_themselves(extra: str) -> None:
    assert install_command(extra).startswith("pip install ")
    assert "hookline" not in install_command(extra)


def test_an_extra_in_an_extra_is_taken_apart() -> None:
    assert "pydantic-ai-slim" in install_command("chat")


def test_no_message_advises_an_extra_by_hooklines_name() -> None:
    found = [path for path in SOURCES.rglob("*.py") if re.search(r"pip install \S*hookline\[", path.read_text())]
    assert found == []
