"""The door: a command's text in, everything it would start out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hookline.guard.budget import Budget, LimitReached
from hookline.guard.parse import ScriptParser
from hookline.guard.reading import Doubt, Reading, Word
from hookline.guard.shell import Shell

_ODD = re.compile("[\0\ud800-\udfff]")


def read(
    command: str,
    *,
    home: str = "~",
    environment: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    complete: bool = True,
) -> Reading:
    """What bash would start if it ran ``command``. Never raises and never takes long: what is beyond it is a doubt.

    ``environment`` is what the shell inherits: with it, a variable that is set nowhere is empty; without it, or
    if it is not ``complete`` (a shell reads its own start files), unknown.
    ``files`` are scripts whose content is known, by path, for when the command runs one of them.
    """
    shell = Shell(Budget(), home, environment)
    shell.complete = complete
    text = command
    if odd := _ODD.search(command):
        kind = "a NUL character" if odd[0] == "\0" else "half of a character (a lone surrogate)"
        shell.doubts.append(Doubt(reason=f"the command holds {kind}, which no shell can be given", source=""))
        text = text.replace("\0", "")
    for path, content in (files or {}).items():
        shell.state.files[path] = Word((content,) if content else (), path)
    try:
        shell.whole(lambda: shell.statements(ScriptParser(text, shell.budget, shell.doubts).statements()))
    except LimitReached as reached:
        shell.doubt(f"{reached}; the rest is unknown", command[:60], limit=True)
    except RecursionError:
        shell.doubt("the command is nested too deeply to be read; the rest is unknown", command[:60], limit=True)
    except Exception as fault:
        reason = f"the command cannot be read ({type(fault).__name__}: a fault of hookline); the rest is unknown"
        shell.doubt(reason, command[:60], limit=True)
    return Reading(
        invocations=tuple(shell.invocations),
        doubts=tuple(shell.doubts),
        bombs=tuple(dict.fromkeys(shell.bombs)),
        text=command[:4000],
    )
