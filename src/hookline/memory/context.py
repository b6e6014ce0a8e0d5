"""Settings, places and project: what every hook and command of the knowledge loop needs before it does anything."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from hookline.core._dataclass import dataclass
from hookline.core.event import Event, event_kind
from hookline.memory import logs
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
        logs.append(places.hooks_log, hook, message, clean=redactor.text)

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
