"""``qmd``, an optional search engine for notes: updated after new notes, and searched for relevant ones."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

#: Seconds that a start waits for its results, and words in a search.
_SEARCH_TIMEOUT = 1.0
_MAX_WORDS = 8
#: Seconds for a full update.
_UPDATE_TIMEOUT = 60.0
#: In the background, with a time limit. ``$0`` is the program: no other text becomes shell source.
_UPDATE = """
if command -v timeout >/dev/null; then timeout 60 "$0" update; else "$0" update; fi >/dev/null 2>&1 </dev/null &
"""


def _find_qmd(environ: Mapping[str, str], cwd: str) -> str:
    """The program, or "". One inside the agent's directory is not used."""
    inside = os.path.realpath(cwd).rstrip("/") + "/"
    for folder in environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "qmd")
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return "" if os.path.realpath(path).startswith(inside) else path
    return ""


def start_update(environ: Mapping[str, str], cwd: str) -> bool:
    """Start an update in the background; whether there is a qmd."""
    program = _find_qmd(environ, cwd)
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
    """Remove deleted notes from its index, and wait for that; the error, or ""."""
    program = _find_qmd(environ, cwd)
    if not program:
        return ""
    import subprocess  # few have qmd

    quiet = subprocess.DEVNULL
    for step in ("update", "cleanup"):  # update alone leaves deleted notes in its file
        try:
            ended = subprocess.run(
                [program, step], env=dict(environ), cwd="/", stdin=quiet, stdout=quiet, stderr=quiet, timeout=_UPDATE_TIMEOUT,
                start_new_session=True, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            return f"qmd {step}: {'timed out after 60 s' if isinstance(error, subprocess.TimeoutExpired) else error}"
        if ended.returncode:
            return f"qmd {step} exited with {ended.returncode}"
    return ""


def start_search(environ: Mapping[str, str], cwd: str, words: Sequence[str], most: int) -> Popen[bytes] | None:
    """A search that runs while we do our own; None without qmd."""
    program = _find_qmd(environ, cwd)
    if not program or not words:
        return None
    import subprocess  # few have qmd

    line = [program, "search", " ".join(words[:_MAX_WORDS]), "--json", "-n", str(most)]
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            line, env=dict(environ), cwd="/", stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, start_new_session=True
        )
    except (OSError, ValueError):
        return None


def finish_search(process: Popen[bytes], timeout: float = _SEARCH_TIMEOUT) -> list[str]:
    """``- [title](file)`` for each note; nothing if it is late, fails or prints something else."""
    import json  # few have qmd
    import signal
    import subprocess

    try:
        printed = process.communicate(timeout=timeout)[0]
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
