"""Queue the previous session if it went on after its last task and never reported its end.

``compound-loop`` skips turns that follow a task too closely; ``session-end`` makes up for them. Without an end event (a
closed terminal, or Codex, whose background server keeps a session open) the last turns would never be distilled. So the
next start in the project checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.deferred import defer
from hookline.core.errors import StateError
from hookline.memory.dir_errors import describe
from hookline.memory.inject.last_session import read_pointer

if TYPE_CHECKING:
    from hookline.memory.context import HookContext

#: Seconds after a task in which a change of the transcript does not count: agents write a note when they end.
_IGNORED_GROWTH = 3.0


def queue_unfinished(context: HookContext) -> None:
    """Runs after the agent has its answer. Never raises."""
    defer(lambda: _check(context))


def _check(context: HookContext) -> None:
    try:
        name = _enqueue(context)
    except (OSError, StateError) as error:
        context.log(f"not queued: {describe(error, context.places)}")
        return
    if name:
        context.log(f"queued {name}: the previous session continued after its last task")


def _enqueue(context: HookContext) -> str:
    pointer = read_pointer(context.places, context.project)
    session, transcript, agent = (str(pointer.get(name, "")) for name in ("session", "transcript", "agent"))
    if not session or not transcript or session == context.event.session:
        return ""
    from hookline.memory.queue.enqueue import enqueue  # most starts end above
    from hookline.memory.queue.queue import Queue
    from hookline.transcripts import mtime

    queue = Queue(context.places.queue)
    tasks = [*queue.open_since(session), *queue.ended(session)]
    try:
        changed = mtime(transcript)
    except OSError:
        return ""  # it is gone, or on another machine
    # A session that was never queued is not compound-loop's.
    if not tasks or changed - max(tasks) < _IGNORED_GROWTH:
        return ""
    about_it = replace(context.event, data={"transcript_path": transcript}, native={}, session=session, agent=agent)
    return enqueue(replace(context, event=about_it), force=True).name
