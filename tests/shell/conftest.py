"""One house per test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("xonsh", reason="the shell's tests need xonsh: pip install 'hookline[shell]'")

from tests.shell.house import House
from tests.shell.terminal import Terminal


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def terminal(house: House) -> Iterator[Callable[..., Terminal]]:
    """Opens a shell in a real terminal: ``terminal()`` after the house is furnished."""
    if shutil.which("tmux") is None:
        pytest.skip("SKIPPED LOUDLY: tmux is not installed, so nothing of the line editor is tested; try: make shells")
    opened: list[Terminal] = []

    def open_one(furnished: House = house, **options: Any) -> Terminal:
        opened.append(Terminal(furnished, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
