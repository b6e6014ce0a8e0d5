"""What a shell evaluates: a few lines that say how we are called, then the script of that shell, as it is in its file."""

from __future__ import annotations

import shlex
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Seconds that a shell waits for an answer, beside the time that its hooks may take.
BASE_TIMEOUT = 15


def script(shell: str, program: Sequence[str], *, strict: bool) -> str:
    """``strict``: a hook must be heard before a line runs, so without an answer nothing does."""
    words = " ".join(shlex.quote(word) for word in program)
    head = f"_hl_program=({words}) _hl_patience={BASE_TIMEOUT} _hl_strict={'1' if strict else ''}\n"
    return head + files("hookline.shell.bash_zsh").joinpath(f"hookline.{shell}").read_text("utf-8")
