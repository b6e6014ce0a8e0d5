"""Where a person stands who asks about memory: settings, places and project, without an event."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hookline.dataclass import dataclass
from hookline.event import Event, kind_of
from hookline.knowledge.places import places_of
from hookline.knowledge.project import project_of
from hookline.knowledge.scene import scene_of
from hookline.knowledge.settings import OURSELVES, around, load
from hookline.record.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.knowledge.places import Places
    from hookline.knowledge.project import Project
    from hookline.knowledge.scene import Scene
    from hookline.knowledge.settings import Around, KnowledgeLoop


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    here: Around
    settings: KnowledgeLoop
    places: Places
    project: Project
    redactor: Redactor

    def clean(self, text: str) -> str:
        return self.redactor.text(text)


def desk_of(cwd: str, environ: Mapping[str, str]) -> Desk:
    """Also in a project that has opted out: what to do about that is up to the command."""
    here = around(cwd, environ, agent=OURSELVES)
    settings, _problems = load(here)
    places = places_of(settings, paths=here.paths, home=here.home, environ=here.environ)
    redactor = Redactor(environ, settings.redact)
    return Desk(here=here, settings=settings, places=places, project=project_of(cwd), redactor=redactor)


def scene_at(cwd: str, environ: Mapping[str, str], command: str) -> Scene | None:
    """As a hook would find itself in this directory; None in a project that has opted out."""
    there = cwd if os.path.isdir(cwd) else os.getcwd()
    event = Event(kind=kind_of("Stop"), data={}, cwd=there, environ=environ, time=time.time(), agent=OURSELVES)
    return scene_of(event, command)
