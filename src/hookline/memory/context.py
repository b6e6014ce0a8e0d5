"""Settings, places, project and log: what every hook and command of the knowledge loop needs first."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.core.event import Event, event_kind
from hookline.core.files import take_lock
from hookline.core.paths import private_dir
from hookline.memory.layout import Places, memory_places
from hookline.memory.project import Project, find_project
from hookline.memory.settings import (
    OWN_AGENT,
    KnowledgeLoop,
    TrustedEnvironment,
    event_environment,
    load,
    resolve_environment,
)
from hookline.state.record.redact import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    here: TrustedEnvironment
    settings: KnowledgeLoop
    places: Places
    project: Project
    redactor: Redactor

    def clean(self, text: str) -> str:
        """The text without secrets."""
        return self.redactor.text(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookContext(MemoryContext):
    """``log`` writes a line to ``hooks.log`` under the hook's name."""

    event: Event
    log: Callable[[str], None]

    def clean_all(self, texts: list[str]) -> list[str]:
        """Each text without secrets. One search over all of them first: many small texts cost little more than one."""
        joined = "\n".join(texts)
        if not self.redactor.suspects(joined):
            return texts
        narrow = self.redactor.narrowed(joined)
        return [narrow.text(text) for text in texts]


def hook_context(event: Event, hook: str) -> HookContext | None:
    """None where there is nothing to do: inside a hook's own agent, or in a project that has opted out."""
    if event.environ.get("HOOKLINE_NO_HOOKS") == "1":
        return None
    here = event_environment(event)
    settings, problems = load(here)
    places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
    redactor = Redactor(event.environ, settings.redact)

    def log(message: str) -> None:
        append_log(places.hooks_log, hook, message, clean=redactor.text)

    log(f"fired cwd={here.cwd}")
    for problem in problems:
        if problem.severity == "error":
            log(f"problem: {problem}")
    if not settings.knowledge.enabled:
        log("skipped: the knowledge loop is switched off here")
        return None
    return HookContext(
        event=event, here=here, settings=settings, places=places, project=find_project(here.cwd), redactor=redactor,
        log=log,
    )  # fmt: skip


def memory_context(cwd: str, environ: Mapping[str, str]) -> MemoryContext:
    """Also in a project that has opted out: the command decides what to do about that."""
    here = resolve_environment(cwd, environ, agent=OWN_AGENT)
    settings, _problems = load(here)
    places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
    redactor = Redactor(environ, settings.redact)
    return MemoryContext(here=here, settings=settings, places=places, project=find_project(cwd), redactor=redactor)


def command_context(cwd: str, environ: Mapping[str, str], command: str) -> HookContext | None:
    """What a hook would get in this directory; None in a project that has opted out."""
    there = cwd if os.path.isdir(cwd) else os.getcwd()
    event = Event(kind=event_kind("Stop"), data={}, cwd=there, environ=environ, time=time.time(), agent=OWN_AGENT)
    return hook_context(event, command)


MAX_LOG = 100 * 1024
_KEPT_LINES = 500
#: A message is one line: none may look like two entries or hide one.
_MAX_LINE = 2000
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def now_text() -> str:
    """Local time with its offset, to the second."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S%z")  # datetime would cost a cold run more than the line itself
    return f"{text[:-2]}:{text[-2:]}"


def append_log(path: str, name: str, message: str, *, clean: Callable[[str], str] = str) -> None:
    """``<time> <name>: <message>``; ``clean`` removes secrets."""
    text = _BREAKS.sub(" ", clean(message))[:_MAX_LINE]
    line = f"{now_text()} {name}: {text}\n".encode(errors="backslashreplace")
    with suppress(OSError, StateError):
        private_dir(os.path.dirname(path))
        # One write at the end: lines of two processes cannot mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            take_lock(handle, wait=True, shared=True)  # not while another process rotates
            os.write(handle, line)
            large = os.fstat(handle).st_size > MAX_LOG
        finally:
            os.close(handle)
        if large:
            rotate_log(path)


def rotate_log(path: str) -> bool:
    """Keep the last lines of a log that is too large, in place, one process at a time."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(handle, "r+b") as log:
            # Another process may have done it before we got the lock.
            if not take_lock(handle) or os.fstat(handle).st_size <= MAX_LOG:
                return False
            log.seek(0)
            kept = b"".join(log.read().splitlines(keepends=True)[-_KEPT_LINES:])
            # The same file: processes that have it open keep writing to what people read.
            log.truncate(0)
            log.write(kept)
            return True
    return False
