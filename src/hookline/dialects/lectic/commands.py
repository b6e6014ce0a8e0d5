"""An action as the text of ``do``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, assert_never

from hookline.core.hook import Command
from hookline.dialects.lectic.fields import is_script

if TYPE_CHECKING:
    from hookline.core.hook import Action


def render_do(action: Action) -> str | None:
    """None for what a command line or a script cannot say."""
    if not isinstance(action, Command):
        return None
    match action.form:
        case "words":
            return action.text
        case "script":
            # One line that is no shebang would be read as a command.
            return action.text if is_script(action.text) else None
        case "argv":
            return None if any("\n" in word for word in action.argv) else _line(action.argv)
        case "shell":
            return f"#!/bin/sh\n{action.text}" if "\n" in action.text else _line(("sh", "-c", action.text))
        case _:
            assert_never(action.form)


def _line(words: tuple[str, ...]) -> str:
    """Quoted so that it is split into the same words; single quotes keep variables as they are."""
    return " ".join(shlex.quote(word) for word in words)
