"""From one task to a plan: is there anything to distil, what is known already, and what does the model say."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass
from hookline.core.errors import HooklineError
from hookline.gateway import own_model
from hookline.memory.dir_lock import alone
from hookline.memory.distill.answer import UnreadableError, read_answer
from hookline.memory.distill.digest import HELD, digest_of
from hookline.memory.distill.prompt import DECISIONS, FAILURES, LEARNINGS, Known, question
from hookline.memory.distill.write_results import Plan
from hookline.memory.layout import DECISIONS as DECISIONS_FILE
from hookline.memory.layout import FAILURES as FAILURES_FILE
from hookline.memory.layout import HANDOFF, places_of
from hookline.memory.notes import entries, handoff, insights, learnings
from hookline.memory.project import project_of
from hookline.memory.queue.task import short_id
from hookline.memory.settings import OURSELVES, around, load
from hookline.memory.transcript import make_sure_of
from hookline.transcripts import changed_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.memory.distill.answer import Distilled
    from hookline.memory.distill.backends import Model
    from hookline.memory.distill.digest import Digest
    from hookline.memory.layout import Places
    from hookline.memory.project import Project
    from hookline.memory.queue.task import Task
    from hookline.memory.settings import KnowledgeLoop

    Clean = Callable[[str], str]


class Skip(Exception):  # no error: there is nothing to distil
    """Why a session is passed over."""


class _TranscriptError(HooklineError):
    """The transcript is there and cannot be read."""


class Bench:
    """What is the same for all tasks of a run: the environment, and what takes secrets out."""

    def __init__(self, *, environ: Mapping[str, str], places: Places) -> None:
        self.environ, self.places = environ, places
        self._cleaners: dict[tuple[str, ...], Clean] = {}

    def clean(self, settings: KnowledgeLoop) -> Clean:
        from hookline.state.record.redact import Redactor  # read when the first text is cleaned

        known = self._cleaners.get(settings.redact)
        if known is None:
            known = self._cleaners[settings.redact] = Redactor(self.environ, settings.redact).text
        return known

    def models(self) -> Mapping[str, str]:
        """The ``[models]`` table of the person's own files."""
        from hookline.config import load as load_config  # only who asks a model through us needs it
        from hookline.core.paths import paths_of

        home = self.environ.get("HOME", "/")
        paths = paths_of(self.environ, home)
        return load_config(cwd=paths.state, home=home, environ=self.environ, paths=paths).settings.models


def distilled(bench: Bench, task: Task, model: Model) -> Plan:
    """Raises ``Skip``, ``AskError``, ``UnreadableError`` (its cause is the answer), ``_TranscriptError``; and, for what
    cannot be written, OSError and StateError."""
    here = around(task.cwd or bench.places.state, bench.environ, agent=OURSELVES)
    settings, _problems = load(here)
    if not (settings.knowledge.enabled and settings.compound_loop.enabled):
        raise Skip("the project has opted out")
    places = places_of(settings, paths=here.paths, home=here.home, environ=here.environ)
    clean = bench.clean(settings)
    try:
        source_mtime = changed_at(task.session_jsonl)
    except (OSError, ValueError):
        raise Skip("the transcript is gone") from None
    try:
        make_sure_of(task.session_jsonl)
        digest = digest_of(task.session_jsonl, task.agent, clean)
    except OSError as error:
        raise _TranscriptError(f"the transcript cannot be read: {error}") from error
    now = datetime.now().astimezone()
    frame = _Frame(
        task=task, digest=digest, places=places, project=project_of(task.cwd), source_mtime=source_mtime,
        moment=now.isoformat(timespec="seconds"), day=now.strftime("%Y-%m-%d"),
    )  # fmt: skip
    _worth_it(frame, settings)
    answer = model(frame.question(clean))
    try:
        said = read_answer(answer, clean)
    except UnreadableError as error:
        raise error from ValueError(clean(answer[:HELD])[:4000])  # cut after it is clean: not half a secret
    return frame.plan(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """One task with everything that was found out about it."""

    task: Task
    digest: Digest
    places: Places
    project: Project
    source_mtime: float
    #: When it is worked on: ISO 8601, and the day of it.
    moment: str
    day: str

    @property
    def memory(self) -> str:
        return self.task.memory_dir or self.places.memory(self.project)

    def whose(self) -> handoff.Provenance:
        return handoff.Provenance(session=self.task.session_id, written=self.moment, source_mtime=self.source_mtime)

    def known(self) -> Known:
        """Also what lies where earlier memory of the project is read from, below our own."""
        places = dict.fromkeys((self.memory, *self.places.memories(self.project, self.task.cwd)))

        def last(file: str, count: int) -> list[dict[str, Any]]:
            found = [entries.read(os.path.join(place, file), count) for place in reversed(places)]
            return [entry for one in found for entry in one][-count:]

        return Known(
            decisions=last(DECISIONS_FILE, DECISIONS),
            failures=last(FAILURES_FILE, FAILURES),
            learnings=learnings.titles(self.places.learnings)[:LEARNINGS],
        )

    def question(self, clean: Clean) -> str:
        return question(
            self.digest, self.known(), project=self.project.name, cwd=clean(self.task.cwd),
            session=self.task.session_id, now=self.moment,
        )  # fmt: skip

    def plan(self, said: Distilled) -> Plan:
        return Plan(
            memory=self.memory, learnings=self.places.learnings, project=self.project.name, session=self.task.session_id,
            agent=self.digest.about.agent, moment=self.moment, day=self.day, source_mtime=self.source_mtime,
            said=said, created=self.task.created,
        )  # fmt: skip


def _worth_it(frame: _Frame, settings: KnowledgeLoop) -> None:
    """Raises ``Skip`` for sessions of nobody and for trivial ones; a trivial one leaves a slim handoff."""
    digest, loop = frame.digest, settings.compound_loop
    if own_model.is_ours(state=frame.places.state, cwd=digest.about.cwd, prompt=digest.first_prompt):
        raise Skip("our own model's session")
    if not digest.interactive:
        raise Skip("not interactive")
    if digest.insights:
        with alone(frame.memory):
            insights.add(
                os.path.join(frame.places.root, "insights"), digest.insights, day=frame.day,
                session=frame.task.session_id, short=short_id(frame.task.session_id), project=frame.project.name,
            )  # fmt: skip
    if digest.user_chars < loop.min_user_chars and not digest.insights:
        _slim(frame, settings)
        raise Skip(f"trivial: {digest.user_chars} characters of the person")
    if digest.messages < loop.min_messages and not digest.insights:
        _slim(frame, settings)
        raise Skip(f"trivial: {digest.messages} messages")


def _slim(frame: _Frame, settings: KnowledgeLoop) -> None:
    if settings.compound_loop.slim_handoff_enabled:
        digest = frame.digest
        handoff.write_slim(
            os.path.join(frame.memory, HANDOFF), prompt=digest.last_prompt, branch=digest.about.branch,
            files=digest.files, whose=frame.whose(),
        )  # fmt: skip
