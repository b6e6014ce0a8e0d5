"""What the session before this one did after its last task, and nobody said that it was over.

``compound-loop`` passes over turns that come too soon after a task; ``session-end`` makes up for it. Where no end is
told (a terminal that was closed; Codex, whose server in the background keeps a session open after the person has left)
the last turns would never be distilled. So the next start in the project looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.deferred import afterwards
from hookline.core.errors import StateError
from hookline.memory.dir_errors import told as explained
from hookline.memory.inject.last_session import pointer

if TYPE_CHECKING:
    from hookline.memory.context import Scene

#: Seconds between a task and the last words of a transcript that say nothing: agents note that they end, after it.
_LAST_WORDS = 3.0


def catch_up(scene: Scene) -> None:
    """Queue the session that was exported last, if it went on after it was queued; when the agent has its answer.

    Never raises."""
    afterwards(lambda: _looked(scene))


def _looked(scene: Scene) -> None:
    try:
        name = _queued(scene)
    except (OSError, StateError) as error:
        scene.log(f"not queued: {explained(error, scene.places)}")
        return
    if name:
        scene.log(f"queued {name}: the session before went on after its last task")


def _queued(scene: Scene) -> str:
    told = pointer(scene.places, scene.project)
    session, transcript, agent = (str(told.get(name, "")) for name in ("session", "transcript", "agent"))
    if not session or not transcript or session == scene.event.session:
        return ""
    from hookline.memory.queue.enqueue import enqueue  # most starts end above
    from hookline.memory.queue.queue import Queue
    from hookline.transcripts import changed_at

    queue = Queue(scene.places.queue)
    tasks = [*queue.queued_since(session), *queue.ended(session)]
    try:
        changed = changed_at(transcript)
    except OSError:
        return ""  # of another machine, or gone
    # A session that was never queued is none that compound-loop was asked about.
    if not tasks or changed - max(tasks) < _LAST_WORDS:
        return ""
    about_it = replace(scene.event, data={"transcript_path": transcript}, native={}, session=session, agent=agent)
    return enqueue(replace(scene, event=about_it), force=True).name
