"""``qmd``, another search engine for notes: told about new ones when it is there, and never waited for."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import Popen

#: Seconds that a start waits for its answer, and words that it is asked for.
_SEARCH_TIMEOUT = 1.0
_MOST_WORDS = 8
#: Seconds that it may take to read all notes again.
_LIMIT = 60.0
#: In the background and with a limit. ``$0`` is the program: no text of anybody's becomes shell source.
_UPDATE = """
if command -v timeout >/dev/null; then timeout 60 "$0" update; else "$0" update; fi >/dev/null 2>&1 </dev/null &
"""


def _qmd_at(environ: Mapping[str, str], cwd: str) -> str:
    """The program, or "". Not one that lies in the directory where an agent works."""
    inside = os.path.realpath(cwd).rstrip("/") + "/"
    for folder in environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "qmd")
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return "" if os.path.realpath(path).startswith(inside) else path
    return ""


def start_update(environ: Mapping[str, str], cwd: str) -> bool:
    """Whether it was told. It goes on by itself, and nobody waits for it."""
    program = _qmd_at(environ, cwd)
    if not program:
        return False
    import subprocess  # few have qmd

    quiet = subprocess.DEVNULL
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ["/bin/sh", "-c", _UPDATE, program], env=dict(environ), cwd="/", stdin=quiet, stdout=quiet, stderr=quiet,
            start_new_session=True, timeout=5, check=False,
        )  # fmt: skip
    return True


def update_and_purge(environ: Mapping[str, str], cwd: str) -> str:
    """Notes that are gone are gone from its index too: waited for, since who forgets wants to know. Why it failed, or ""."""
    program = _qmd_at(environ, cwd)
    if not program:
        return ""
    import subprocess  # few have qmd

    quiet = subprocess.DEVNULL
    for step in ("update", "cleanup"):  # the first leaves what it no longer finds in its file
        try:
            ended = subprocess.run(
                [program, step], env=dict(environ), cwd="/", stdin=quiet, stdout=quiet, stderr=quiet, timeout=_LIMIT,
                start_new_session=True, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            return f"qmd {step}: {'no end after 60 s' if isinstance(error, subprocess.TimeoutExpired) else error}"
        if ended.returncode:
            return f"qmd {step} ended with {ended.returncode}"
    return ""


def start_search(environ: Mapping[str, str], cwd: str, words: Sequence[str], most: int) -> Popen[bytes] | None:
    """A search that goes on while we do our own; None where there is no qmd."""
    program = _qmd_at(environ, cwd)
    if not program or not words:
        return None
    import subprocess  # few have qmd

    line = [program, "search", " ".join(words[:_MOST_WORDS]), "--json", "-n", str(most)]
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            line, env=dict(environ), cwd="/", stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, start_new_session=True
        )
    except (OSError, ValueError):
        return None


def finish_search(process: Popen[bytes], patience: float = _SEARCH_TIMEOUT) -> list[str]:
    """``- [title](file)`` for each note; nothing from one that is late, fails or prints something else."""
    import json  # few have qmd
    import signal
    import subprocess

    try:
        printed = process.communicate(timeout=patience)[0]
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return []
    try:
        rows = json.loads(printed) if process.returncode == 0 else []
    except (ValueError, RecursionError):
        return []
    notes = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    named = ((row.get("title"), row.get("file")) for row in notes)
    return [f"- [{_line(title)}]({_line(file)})" for title, file in named if isinstance(file, str) and file]


def _line(value: object) -> str:
    return " ".join(str(value or "untitled").split())[:200]
