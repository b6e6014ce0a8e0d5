"""``compound-loop`` and ``session-end``: put a session into the queue, start a worker, and be gone.

``Stop`` fires after every turn, so ``compound-loop`` passes the gates; ``session-end`` fires once, when the session is
over, and passes none.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, replace
from hookline.core.deferred import afterwards
from hookline.core.errors import StateError
from hookline.core.event import Event, kind_of
from hookline.gateway.own_model import is_ours
from hookline.memory import logs
from hookline.memory.context import scene_of
from hookline.memory.dir_errors import told
from hookline.memory.queue.gates import why_not
from hookline.memory.queue.launch import start_worker
from hookline.memory.queue.queue import Queue
from hookline.memory.queue.task import Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.memory.context import Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """The task's name, or why there is none."""

    name: str = ""
    why_not: str = ""
    transcript: str = ""
    started: bool = False
    #: Whose session it is, where that was asked.
    agent: str = ""


def compound_loop(event: Event) -> None:
    """The built-in hook: after every turn."""
    afterwards(lambda: _hook(event, "compound-loop", force=False))


def session_end(event: Event) -> None:
    """The built-in hook: when the session is over."""
    afterwards(lambda: _hook(event, "session-end", force=True))


def _hook(event: Event, name: str, *, force: bool) -> None:
    scene = scene_of(event, name)
    if scene is None:
        return
    try:
        queued = enqueue(scene, force=force, once=force)
    except (OSError, StateError) as error:
        scene.log(f"not queued: {told(error, scene.places)}")
        return
    if queued.name:
        scene.log(f"queued {queued.name}" + (" (force)" if force else ""))
    else:
        scene.log(f"skipped: {queued.why_not}")


def handoff_now(cwd: str, environ: Mapping[str, str], transcript: str = "") -> Queued:
    """Queue a session without any gate, as a person asks for it: this transcript's, or the newest one of this directory.

    Raises OSError, StateError.
    """
    from hookline.transcripts import about, detect  # hooks are told the session's name

    event = Event(kind=kind_of("SessionEnd"), data={}, cwd=cwd, environ=environ, time=time.time())
    scene = scene_of(event, "handoff-now")
    if scene is None:
        return Queued(why_not="the knowledge loop is switched off here")
    agent = detect(transcript) if transcript else ""
    if not transcript:
        from hookline.memory.transcript import newest_here  # it brings the readers of all agents

        found = newest_here(scene)
        if found is None:
            return Queued(why_not="no transcript" if scene.settings.compound_loop.enabled else "disabled")
        transcript, agent = found.path, found.agent
    about_it = replace(event, data={"transcript_path": transcript}, session=about(transcript, agent).session)
    queued = enqueue(replace(scene, event=replace(about_it, agent=agent or event.agent)), force=True)
    return replace(queued, agent=agent)


def enqueue(scene: Scene, *, force: bool = False, once: bool = False, start: bool = True) -> Queued:
    """Queue the session that the event is about. ``force`` passes the gates; ``once``: a session that ends twice with
    nothing said in between (Gemini CLI says it twice) has ended once. Raises OSError and StateError."""
    loop = scene.settings.compound_loop
    if not loop.enabled:
        return Queued(why_not="disabled")
    if is_ours(state=scene.places.state, cwd=scene.here.cwd):
        return Queued(why_not="our own model's session")
    transcript = _transcript(scene)
    if not transcript:
        return Queued(why_not="no transcript")
    session = _session(scene, transcript)
    queue = Queue(scene.places.queue)
    seen = _seen(transcript) if once else ""
    reason = _ended_as(queue, session, seen) if force else _gated(scene, queue, session, transcript)
    name = "" if reason else queue.put(replace(_task(scene, session, transcript), seen=seen))
    # Also when nothing was queued: what a worker that was killed has left should not wait for the next session.
    wanted = start and (bool(name) or (reason != "no new activity" and queue.has_work()))
    started = start_worker(scene.here, scene.places, scene.event.environ) if wanted else False
    return Queued(name=name, why_not=reason, transcript=transcript, started=started)


def _transcript(scene: Scene) -> str:
    told = scene.event.data.get("transcript_path")
    if isinstance(told, str) and os.path.isabs(told):
        database, mark, _session = told.partition(".db#")
        if os.path.isfile(f"{database}.db" if mark else told):
            return told
    from hookline.memory.transcript import find_transcript  # it brings the readers of all agents

    return find_transcript(scene)


def _gated(scene: Scene, queue: Queue, session: str, transcript: str) -> str:
    loop = scene.settings.compound_loop
    return why_not(
        now=time.time(),
        waiting_since=queue.queued_since(session),
        ended=queue.ended(session),
        grown=_changed(transcript),
        debounce=loop.debounce_seconds,
        growth=loop.reprocess_min_growth_seconds,
    )


def _ended_as(queue: Queue, session: str, seen: str) -> str:
    before = queue.queued_as(session, seen) if seen else ""
    return f"already queued as {before}" if before else ""


def _seen(transcript: str) -> str:
    """What changes whenever something is written to it; "" where no file is its own."""
    try:
        found = os.stat(transcript)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def _changed(transcript: str) -> float:
    if "#" not in transcript:
        return os.stat(transcript).st_mtime
    from hookline.transcripts import changed_at  # one agent keeps its sessions in a database

    return changed_at(transcript)


def _session(scene: Scene, transcript: str) -> str:
    """The agent's own name of it; its file's name where the agent gave none, or named no file.

    Where all files have the same name, the one that stands in the file.
    """
    stem = os.path.splitext(os.path.basename(transcript))[0]
    told = scene.event.session
    if not told and scene.event.agent not in {"claude-code", "hookline"}:
        from hookline.transcripts import about  # nearly all agents tell it

        return about(transcript).session or stem
    given = any(scene.event.data.get(name) for name in ("transcript_path", "transcriptPath", "input"))
    return told if told and (given or scene.event.agent not in {"claude-code", "hookline"}) else stem


def _task(scene: Scene, session: str, transcript: str) -> Task:
    return Task(
        cwd=scene.here.cwd,
        session_jsonl=transcript,
        session_id=session,
        memory_dir=scene.places.memory(scene.project),
        timestamp=logs.now_text(),
        agent=scene.event.agent,
    )
