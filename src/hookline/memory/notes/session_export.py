"""``session-export``: after every turn, the session as a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.memory.context import hook_context
from hookline.memory.dir_errors import describe
from hookline.memory.notes.export import export
from hookline.memory.notes.qmd import start_update
from hookline.memory.transcript import find_transcript

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.memory.context import HookContext
    from hookline.memory.notes.export import ExportResult

_NAME = "session-export"


def session_export(event: Event) -> None:
    context = hook_context(event, _NAME)
    if context is None:
        return
    if not context.settings.knowledge.sessions_enabled:
        context.log("skipped: sessions are not kept")
        return
    path = find_transcript(context)
    if not path:
        context.log("skipped: no transcript")
        return
    try:
        done = export(context, path)
    except (OSError, StateError) as error:
        context.log(f"error: {path} could not be exported: {describe(error, context.places)}")
        return
    context.log(f"{'wrote' if done.outcome == 'wrote' else 'skipped:'} {_told(done)}")
    if done.outcome == "wrote":
        make_searchable(context, done.path)


def make_searchable(context: HookContext, path: str) -> None:
    """A note is in the index when its turn is over, so that a start has nothing to index."""
    from hookline.memory.notes.index import update_index  # it brings SQLite

    if why := update_index(context.places, context.clean, path):
        context.log(f"error: {why}")
    if context.settings.knowledge.search_engine == "qmd":
        start_update(context.event.environ, context.here.cwd)


def _told(done: ExportResult) -> str:
    return f"{done.path} ({done.messages} messages)" if done.outcome == "wrote" else done.outcome
