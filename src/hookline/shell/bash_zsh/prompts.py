"""A prompt that a hook wrote, for the shell that draws it: colours are kept, every other control sequence is shown.

The shell counts the width of a prompt, so it must be told which characters take no place; and a prompt is a small
program to it, so what a hook wrote must not be run.
"""

from __future__ import annotations

import re

from hookline.core.sanitize import lines

_COLOUR = re.compile(r"(\x1b\[[0-9;:]{0,40}m)")
_MARKS = str.maketrans("", "", "\x01\x02")


def strip_markers(prompt: str) -> str:
    """The shell's own prompt as hooks see it: without the marks of what takes no place."""
    return prompt.translate(_MARKS)


def for_bash(prompt: str) -> str:
    """For a variable that PS1 names: bash expands the name once and its value not at all."""
    return _coloured(prompt, "\x01", "\x02")


def for_zsh(prompt: str) -> str:
    """For a variable that PROMPT names: zsh still reads percent signs in its value."""
    return _coloured(prompt.replace("%", "%%"), "%{", "%}")


def _coloured(prompt: str, before: str, after: str) -> str:
    parts = _COLOUR.split(strip_markers(prompt))
    return "".join(f"{before}{part}{after}" if index % 2 else lines(part) for index, part in enumerate(parts))
