"""Open the manager inside a program that owns the terminal and a running event loop."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.engine.build import Runtime


def possible() -> bool:
    """Whether there is a terminal, and textual is installed."""
    return sys.stdin.isatty() and sys.stdout.isatty() and find_spec("textual") is not None


async def open_manager(assemble: Callable[[], Runtime]) -> None:
    """Take the whole screen until the person quits. Switches apply at once; added and deleted hooks apply when the
    configuration is loaded again."""
    from hookline.tui.app import Manager  # textual is an extra, and slow to import
    from hookline.tui.service import HookService

    service = HookService(assemble)
    try:
        await Manager(service).run_async()
    finally:
        service.close()
