"""``session-export``: after every turn, the session as a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.errors import StateError
from hookline.knowledge.export import export
from hookline.knowledge.qmd import reindexed
from hookline.knowledge.scene import scene_of
from hookline.knowledge.transcript import find_transcript

if TYPE_CHECKING:
    from hookline.event import Event
    from hookline.knowledge.export import Exported

NAME = "session-export"


def session_export(event: Event) -> None:
    scene = scene_of(event, NAME)
    if scene is None:
        return
    if not scene.settings.knowledge.sessions_enabled:
        scene.log("skipped: sessions are not kept")
        return
    path = find_transcript(scene)
    if not path:
        scene.log("skipped: no transcript")
        return
    try:
        done = export(scene, path)
    except (OSError, StateError) as error:
        scene.log(f"error: {path} could not be exported: {error}")
        return
    scene.log(f"{'wrote' if done.outcome == 'wrote' else 'skipped:'} {_told(done)}")
    if done.outcome == "wrote" and scene.settings.knowledge.search_engine == "qmd":
        reindexed(event.environ, scene.here.cwd)


def _told(done: Exported) -> str:
    return f"{done.path} ({done.messages} messages)" if done.outcome == "wrote" else done.outcome
