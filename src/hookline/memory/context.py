"""What every hook of the knowledge loop needs to know about an event before it does anything.

Where a person stands who asks about memory: settings, places and project, without an event.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.event import Event, kind_of
from hookline.memory import logs
from hookline.memory.layout import memory_places
from hookline.memory.project import find_project
from hookline.memory.settings import OWN_AGENT, event_environment, load, trusted_environment
from hookline.state.record.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.memory.layout import Places
    from hookline.memory.project import Project
    from hookline.memory.settings import KnowledgeLoop, TrustedEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class HookContext:
    """``log`` writes a line to ``hooks.log`` under the hook's name; ``clean`` takes secrets out of a text."""

    event: Event
    here: TrustedEnvironment
    settings: KnowledgeLoop
    places: Places
    project: Project
    redactor: Redactor
    log: Callable[[str], None]

    def clean(self, text: str) -> str:
        return self.redactor.text(text)

    def clean_all(self, texts: list[str]) -> list[str]:
        """Each of them, looking only for what may be in any: many small texts cost little more than one large one."""
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
    redactor = _redactor_of(event, settings)

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
        event=event,
        here=here,
        settings=settings,
        places=places,
        project=find_project(here.cwd),
        redactor=redactor,
        log=log,
    )


def _redactor_of(event: Event, settings: KnowledgeLoop) -> Redactor:
    return Redactor(event.environ, settings.redact)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    here: TrustedEnvironment
    settings: KnowledgeLoop
    places: Places
    project: Project
    redactor: Redactor

    def clean(self, text: str) -> str:
        return self.redactor.text(text)


def memory_context(cwd: str, environ: Mapping[str, str]) -> MemoryContext:
    """Also in a project that has opted out: what to do about that is up to the command."""
    here = trusted_environment(cwd, environ, agent=OWN_AGENT)
    settings, _problems = load(here)
    places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
    redactor = Redactor(environ, settings.redact)
    return MemoryContext(here=here, settings=settings, places=places, project=find_project(cwd), redactor=redactor)


def command_context(cwd: str, environ: Mapping[str, str], command: str) -> HookContext | None:
    """As a hook would find itself in this directory; None in a project that has opted out."""
    there = cwd if os.path.isdir(cwd) else os.getcwd()
    event = Event(kind=kind_of("Stop"), data={}, cwd=there, environ=environ, time=time.time(), agent=OWN_AGENT)
    return hook_context(event, command)
