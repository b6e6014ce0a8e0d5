"""``session-export``: after every turn, the session as a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.memory.context import scene_of
from hookline.memory.dir_errors import told
from hookline.memory.notes.export import export
from hookline.memory.notes.qmd import reindexed
from hookline.memory.transcript import find_transcript

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.memory.context import Scene
    from hookline.memory.notes.export import Exported

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
        scene.log(f"error: {path} could not be exported: {told(error, scene.places)}")
        return
    scene.log(f"{'wrote' if done.outcome == 'wrote' else 'skipped:'} {_told(done)}")
    if done.outcome == "wrote":
        made_findable(scene, done.path)


def made_findable(scene: Scene, path: str) -> None:
    """A note is in the index when its turn is over, so that a start has nothing to index."""
    from hookline.memory.notes.index import keep_current  # it brings SQLite

    if why := keep_current(scene.places, scene.clean, path):
        scene.log(f"error: {why}")
    if scene.settings.knowledge.search_engine == "qmd":
        reindexed(scene.event.environ, scene.here.cwd)


def _told(done: Exported) -> str:
    return f"{done.path} ({done.messages} messages)" if done.outcome == "wrote" else done.outcome
