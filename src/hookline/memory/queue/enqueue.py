"""``compound-loop`` and ``session-end``: queue a session, start a worker and return.

``Stop`` fires after every turn, so ``compound-loop`` skips sessions that were queued a moment ago or hardly grew since. A task
waits for the session's end: only one that has been quiet for long, or that another one follows, is distilled without. Of an agent
that may not say the end, a worker waits for the quiet. ``session-end`` fires once and always queues.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import ASSUMED, find_agent
from hookline.core.deferred import defer
from hookline.core.errors import StateError
from hookline.core.event import Event, event_kind
from hookline.gateway.bypass import is_own_session
from hookline.memory.alone import runs_alone
from hookline.memory.context import HookContext, hook_context, now_text
from hookline.memory.inject.last_session import read_pointer
from hookline.memory.layout import describe_error
from hookline.memory.queue.launch import start_worker
from hookline.memory.queue.queue import Queue
from hookline.memory.queue.task import DistillTask

#: Seconds after a task in which a change of the transcript does not count: agents write a note when they end.
_IGNORED_GROWTH = 3.0
#: A session that goes on is distilled after two minutes, then eight, half an hour, two hours: each time all of it is read.
_MAX_BACKOFF = 64
#: A session without an end is over when it was quiet for so many times the growth that counts: ten minutes.
_QUIET = 5


def queue_unfinished(context: HookContext) -> None:
    """Runs after the agent has its answer. Never raises."""
    defer(lambda: _check(context))


def _check(context: HookContext) -> None:
    try:
        name = _enqueue(context) if context.settings.compound_loop.enabled else ""
    except (OSError, StateError) as error:
        context.log(f"not queued: {describe_error(error, context.places)}")
        return
    # What others have pushed, and sessions that never said their end.
    if context.settings.knowledge.git or Queue(context.places.queue).has_work():
        start_worker(context.here, context.places, context.event.environ)
    if name:
        context.log(f"queued {name}: the previous session continued after its last task")


def _enqueue(context: HookContext) -> str:
    pointer = read_pointer(context.places, context.project)
    session, transcript, agent = (str(pointer.get(name, "")) for name in ("session", "transcript", "agent"))
    if not session or not transcript or session == context.event.session:
        return ""
    from hookline.transcripts import mtime

    queue = Queue(context.places.queue)
    tasks = [*queue.open_since(session), *queue.ended(session)]
    try:
        changed = mtime(transcript)
    except OSError:
        return ""  # it is gone, or on another machine
    if waiting := queue.postponed(session):
        if time.time() - changed > context.settings.compound_loop.debounce_seconds:  # else it goes on beside this one
            queue.postpone(waiting[-1], 0)
        return ""
    # A session that was never queued is not compound-loop's.
    if not tasks or changed - max(tasks) < _IGNORED_GROWTH:
        return ""
    about_it = replace(context.event, data={"transcript_path": transcript}, native={}, session=session, agent=agent)
    return enqueue(replace(context, event=about_it), force=True).name


#: Agents whose session id is the name of the transcript file.
_NAMED_BY_FILE = frozenset({ASSUMED, "hookline"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EnqueueResult:
    """The task's name, or why the session was not queued."""

    name: str = ""
    skip_reason: str = ""
    transcript: str = ""
    started: bool = False
    #: The session's agent, where it had to be looked up.
    agent: str = ""


def compound_loop(event: Event) -> None:
    """The built-in hook: after every turn."""
    alone = runs_alone(event)
    defer(lambda: _hook(event, "compound-loop", force=False, alone=alone))


def session_end(event: Event) -> None:
    """The built-in hook: when the session is over."""
    alone = runs_alone(event)
    defer(lambda: _hook(event, "session-end", force=True, alone=alone))


def _hook(event: Event, name: str, *, force: bool, alone: bool) -> None:
    context = hook_context(event, name)
    if context is None:
        return
    if alone:
        context.log("skipped: not interactive")
        return
    try:
        queued = enqueue(context, force=force, once=force)
    except (OSError, StateError) as error:
        context.log(f"not queued: {describe_error(error, context.places)}")
        return
    if queued.name:
        context.log(f"queued {queued.name}" + (" (force)" if force else ""))
    else:
        context.log(f"skipped: {queued.skip_reason}")


def handoff_now(cwd: str, environ: Mapping[str, str], transcript: str = "") -> EnqueueResult:
    """Queue a session at a person's request: this transcript's, or the newest one of this directory. Nothing is skipped.

    Raises OSError, StateError.
    """
    from hookline.transcripts import about, detect  # hooks know the session's name

    event = Event(kind=event_kind("SessionEnd"), data={}, cwd=cwd, environ=environ, time=time.time())
    context = hook_context(event, "handoff-now")
    if context is None:
        return EnqueueResult(skip_reason="the knowledge loop is switched off here")
    agent = detect(transcript) if transcript else ""
    if not transcript:
        from hookline.memory.transcript import newest_session  # it imports the readers of all agents

        found = newest_session(context)
        if found is None:
            return EnqueueResult(skip_reason="no transcript" if context.settings.compound_loop.enabled else "disabled")
        transcript, agent = found.path, found.agent
    about_it = replace(event, data={"transcript_path": transcript}, session=about(transcript, agent).session)
    queued = enqueue(replace(context, event=replace(about_it, agent=agent or event.agent)), force=True)
    return replace(queued, agent=agent)


def enqueue(context: HookContext, *, force: bool = False, once: bool = False, start: bool = True) -> EnqueueResult:
    """Queue the session of the event. ``force`` skips debounce and growth checks. ``once``: an end that is reported
    twice with no change in between (some agents do) is queued once. Raises OSError and StateError."""
    loop = context.settings.compound_loop
    if not loop.enabled:
        return EnqueueResult(skip_reason="disabled")
    if is_own_session(state=context.places.state, cwd=context.here.cwd):
        return EnqueueResult(skip_reason="our own model's session")
    transcript = _transcript(context)
    if not transcript:
        return EnqueueResult(skip_reason="no transcript")
    session = _session(context, transcript)
    queue = Queue(context.places.queue)
    seen = _file_state(transcript) if once else ""
    if force:
        earlier = queue.queued_as(session, seen) if seen else ""
        reason = f"already queued as {earlier}" if earlier else ""
    else:
        reason = skip_reason(
            now=time.time(), waiting_since=queue.open_since(session), ended=queue.ended(session),
            grown=_changed(transcript), debounce=loop.debounce_seconds,
            growth=loop.reprocess_min_growth_seconds * min(4 ** max(0, queue.asked(session) - 1), _MAX_BACKOFF),
        )  # fmt: skip
    waiting = queue.postponed(session)
    wait = 0.0 if force else _QUIET * loop.reprocess_min_growth_seconds
    if waiting and wait and not reason:
        queue.postpone(waiting[-1], wait)
        reason = "it waits for the session's end"
    due = f"{time.time() + wait:.3f}" if wait else ""
    name = "" if reason else queue.put(replace(_task(context, session, transcript), seen=seen, not_before=due))
    if name:
        for one in waiting:
            queue.drop(one)
    # Also when nothing was queued: tasks of a worker that was killed should not wait for the next session.
    awaited = bool(name or waiting) and not _says_end(context.event.agent)  # by the worker
    wanted = start and (awaited or bool(name and not wait) or (reason != _NO_GROWTH and queue.has_work()))
    started = start_worker(context.here, context.places, context.event.environ) if wanted else False
    return EnqueueResult(name=name, skip_reason=reason, transcript=transcript, started=started)


_NO_GROWTH = "no new activity"


def _says_end(agent: str) -> bool:
    row = find_agent(agent)
    return row.says_end if row is not None else agent == "hookline"  # our own chat


def skip_reason(
    *, now: float, waiting_since: Iterable[float], ended: Iterable[float], grown: float, debounce: float, growth: float
) -> str:
    """Why a session is not queued again; "" to queue it. ``ended``: when its finished tasks were queued; ``grown``: when
    the transcript last changed. A time in the future comes from a wrong clock and is ignored."""
    if any(abs(now - since) < debounce for since in waiting_since):
        return "debounce"
    last = max((one for one in ended if one <= now + growth), default=None)
    return _NO_GROWTH if last is not None and grown - last < growth else ""


def _transcript(context: HookContext) -> str:
    path = context.event.data.get("transcript_path")
    if isinstance(path, str) and os.path.isabs(path):
        database, mark, _session = path.partition(".db#")
        if os.path.isfile(f"{database}.db" if mark else path):
            return path
    from hookline.memory.transcript import find_transcript  # it imports the readers of all agents

    return find_transcript(context)


def _file_state(transcript: str) -> str:
    """Changes with every write to the transcript; "" where the session has no file of its own."""
    try:
        found = os.stat(transcript)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def _changed(transcript: str) -> float:
    if "#" not in transcript:
        return os.stat(transcript).st_mtime
    from hookline.transcripts import mtime  # one agent keeps its sessions in a database

    return mtime(transcript)


def _session(context: HookContext, transcript: str) -> str:
    """The agent's session id, or the file's name where the agent gave no id or no file.

    Where all transcripts have the same file name, the id inside the file.
    """
    stem = os.path.splitext(os.path.basename(transcript))[0]
    event = context.event
    if event.agent not in _NAMED_BY_FILE:
        if event.session:
            return event.session
        from hookline.transcripts import about  # nearly all agents send the id

        return about(transcript).session or stem
    given = any(event.data.get(name) for name in ("transcript_path", "transcriptPath", "input"))
    return event.session if event.session and given else stem


def _task(context: HookContext, session: str, transcript: str) -> DistillTask:
    return DistillTask(
        cwd=context.here.cwd,
        session_jsonl=transcript,
        session_id=session,
        memory_dir=context.places.memory(context.project),
        timestamp=now_text(),
        agent=context.event.agent,
    )
