"""Make a hook's prompt safe for the shell that draws it: colours are kept, other control sequences are made visible.

The shell counts the width of a prompt, so characters of zero width must be marked. It also expands prompts, so the
hook's text must not be run.
"""

from __future__ import annotations

import re

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
