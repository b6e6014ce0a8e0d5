"""What every hook of the knowledge loop needs to know about an event before it does anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.dataclass import dataclass
from hookline.knowledge import logs
from hookline.knowledge.places import places_of
from hookline.knowledge.project import project_of
from hookline.knowledge.settings import around_event, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.event import Event
    from hookline.knowledge.places import Places
    from hookline.knowledge.project import Project
    from hookline.knowledge.settings import Around, KnowledgeLoop


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """``clean`` takes secrets out of a text; ``log`` writes a line to ``hooks.log`` under the hook's name."""

    event: Event
    here: Around
    settings: KnowledgeLoop
    places: Places
    project: Project
    clean: Callable[[str], str]
    log: Callable[[str], None]


def scene_of(event: Event, hook: str) -> Scene | None:
    """None where there is nothing to do: inside a hook's own agent, or in a project that has opted out."""
    if event.environ.get("HOOKLINE_NO_HOOKS") == "1":
        return None
    here = around_event(event)
    settings, problems = load(here)
    places = places_of(settings, paths=here.paths, home=here.home, environ=here.environ)
    clean = cleaner(event, settings)

    def log(message: str) -> None:
        logs.append(places.hooks_log, hook, message, clean=clean)

    log(f"fired cwd={here.cwd}")
    for problem in problems:
        if problem.severity == "error":
            log(f"problem: {problem}")
    if not settings.knowledge.enabled:
        log("skipped: the knowledge loop is switched off here")
        return None
    return Scene(
        event=event, here=here, settings=settings, places=places, project=project_of(here.cwd), clean=clean, log=log
    )


def cleaner(event: Event, settings: KnowledgeLoop) -> Callable[[str], str]:
    from hookline.record.redact import Redactor  # noqa: PLC0415 - its shapes are read when the first text is cleaned

    return Redactor(event.environ, settings.redact).text
