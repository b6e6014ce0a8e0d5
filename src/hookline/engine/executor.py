"""One hook, one event, one outcome: calls the dialect, the runner and the dialect again. Never raises.

Background and apply-later hooks run in threads of their own, and are kept here until ``join``. The answer of an
apply-later hook comes after the decision, and is applied then.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, time

from hookline.core._dataclass import dataclass, fast_constructor, field, replace
from hookline.core.hook import (
    ASK,
    OWN_MODEL,
    AgentRun,
    Command,
    Function,
    HookSpec,
    Plugin,
    Prompt,
    is_native_function,
)
from hookline.core.result import (
    NO_OPINION,
    NOTHING,
    Failed,
    HookError,
    Outcome,
    Replied,
    Reply,
    RunResult,
    Skipped,
    Started,
    TimedOut,
)
from hookline.core.typed import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from hookline.dialects import dialect_named
from hookline.dialects.base import Call, Dialect
from hookline.runners.base import MIN_TIMEOUT, Job, Stop, time_limit

if TYPE_CHECKING:
    import threading
    from _thread import LockType

    from hookline.core.event import Event
    from hookline.core.settings import Settings
    from hookline.engine.cost import CostTracker, Times
    from hookline.runners import RunnerPool
    from hookline.runners.command import CommandRunner
    from hookline.runners.function import Calls, FunctionRunner
    from hookline.runners.plugin.runner import PluginRunner
    from hookline.state.record import Recorder
    from hookline.state.sessions import Sessions
    from hookline.state.trust.covered import CoveredFiles, RunCheck


_NO_CALL = Call()
#: Actions whose runners can wait under a running loop; where there is no epoll, a thread waits for a command.
_IN_THE_LOOP = frozenset({Plugin, Command} if sys.platform == "linux" else {Plugin})

#: Called with a late answer; returns the outcome to record.
#: Which agents that only take notes are not waited for.
Leave: TypeAlias = Literal["none", "running", "all"]
_OnLate: TypeAlias = "Callable[[Task, Outcome], Outcome]"

_make_job, _make_replied = fast_constructor(Job), fast_constructor(Replied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A hook that is about to run, with the event as this hook sees it."""

    spec: HookSpec
    event: Event


@dataclass(slots=True, kw_only=True)
class _Running:
    """A hook that runs on its own; ``outcome`` is there once its thread has ended."""

    task: Task
    thread: threading.Thread
    outcome: Outcome | None = None


@dataclass(slots=True, kw_only=True)
class Executor:
    """Runs tasks with one pool of runners.

    ``live`` says that somebody is there to apply late answers; otherwise an apply-later hook is let go of like
    a detached one, and its answer is dropped.
    """

    crew: RunnerPool
    settings: Settings
    live: bool = True
    stop: Stop = field(default_factory=Stop)
    #: The latest times of a hook, where there is a record; and the clock by which cached answers expire.
    times: Times | None = None
    clock: Callable[[], float] = time
    covered: Callable[[HookSpec], CoveredFiles | None] | None = None
    #: Whether a question may wait for a person in the inbox.
    asks: bool = True
    _thrift: CostTracker | None = None
    _always: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _dialects: dict[str, Dialect] = field(default_factory=dict[str, "Dialect"])
    _running: list[_Running] = field(default_factory=list["_Running"])
    _stops: set[Stop] = field(default_factory=set["Stop"])
    _lock: LockType = field(default_factory=allocate_lock)

    def perform(self, task: Task, on_late: _OnLate | None = None) -> Outcome:
        """Run a hook as its mode says."""
        match task.spec.mode:
            case "sync":
                outcome = self.run(task) if task.spec.thrift is None else self._run_within_budget(task)
                return self._ask_person(task, outcome) if self.asks and ASK in task.spec.extra else outcome
            case "detached":
                return self._detach(task)
            case "background":
                return self._run_in_thread(task, None)
            case "async":
                return self._run_in_thread(task, None) if self.live else self._detach(task)
            case "apply-later":
                return self._run_in_thread(task, on_late) if self.live else self._detach(task)

    @property
    def thrift(self) -> CostTracker:
        from hookline.engine.cost import CostTracker as Tracker  # few hooks state what they may cost

        with self._lock:
            if self._thrift is None:
                self._thrift = Tracker(self.times, self.clock)
            return self._thrift

    def _ask_person(self, task: Task, outcome: Outcome) -> Outcome:
        if outcome.reply is None or outcome.reply.effect != "ask":
            return outcome
        from hookline.engine.ask_person import ask_person  # few hooks ask, and fewer ask in the view

        return ask_person(task.spec, task.event, outcome, self.settings, self._always)

    def _run_within_budget(self, task: Task) -> Outcome:
        """A hook with a cost policy: skipped, moved to the background, answered from the cache, or run and measured."""
        spec, thrift = task.spec, self.thrift
        why = thrift.why_skip(spec)
        if why and spec.thrift is not None and spec.thrift.over_budget == "skip":
            text = f"skipped: {why}; see: hookline list"
            return Skipped(id=spec.id, hook=spec.name, error=text, not_run="over-budget")
        if why:
            late = replace(task, spec=replace(spec, mode="background"))
            return self._run_in_thread(late, None, f"in the background: {why}; see: hookline list")
        key = thrift.cache_key(spec, task.event)
        if key is not None and (known := thrift.recall(key, spec)) is not None:
            return known
        outcome = self.run(task)
        thrift.measure(spec, outcome.ms)
        if key is not None:
            thrift.store(key, outcome)
        return outcome

    def run(self, task: Task, stop: Stop | None = None, on_start: Callable[[], None] | None = None) -> Outcome:
        """Run and wait. Bugs of a dialect or a runner become failures too: an agent must get an answer."""
        spec = task.spec
        if is_native_function(spec) and (self.covered is None or self.covered(spec) is None):
            for outcome in self.call_functions((spec,), task.event):
                return outcome
        began = monotonic()
        try:
            job, check = self._job(task, self._dialect(spec.dialect), stop)
            job = job if on_start is None else replace(job, on_start=on_start)
            raw = self.crew[type(spec.action)].run(job)
            if check is not None and (changed := check.changed()):
                return self._discard(job, raw, changed)
            return self._read_reply(task, raw, began, job.timeout)
        except Exception as error:
            return _cannot_run(spec, began, error)

    def call_functions(self, specs: Sequence[HookSpec], event: Event) -> list[Outcome]:
        """Functions one after the other, up to the first that has something to say, without a job: to make one takes as
        long as most functions. Fewer of them, also none, where their runner needs a job."""
        call = getattr(self.crew[Function], "call_in_turn", None)
        if call is None:
            return []
        began = monotonic()
        calls = cast("Calls", call(specs, event))
        outcomes: list[Outcome] = [
            _make_replied(id=spec.id, hook=spec.name, ms=ms, reply=NO_OPINION, raw=NOTHING)
            for spec, ms in zip(specs, calls.silent, strict=False)  # as many as said nothing
        ]
        if calls.last is not None:
            spec = specs[len(outcomes)]
            try:
                outcomes.append(self._read_reply(Task(spec=spec, event=event), calls.last, began, calls.limit))
            except Exception as error:
                outcomes.append(_cannot_run(spec, began, error))
        return outcomes

    def _read_reply(self, task: Task, raw: RunResult, began: float, seconds: float | None) -> Outcome:
        spec = task.spec
        whole = raw if not raw.cut else _whole_answer(spec, raw)
        verdict = self._dialect(spec.dialect).reply_in(spec, task.event, whole)
        return make_outcome(spec, raw, _with_doubt(task, verdict), raw.ms or _elapsed(began), seconds)

    async def perform_async(self, task: Task, on_late: _OnLate | None = None) -> Outcome:
        """The same under a running loop: what can wait without a thread runs in it, everything else in a thread."""
        if task.spec.mode != "sync":
            return self.perform(task, on_late)
        if ASK in task.spec.extra:
            import asyncio  # only a caller that already has a loop comes here

            return await asyncio.to_thread(self.perform, task)
        if task.spec.thrift is not None:
            import asyncio  # only a caller that already has a loop comes here

            return await asyncio.to_thread(self._run_within_budget, task)
        if type(task.spec.action) is Function:
            return await self._call(task, None)
        stop = Stop()
        self._stops.add(stop)
        try:
            if type(task.spec.action) in _IN_THE_LOOP:
                return await self._call(task, stop)
            import asyncio  # only a caller that already has a loop comes here

            return await asyncio.to_thread(self.run, task, stop)
        except BaseException:
            stop.set()  # a cancelled caller must not leave its hook running behind it
            raise
        finally:
            self._stops.discard(stop)

    async def _call(self, task: Task, stop: Stop | None) -> Outcome:
        spec = task.spec
        began = monotonic()
        try:
            runner = cast("FunctionRunner | CommandRunner | PluginRunner", self.crew[type(spec.action)])
            job, check = self._job(task, self._dialect(spec.dialect), stop)
            raw = await runner.arun(job)
            if check is not None and (changed := check.changed()):
                return self._discard(job, raw, changed)
            return self._read_reply(task, raw, began, job.timeout)
        except Exception as error:
            return _cannot_run(spec, began, error)

    def join(
        self, session: str | None = None, until: float = 0.0, *, leave: Leave = "none"
    ) -> tuple[tuple[Task, Outcome], ...]:
        """Wait for the background hooks (of one session) and return their outcomes, once.

        ``until`` (by ``time.monotonic``) is for who ends then: what still runs is ended too. ``leave`` is for who
        goes on: nobody waits for agents that take notes in silence; those that run, or all of them, stay.
        """
        with self._lock:
            mine = [
                one
                for one in self._running
                if (session is None or one.task.event.session == session)
                and not (leave != "none" and _takes_notes(one.task.spec) and (leave == "all" or one.outcome is None))
            ]
            self._running = [one for one in self._running if one not in mine]
        for one in mine:
            if until:
                one.thread.join(max(until - monotonic(), MIN_TIMEOUT))
                if one.thread.is_alive():
                    self.stop.set()
            one.thread.join()
        return tuple((one.task, one.outcome) for one in mine if one.outcome is not None)

    def close(self) -> None:
        self.crew.close()
        self.stop.set()
        for stop in tuple(self._stops):
            stop.set()
        self.join()
        self.stop.close()

    def _job(self, task: Task, dialect: Dialect, stop: Stop | None = None) -> tuple[Job, RunCheck | None]:
        """The job, and what tells afterwards whether the hook's files stayed as approved."""
        spec, event = task.spec, task.event
        seconds = time_limit(spec, event, monotonic())
        if type(spec.action) is Prompt and spec.action.model == OWN_MODEL:
            from hookline.engine.own_model import with_own_model  # few hooks ask a model

            spec = with_own_model(spec, event, self.settings.models)
        # A function is given the event itself; writing it out as JSON would cost more than the whole firing.
        call = _NO_CALL if type(spec.action) is Function else dialect.event_out(spec, event)
        files = None if self.covered is None else self.covered(spec)
        approved = files if files is not None and files.is_exact else None
        job = _make_job(
            spec=spec,
            event=event,
            call=call,
            settings=self.settings,
            stop=stop or self.stop,
            approved=approved,
            most=seconds,
        )
        return job, None if files is None or files.is_empty else files.start_run()

    def _discard(self, job: Job, raw: RunResult, changed: tuple[str, ...]) -> Outcome:
        """What ran may not be what was approved: neither its answer counts, nor anything that it left with its runner."""
        spec = job.spec
        clean = getattr(self.crew[type(spec.action)], "discard", None)  # most runners keep nothing
        if clean is not None:
            clean(job)
        error = (
            f"changed while it ran ({', '.join(changed)}): its answer does not count; review it with: hookline trust"
        )
        return Failed(id=spec.id, hook=spec.name, ms=raw.ms, error=error, raw=raw, not_run="changed")

    def _dialect(self, name: str) -> Dialect:
        known = self._dialects.get(name)
        if known is None:
            known = self._dialects[name] = dialect_named(name)
        return known

    def _detach(self, task: Task) -> Outcome:
        spec = task.spec
        try:
            dialect = self._dialect(spec.dialect)
            raw = self.crew[type(spec.action)].start(self._job(task, dialect)[0])
            if raw.error:
                return make_outcome(spec, raw, dialect.reply_in(spec, task.event, raw), raw.ms)
        except Exception as error:
            return Failed(id=spec.id, hook=spec.name, error=f"hookline cannot start this hook: {error!r}")
        return Started(id=spec.id, hook=spec.name, ms=raw.ms, raw=raw)

    def _run_in_thread(self, task: Task, on_late: _OnLate | None, why: str = "") -> Outcome:
        """``why`` stays with its outcome, where the hook itself did not ask for this."""

        from threading import Event as Signal
        from threading import Thread

        started = Signal()

        def work() -> None:
            outcome = self.run(task, on_start=started.set)
            if task.spec.thrift is not None:
                self.thrift.measure(task.spec, outcome.ms)
            if why and not outcome.error:
                outcome = replace(outcome, error=why)
            running.outcome = outcome if on_late is None else on_late(task, outcome)
            if on_late is not None:
                self._forget(running)
            started.set()

        running = _Running(task=task, thread=Thread(target=work, name=f"hook {task.spec.name}", daemon=True))
        with self._lock:
            self._running.append(running)
        running.thread.start()
        if (
            self.settings.host is not None and type(task.spec.action) is Command
        ):  # in a person's own run, who cannot start says so at once
            started.wait()
            if (
                isinstance(failed := running.outcome, Failed)
                and failed.raw is not None
                and failed.raw.exit_code is None
            ):
                self._forget(running)
                return failed
        return Started(id=task.spec.id, hook=task.spec.name, error=why)

    def _forget(self, running: _Running) -> None:
        """A late answer has been handed over; a shell that draws prompts all day must not collect them."""
        with self._lock:
            if running in self._running:
                self._running.remove(running)


def _takes_notes(spec: HookSpec) -> bool:
    return isinstance(spec.action, AgentRun) and spec.output.inject == "none" and spec.on_failure == "ignore"


def _cannot_run(spec: HookSpec, began: float, error: Exception) -> Failed:
    return Failed(id=spec.id, hook=spec.name, ms=_elapsed(began), error=f"hookline cannot run this hook: {error!r}")


def _with_doubt(task: Task, verdict: Reply | HookError) -> Reply | HookError:
    """A rule on commands is tried on what cannot be read too: whoever is refused or asked should not wonder why."""
    if type(verdict) is not Reply or verdict.effect not in ("deny", "ask"):
        return verdict
    rules = [test.pattern.text for test in task.spec.matcher.fields if test.pattern and test.pattern.style == "command"]
    if not rules:
        return verdict
    from hookline.engine.command_rules import why_unsure  # loaded already, by the rule

    command = str((task.event.data.get("tool_input") or {}).get("command", ""))
    if all(why := why_unsure(rule, command) for rule in rules):
        doubt = f"this command may run {rules[0]!r}, since not all of it can be read: {why}"
        return replace(verdict, reason=f"{verdict.reason} ({doubt})" if verdict.reason else doubt)
    return verdict


def make_outcome(
    spec: HookSpec, raw: RunResult, verdict: Reply | HookError, ms: float, timeout: float | None = None
) -> Outcome:
    """The outcome of what the runner saw and the dialect made of it, in at most ``timeout`` seconds."""
    if type(verdict) is Reply and not raw.error and not raw.timed_out:
        return _make_replied(id=spec.id, hook=spec.name, ms=ms, reply=verdict, raw=raw)
    reply = verdict.reply if isinstance(verdict, HookError) else verdict
    if raw.timed_out:
        limit = "its limit" if timeout is None else f"{timeout:g} s"
        error = raw.error or f"timed out after {limit}"
        return TimedOut(id=spec.id, hook=spec.name, ms=ms, error=error, reply=_texts_only(reply), raw=raw)
    if isinstance(verdict, HookError):
        return Failed(id=spec.id, hook=spec.name, ms=ms, error=verdict.error, reply=_texts_only(reply), raw=raw)
    if raw.error:
        return Failed(id=spec.id, hook=spec.name, ms=ms, error=raw.error, reply=_texts_only(reply), raw=raw)
    return Replied(id=spec.id, hook=spec.name, ms=ms, reply=verdict, raw=raw)


def _whole_answer(spec: HookSpec, raw: RunResult) -> RunResult:
    """Other systems know no limit of output: an answer in which a hook repeats a long command must not be lost to ours.

    In our own format an answer that goes over the limit is a failure.
    """
    if (spec.dialect == "native" and "wire" not in spec.extra) or not raw.stdout.lstrip().startswith("{"):
        return raw
    path = next((path for path in raw.spilled if path.endswith(".stdout")), "")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return replace(raw, stdout=file.read())
    except OSError:
        return raw


def _texts_only(reply: Reply | None) -> Reply | None:
    """Of a hook that failed only its texts count, never its decision."""
    if reply is None or not (reply.context or reply.messages):
        return None
    return reply


def _elapsed(began: float) -> float:
    return (monotonic() - began) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A late answer of an apply-later hook, still current: put ``data`` into the live object."""

    event: Event
    hook: str
    data: Mapping[str, Any]


def record_late(task: Task, outcome: Outcome, sessions: Sessions, recorder: Recorder) -> tuple[Outcome, Applied | None]:
    """Every late answer is recorded; a stale one (the event was fired again meanwhile) is dropped.

    Beside the outcome as it is to be remembered: what is to be applied, if it is current and an answer at all.
    """
    event = task.event
    stale = event.generation != sessions.peek(event.session, event.kind.name).generation
    if isinstance(outcome, Replied) and outcome.reply is not None and outcome.reply.effect in {"deny", "ask"}:
        # What has already happened cannot be refused any more.
        note = f"{outcome.reply.effect} ignored (async_apply)"
        kept = {name: value for name, value in outcome.reply.attributes.items() if name == "mode"}
        outcome = replace(outcome, error=note, reply=replace(outcome.reply, effect=None, data={}, attributes=kept))
    elif stale:
        outcome = replace(outcome, error="stale result dropped")
    recorder.amend(event.id, outcome)
    if stale or not isinstance(outcome, Replied) or outcome.reply is None:
        return outcome, None
    reply = outcome.reply
    if "mode" in reply.attributes:
        sessions.settle(event.session, mode=str(reply.attributes["mode"] or ""), continuations=None)
    return outcome, Applied(event=event, hook=task.spec.name, data=reply.data)
