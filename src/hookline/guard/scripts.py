"""Scripts that a command runs, if they were written in the same session: what they do counts as what the command does."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator

from hookline.core._dataclass import replace
from hookline.core.errors import StateError
from hookline.core.files import open_without_waiting, prune
from hookline.core.hook import hook_id
from hookline.core.paths import private_dir
from hookline.guard.call import ProgramCall, Scene
from hookline.guard.effects import Effect
from hookline.guard.programs.interpreters import code_source
from hookline.guard.reading import Invocation, Reading, Word, word

#: Bytes of a script that are read, and scripts that run scripts that run scripts.
_LARGEST, _DEEPEST = 64 << 10, 3
#: Days that the beginning of a session is remembered, and how many sessions.
_DAYS, _SESSIONS = 7.0, 500
_SHEBANG = re.compile(r"#!\s*(\S+)(?:[ \t]+(\S+))?")

#: A path -> the text of the script; "" if there is none, or it is older than the session.
ReadScript = Callable[[str], str]


def script_effects(reading: Reading, scene: Scene, read: ReadScript, depth: int = 0) -> Iterator[Effect]:
    """The effects of every script that a command runs and ``read`` knows."""
    for invocation in reading.invocations:
        call = ProgramCall(invocation=invocation, scene=scene)
        named = None if invocation.remote else _script(invocation)
        path = call.place(named, follow=True).path if named is not None and named.known and not named.globs else ""
        text = read(path) if path else ""
        if not text:
            continue
        if depth >= _DEEPEST:
            yield call.effect("unknown", "medium", path, why="it is a script that runs scripts that run scripts")
            continue
        for effect in _inside(call, path, text, read, depth):
            yield replace(effect, why=f"{effect.why + '; ' if effect.why else ''}in {path}, written in this session")


def _inside(call: ProgramCall, path: str, text: str, read: ReadScript, depth: int) -> Iterator[Effect]:
    from hookline.guard.languages import language_effects  # it needs the programs, and they need it

    source = code_source(call.invocation) or code_source(_by_shebang(path, text))
    if source is None or source.language == "sh":
        reading = call.scene.read(text)
        yield from call.scene.assess(reading, call.scene)
        yield from script_effects(reading, call.scene, read, depth + 1)
    else:
        yield from language_effects(call, source.language, text)


def _script(invocation: Invocation) -> Word | None:
    """The file that an interpreter reads, or the program itself where it is named by a path."""
    source = code_source(invocation)
    if source is not None:
        return source.script
    return invocation.argv[0] if invocation.argv and "/" in invocation.argv[0].text else None


def _by_shebang(path: str, text: str) -> Invocation:
    """``#!/usr/bin/env python3`` as the command that the system makes of it; without one, a shell runs it."""
    found = _SHEBANG.match(text)
    program, argument = (found[1], found[2] or "") if found else ("sh", "")
    name = argument if os.path.basename(program) == "env" and argument else program
    return Invocation(argv=(word(os.path.basename(name)), word(path)))


class SessionFiles:
    """Files that changed since the session began, which is when the guard first saw it.

    The time of change (ctime) cannot be set back. Where the beginning is not known, every file counts.
    """

    def __init__(self, state: str, session: str) -> None:
        self._folder = os.path.join(state, "guard")
        self._began = self._note(os.path.join(self._folder, hook_id("session", session, "guard"))) if session else 0.0

    def read(self, path: str) -> str:
        """The text of a script; "" for an old, large, binary or missing file."""
        try:
            handle = open_without_waiting(path, os.O_RDONLY)
        except OSError:
            return ""
        try:
            status = os.fstat(handle)
            fresh = stat.S_ISREG(status.st_mode) and status.st_ctime >= self._began
            content = os.read(handle, _LARGEST + 1) if fresh and status.st_size <= _LARGEST else b""
        finally:
            os.close(handle)
        return "" if b"\0" in content else content.decode(errors="replace")

    def _note(self, path: str) -> float:
        try:
            return os.stat(path).st_mtime
        except OSError:
            pass
        try:
            private_dir(self._folder)
            prune(self._folder, keep=_SESSIONS, days=_DAYS, now=time.time())
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            return os.stat(path).st_mtime
        except (OSError, StateError):
            return 0.0
