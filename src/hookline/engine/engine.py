"""The only module that knows every stage: match, run, fold, record, in this order, for every event.

``_stages`` is the whole run of an event, written once as a generator: it yields the hooks to run next and is sent
their outcomes. ``fire_sync`` and ``fire`` differ only in how they run those hooks: in this thread, without an event
loop, or inside one.
"""

from __future__ import annotations

import os
import time
from _queue import SimpleQueue  # without the module around it, which a cold call would wait for
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice

from hookline.core._dataclass import EMPTY, dataclass, fast_constructor, field, replace
from hookline.core.agents import uses_dialect
from hookline.core.event import Event, EventKind, event_ids, event_kind
from hookline.core.hook import Command, Function, HookSpec, Http
from hookline.core.problem import Problem
from hookline.core.result import NO_OPINION, Blocked, Decision, Outcome, Replied
from hookline.core.session_facts import Facts, as_number, as_text, session_facts
from hookline.core.settings import Settings
from hookline.core.tool_names import each_input
from hookline.core.typed import TYPE_CHECKING, Any, Self, TypeAlias, cast
from hookline.engine import fold
from hookline.engine.eligibility import Explained, are_free, explain, nothing_blocked, outcome_without_running
from hookline.engine.executor import Applied, Executor, Leave, Task
from hookline.engine.match import Index, Selection, once_each
from hookline.runners import RunnerPool
from hookline.state.record import NullRecorder, Record, Recorder
from hookline.state.sessions import MemorySessions, Sessions

if TYPE_CHECKING:
    from hookline.core.paths import Directories
    from hookline.state.record.store import Store  # an engine made by hand does without SQLite
    from hookline.state.trust.covered import CoveredFiles

_make_event, _make_decision, _make_task, _make_record = (
    fast_constructor(Event),
    fast_constructor(Decision),
    fast_constructor(Task),
    fast_constructor(Record),
)

#: Actions that are asked about each of several files by itself.
_ASKED_PER_FILE = frozenset({Command, Function, Http})

#: An event that its session has counted, and what the session knew.
_Counted = tuple[Event, "Facts"]

#: Turns a decision into the one that is returned and recorded.
_Finish: TypeAlias = "Callable[[Event, Decision], Decision]"
#: Runs a hook; what answers late is given to the second.
_Perform: TypeAlias = "Callable[[Task, Callable[[Task, Outcome], Outcome]], Outcome]"


_SAME = "the same hook runs for another matcher"


@dataclass(slots=True, kw_only=True)
class Engine:
    """A set of hooks, and everything needed to fire them."""

    #: Hooks, in declared order; a function made a hook by ``@hook`` may stand for its spec.
    specs: Sequence[HookSpec] = ()
    settings: Settings = field(default_factory=Settings)
    problems: tuple[Problem, ...] = ()
    cwd: str = ""
    agent: str = "hookline"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    #: Where the person's files are; None: the variables of each event say.
    directories: Directories | None = None
    sessions: Sessions = field(default_factory=MemorySessions, repr=False)
    recorder: Recorder = field(default_factory=NullRecorder, repr=False)
    crew: RunnerPool = field(default_factory=RunnerPool, repr=False)
    #: Why a hook must not run now: missing trust, mostly.
    blocked: Callable[[HookSpec], Blocked | None] = field(default=nothing_blocked, repr=False)
    #: The same for one working directory: a hook's relative paths may mean other files there than were approved.
    blocked_in: Callable[[HookSpec, str], Blocked | None] | None = field(default=None, repr=False)
    #: The files that a project's hook was approved with, which must not change while it runs.
    covered: Callable[[HookSpec], CoveredFiles | None] | None = field(default=None, repr=False)
    live: bool = True
    #: Called with a late answer at once, in the thread that received it; without it they wait for ``applied``.
    on_applied: Callable[[Applied], None] | None = field(default=None, repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)
    _index: Index = field(init=False, repr=False)
    _executor: Executor = field(init=False, repr=False)
    _by_id: Mapping[str, HookSpec] = field(init=False, repr=False)
    _late: SimpleQueue[Applied] = field(default_factory=SimpleQueue, repr=False)
    _ids: Callable[[], str] = field(init=False, repr=False)
    #: Why the latest firing could not be recorded, where the recorder itself broke.
    _unrecorded: str = field(default="", init=False, repr=False)

    def __post_init__(self) -> None:
        self.cwd = self.cwd or os.getcwd()
        self.specs = tuple(getattr(one, "spec", one) for one in self.specs)
        self._index = Index(self.specs)
        self._by_id = {spec.id: spec for spec in self.specs}
        self._executor = Executor(
            crew=self.crew, settings=self.settings, live=self.live, times=_times_from(self.recorder), clock=self.clock,
            covered=self.covered,
        )  # fmt: skip
        self._ids = event_ids()
        self.crew.on_event = self._fire_plugin_event

    @classmethod
    def load(cls, **options: Any) -> Engine:
        """An engine for a directory, with the hooks found there. The options are the fields of ``Sources`` and
        ``StoreOptions`` in ``hookline.engine.build``."""
        from hookline.engine.build import Sources, StoreOptions, load_runtime  # not for engines made by hand

        stores = {name: options.pop(name) for name in ("record", "sessions", "live") if name in options}
        return load_runtime(Sources(**options), StoreOptions(**stores)).engine

    def ask_nobody(self) -> None:
        """A question stays one: no agent waits for the answer to an event that is replayed."""
        self._executor.asks = False

    # ── the doors ────────────────────────────────────────────────────────────────────────────────────

    def fire_sync(
        self,
        name: str,
        /,
        data: Mapping[str, Any] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> Decision:
        """Fire an event and wait for the decision; works without an event loop."""
        counted = self._begin(name, {**data, **fields} if data else fields, environ)
        return counted if isinstance(counted, Decision) else self._run(counted)

    def fire_event(self, event: Event, finish: _Finish | None = None) -> Decision:
        """``finish`` may change the decision before it is recorded: to what the caller supports, above all."""
        return self._run(self._count(event), finish)

    def fire_counted(self, event: Event, facts: Facts, finish: _Finish | None = None) -> Decision:
        """The same for an event that was made with the facts of ``count_event``, which saves making it twice."""
        return self._run((event, facts), finish)

    def count_event(self, name: str, data: Mapping[str, Any], session: str) -> Facts:
        """Count an event that is about to be fired, and return what the session knows of it."""
        return session_facts(self.sessions.begin, session, event_kind(name), data, as_number(data.get("turn")))

    def _run(self, counted: _Counted, finish: _Finish | None = None) -> Decision:
        perform, later = self._executor.perform, self._on_late
        stages = self._stages(*counted, finish, perform)
        try:
            tasks = next(stages)
            while True:
                outcomes = [perform(tasks[0], later)] if len(tasks) == 1 else self._run_parallel(tasks)
                tasks = stages.send(outcomes)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration.value is Any

    async def fire(
        self,
        name: str,
        /,
        data: Mapping[str, Any] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> Decision:
        """Fire an event inside a running loop without blocking it."""
        counted = self._begin(name, {**data, **fields} if data else fields, environ)
        return counted if isinstance(counted, Decision) else await self._run_async(counted)

    async def fire_event_async(self, event: Event) -> Decision:
        return await self._run_async(self._count(event))

    async def _run_async(self, counted: _Counted) -> Decision:
        stages = self._stages(*counted)
        perform, later = self._executor.perform_async, self._on_late
        try:
            tasks = next(stages)
            while True:
                if len(tasks) == 1:
                    outcomes = [await perform(tasks[0], later)]
                else:
                    import asyncio  # a loop is running, so it is there already

                    outcomes = list(await asyncio.gather(*(perform(task, later) for task in tasks)))
                tasks = stages.send(outcomes)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration.value is Any

    def explain(self, event: Event) -> tuple[Explained, ...]:
        """Every hook of this event in running order, with the reason where it would not run."""
        facts = session_facts(self.sessions.peek, event.session, event.kind, event.data, event.turn)

        def explained(spec: HookSpec) -> Explained:
            block = self.blocked(spec)
            inert = block is not None and block.reason == "untrusted"  # nothing of it is matched
            one = explain(spec, event, None if inert else self._index.why_not(spec, event, facts), self)
            return one if one.why else replace(one, why=self._over_budget(spec))

        found = tuple(map(explained, self._index.listening(event.kind.name)))
        run = {spec.id for spec in once_each([one.spec for one in found if not one.why])}
        return tuple(replace(one, why=_SAME) if not one.why and one.spec.id not in run else one for one in found)

    def notes(self) -> list[str]:
        """What could not be recorded: a record with unknown gaps is worse than none."""
        notes = (self._unrecorded, *(getattr(keeper, "note", "") for keeper in (self.recorder, self.sessions)))
        return [note for note in notes if note]

    def join(
        self, session: str | None = None, until: float = 0.0, *, leave: Leave = "none"
    ) -> tuple[tuple[HookSpec, Outcome], ...]:
        """Wait for background hooks; a failure among them can still end the run (see ``fold.amend``).

        Those that run on ``until`` (by ``time.monotonic``; 0.0: for ever) are ended. ``leave``: the session goes on, and
        agents that only take notes are not waited for.
        """
        late = self._executor.join(session, until, leave=leave)
        for task, outcome in late:
            failed = not isinstance(outcome, Replied)
            self.recorder.amend(task.event.id, outcome, aborts=failed and task.spec.on_failure == "abort")
        return tuple((task.spec, outcome) for task, outcome in late)

    async def applied(self) -> AsyncIterator[Applied]:
        """Late answers of apply-later hooks, as they come; stale ones never do."""
        import asyncio  # a loop is running, so it is there already

        while True:
            yield await asyncio.to_thread(self._late.get)

    def applied_now(self) -> tuple[Applied, ...]:
        """The late answers that have arrived."""
        return tuple(self._late.get() for _ in range(self._late.qsize()))

    def close(self) -> None:
        """End plugins and background hooks without waiting for them."""
        self._executor.close()
        self.recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── the story ────────────────────────────────────────────────────────────────────────────────────

    def event(
        self,
        name: str,
        data: Mapping[str, Any],
        *,
        environ: Mapping[str, str] | None = None,
        session: str = "",
        agent: str = "",
        cwd: str = "",
        native: Mapping[str, Any] = EMPTY,
        native_name: str = "",
        until: float = 0.0,
        facts: Facts | None = None,
        caller: int = 0,
    ) -> Event:
        """An event that no session has counted yet. What is not given comes from the data."""
        get = data.get
        return _make_event(
            kind=event_kind(name),
            data=data,
            id=self._ids(),
            session=session or as_text(get("session_id")),
            turn=as_number(get("turn")) if facts is None else facts.turn,
            mode="" if facts is None else facts.mode,
            generation=0 if facts is None else facts.generation,
            agent=agent or ("agent" in data and as_text(data["agent"])) or self.agent,
            role=("role" in data and as_text(data["role"])) or "user",
            cwd=cwd or ("cwd" in data and as_text(data["cwd"])) or self.cwd,
            environ=self.environ if environ is None else environ,
            time=self.clock(),
            until=until,
            native=native,
            native_name=native_name or name,
            directories=self.directories,
            caller=caller,
        )

    def _begin(self, name: str, data: Mapping[str, Any], environ: Mapping[str, str] | None) -> _Counted | Decision:
        """The caller's event, counted by its session; or the decision on it, if no hook listens."""
        kind = event_kind(name)
        session, turn = data.get("session_id"), data.get("turn")
        session = "" if session is None else as_text(session)
        facts = session_facts(self.sessions.begin, session, kind, data, 0 if turn is None else as_number(turn))
        if self._nobody_listens(kind, data):
            return _make_decision(event=kind.name, data=data)
        return self.event(name, data, environ=environ, session=session, facts=facts), facts

    def _count(self, event: Event) -> _Counted:
        """An event that was made before, now counted by its session."""
        facts = session_facts(self.sessions.begin, event.session, event.kind, event.data, event.turn)
        event = _make_event(  # replace() would take ten times as long, and every event of an agent passes here
            kind=event.kind, data=event.data, id=event.id, session=event.session, turn=facts.turn, agent=event.agent,
            role=event.role, mode=facts.mode, generation=facts.generation, cwd=event.cwd, environ=event.environ,
            time=event.time, until=event.until, native=event.native, native_name=event.native_name,
            directories=event.directories, caller=event.caller,
        )  # fmt: skip
        return event, facts

    def _stages(
        self, event: Event, facts: Facts, finish: _Finish | None = None, perform: _Perform | None = None
    ) -> Generator[Sequence[Task], Sequence[Outcome], Decision]:
        """``perform`` runs a single task here, where the caller would do nothing else with it."""
        began = time.perf_counter()
        if event.kind.joins:
            event = self._with_background_failures(event)
        decision = yield from self._decide(event, facts, perform)
        try:  # nothing is called outside of it from here on
            if finish is not None:
                decision = finish(event, decision)
            self._record(event, facts, decision, (time.perf_counter() - began) * 1000)
        except Exception as error:  # decided is decided: the record may have a gap, and a note says so
            self._unrecorded = f"a firing was not recorded: {type(error).__name__}: {error}"
        return decision

    def _decide(
        self, event: Event, facts: Facts, perform: _Perform | None
    ) -> Generator[Sequence[Task], Sequence[Outcome], Decision]:
        kind, later = event.kind, self._on_late
        selection = self._index.select(event, facts)
        state = fold.begin(kind, event.data)
        now, parts = event, each_input(event.data, event.cwd) if kind.subject == "tool_name" else ()
        outcomes = self._call_functions(selection, event) if perform is not None and not parts else []
        if outcomes:
            state = self._fold(state, selection.functions[len(outcomes) - 1], outcomes[-1], event.data)
        for batch in selection.batches[len(outcomes) :]:
            seen = state.data
            if seen is not now.data or state.mode is not None:
                now = event if seen is event.data and state.mode is None else _with_changes(event, state)
                parts = each_input(now.data, now.cwd) if kind.subject == "tool_name" else ()
            if len(batch) == 1 and not parts:  # by far the most common
                one = outcome_without_running(batch[0], now, selection, state, self)
                if one is None:
                    task = _make_task(spec=batch[0], event=now)
                    one = perform(task, later) if perform is not None else (yield [task])[0]
                if one.reply is NO_OPINION and type(one) is Replied:  # what most hooks say of most events
                    outcomes.append(one)
                    continue
                done: Sequence[Outcome] = [one]
            else:
                ones = [outcome_without_running(spec, now, selection, state, self) for spec in batch]
                done = yield from self._run_batch(batch, ones, now, parts)
            outcomes += done
            for spec, outcome in zip(batch, done, strict=True):
                state = self._fold(state, spec, outcome, seen)
        limit = self.settings.limits.stop_continuations
        return fold.finish(state, outcomes, continuations=facts.continuations, limit=limit)

    def _run_batch(
        self, batch: Sequence[HookSpec], ones: Sequence[Outcome | None], event: Event, parts: Sequence[dict[str, Any]]
    ) -> Generator[Sequence[Task], Sequence[Outcome], Sequence[Outcome]]:
        """Hooks that run beside each other, or one that is asked about each file of the call."""
        groups = [() if one else self._tasks(spec, event, parts) for spec, one in zip(batch, ones, strict=True)]
        tasks = [task for group in groups for task in group]
        results = iter((yield tasks) if tasks else ())
        return [one or _merge(group, results, event, len(parts)) for one, group in zip(ones, groups, strict=True)]

    def _call_functions(self, selection: Selection, event: Event) -> list[Outcome]:
        """The functions that come first, up to one that has something to say: mostly none has, so that nothing needs to
        be asked between two of them."""
        specs = selection.functions
        free = specs and are_free(specs, event.cwd, self)
        return self._executor.call_functions(specs, event) if free else []

    def _fold(self, state: fold.FoldState, spec: HookSpec, outcome: Outcome, seen: Mapping[str, Any]) -> fold.FoldState:
        partly = self._index.partly_covered(spec, seen) if _grants(spec, outcome) else ""
        return fold.step(state, spec, outcome, seen=seen, partly=partly)

    def _tasks(self, spec: HookSpec, event: Event, parts: Sequence[dict[str, Any]]) -> Sequence[Task]:
        """One, or one for each file of the call: most hooks read one ``file_path``. They share the hook's time.

        Hooks of the agent's own system know its input, and models are given all of it.
        """
        whole = (_make_task(spec=spec, event=event),)
        own = spec.dialect != "native" and uses_dialect(event.agent, spec.dialect)
        if not parts or own or type(spec.action) not in _ASKED_PER_FILE:
            return whole
        ends = [time.monotonic() + spec.timeout] if spec.timeout is not None else []
        until = min((*ends, *([event.until] if event.until else [])), default=0.0)
        tasks = [
            _make_task(spec=spec, event=replace(event, data={**event.data, "tool_input": part}, until=until))
            for part in parts
        ]
        return [task for task in tasks if self._index.fits(spec, task.event)] or whole

    def _nobody_listens(self, kind: EventKind, data: Mapping[str, Any]) -> bool:
        """No hook listens to such an event and it is not recorded: counting it is all there is to do."""
        return not (
            self._index.fitting(kind, data).chosen
            or type(self.recorder) is not NullRecorder
            or kind.joins
            or kind.continues
        )

    def _record(self, event: Event, facts: Facts, decision: Decision, ms: float) -> None:
        sent_back = event.kind.continues and decision.effect == "deny"
        mode = decision.attributes.get("mode") if decision.attributes else None
        continuations = (facts.continuations + 1 if sent_back else 0) if event.kind.continues else facts.continuations
        if mode is not None or continuations != facts.continuations:  # most turns change neither
            self.sessions.settle(
                event.session, mode=mode, continuations=continuations if event.kind.continues else None
            )
        if type(self.recorder) is not NullRecorder:
            self.recorder.write(_make_record(event=event, decision=decision, specs=self._by_id, ms=ms))
        elif not self.settings.record.enabled:  # whoever records nothing keeps no output either
            for path in (path for outcome in decision.outcomes if outcome.raw for path in outcome.raw.spilled):
                _remove(path)

    def _with_background_failures(self, event: Event) -> Event:
        """At the end of a run its background hooks are awaited, and their failure is the run's."""
        failures = [
            outcome.error
            for spec, outcome in self.join(event.session, leave="all")
            if not isinstance(outcome, Replied) and spec.on_failure == "abort"
        ]
        if not failures or event.data.get("status") == "error":
            return event
        return replace(event, data={**event.data, "status": "error", "error_message": "\n".join(failures)})

    def _over_budget(self, spec: HookSpec) -> str:
        if spec.thrift is None or spec.thrift.over_budget != "skip":
            return ""
        return self._executor.thrift.why_skip(spec)

    def _run_parallel(self, tasks: Sequence[Task]) -> list[Outcome]:
        from concurrent.futures import ThreadPoolExecutor  # most events run one hook at a time

        with ThreadPoolExecutor(max_workers=min(len(tasks), 64)) as pool:
            return list(pool.map(lambda task: self._executor.perform(task, self._on_late), tasks))

    def _on_late(self, task: Task, outcome: Outcome) -> Outcome:
        from hookline.engine.executor import record_late  # few hooks answer late

        outcome, applied = record_late(task, outcome, self.sessions, self.recorder)
        if applied is not None and self.on_applied is not None:
            self.on_applied(applied)  # a session mode alone matters too: a prompt may show it
        elif applied is not None and applied.data:
            self._late.put(applied)
        return outcome

    def _fire_plugin_event(self, name: str, data: Mapping[str, Any]) -> None:
        """A plugin was loaded, unloaded or sent a message: an event like any other."""
        self.fire_sync(name, data)


def _merge(group: Sequence[Task], results: Iterator[Outcome], whole: Event, files: int) -> Outcome:
    answers = list(islice(results, len(group)))
    return answers[0] if group[0].event is whole else fold.merge(answers, complete=len(group) == files)


def _grants(spec: HookSpec, outcome: Outcome) -> bool:
    return bool(spec.matcher.fields) and outcome.reply is not None and outcome.reply.effect == "allow"


def _with_changes(event: Event, state: fold.FoldState) -> Event:
    """The event with the changes of the hooks before."""
    return replace(event, data=state.data, mode=event.mode if state.mode is None else state.mode)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _times_from(recorder: Recorder) -> Callable[[HookSpec, float], Sequence[float]] | None:
    """The latest times of a hook since a moment, from a recorder that can be read; None otherwise."""
    if not hasattr(recorder, "read"):
        return None

    def times(spec: HookSpec, since: float) -> Sequence[float]:
        from hookline.state.record.query import latest_times  # few hooks state what they may cost

        return latest_times(cast("Store", recorder), spec.id, spec.name, since=since)

    return times
