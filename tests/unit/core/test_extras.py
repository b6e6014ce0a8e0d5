"""Nobody is told to install an extra of a package that is not published: its packages are named themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hookline.core.errors import ConfigError
from hookline.core.extras import extra_needed, install_command

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


def test_a_missing_package_of_an_extra_is_named() -> None:
    with (
        pytest.raises(ConfigError, match=r"needs the extra 'fleet': pip install .*nats-py"),
        extra_needed("fleet", "nats"),
    ):
        raise ModuleNotFoundError("No module named 'nats.aio'", name="nats.aio")


def test_any_other_missing_module_is_a_fault_of_ours() -> None:
    with pytest.raises(ModuleNotFoundError), extra_needed("fleet", "nats"):
        raise ModuleNotFoundError("No module named 'hookline.nothing'", name="hookline.nothing")
