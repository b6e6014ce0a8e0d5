"""The script that a shell evaluates: its settings, then the file for that shell."""

from __future__ import annotations

import shlex
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Seconds that a shell waits for an answer, besides the timeouts of its hooks.
BASE_TIMEOUT = 15


def script(shell: str, program: Sequence[str], *, strict: bool) -> str:
    """``strict``: without an answer of the hooks no line runs."""
    words = " ".join(shlex.quote(word) for word in program)
    head = f"_hl_program=({words}) _hl_timeout={BASE_TIMEOUT} _hl_strict={'1' if strict else ''}\n"
    return head + files("hookline.shell.bash_zsh").joinpath(f"hookline.{shell}").read_text("utf-8")
