"""The script that a shell evaluates: its settings, then the file for that shell."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from importlib.resources import files

from hookline.core.errors import StateError
from hookline.core.paths import private_dir
from hookline.core.sanitize import lines

_COLOUR = re.compile(r"(\x1b\[[0-9;:]{0,40}m)")
_MARKS = str.maketrans("", "", "\x01\x02")


def strip_markers(prompt: str) -> str:
    """The shell's own prompt for hooks, without the marks of zero-width characters."""
    return prompt.translate(_MARKS)


def for_bash(prompt: str) -> str:
    """For a variable in PS1: bash does not expand its value."""
    return _coloured(prompt, "\x01", "\x02")


def for_zsh(prompt: str) -> str:
    """For a variable in PROMPT: zsh still expands percent signs in its value."""
    return _coloured(prompt.replace("%", "%%"), "%{", "%}")


def _coloured(prompt: str, before: str, after: str) -> str:
    parts = _COLOUR.split(strip_markers(prompt))
    return "".join(f"{before}{part}{after}" if index % 2 else lines(part) for index, part in enumerate(parts))


#: Seconds that a shell waits for an answer, besides the timeouts of its hooks.
BASE_TIMEOUT = 15


_READ_ZSH = """_hookline_read() { builtin emulate -L zsh -o no_local_traps -o no_aliases; builtin eval "$1"; }"""


def script(shell: str, program: Sequence[str], state: str, *, strict: bool) -> str:
    """What a shell evaluates. ``strict``: where it is not known what is hooked, no line runs without an answer."""
    words = " ".join(shlex.quote(word) for word in program)
    here = files("hookline.shell.bash_zsh")
    head = (
        f"_hl_program=({words}) _hl_timeout={BASE_TIMEOUT} _hl_strict={'1' if strict else ''}\n"
        f"_hl_home={shlex.quote(rooms(state))} _hl_script={shlex.quote(str(here.joinpath(f'hookline.{shell}')))}\n"
    )
    text = here.joinpath(f"init.{shell}").read_text("utf-8")
    return head + (f"{_READ_ZSH}\n_hookline_read {_on_one_line(text)}\n" if shell == "zsh" else text)


def _on_one_line(text: str) -> str:
    """Aliases and options of the person must not change how zsh reads it: some forbid newlines in quotes."""
    for sign, escape in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n")):
        text = text.replace(sign, escape)
    return f"$'{text}'"


def rooms(state: str) -> str:
    """Where shells and the processes beside them meet, and where it is kept what is hooked.

    Hooks must be asked even where nothing can be kept.
    """
    try:
        return private_dir(os.path.join(state, "shell"))
    except StateError:
        return os.path.join(tempfile.gettempdir(), f"hookline-{os.getuid()}", "shell")


def script_path(state: str, shell: str) -> str:
    return os.path.join(rooms(state), f"init.{shell}")
