"""The only module that knows every stage: match, run, fold, record, in this order, for every event.

``_play`` is the whole story, written once as a generator: it yields the hooks to run next and is sent what
came of them. The two doors differ only in how they run those hooks: ``fire_sync`` in this thread, without an
event loop, and ``fire`` inside one.
"""

from __future__ import annotations

import os
import time
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from hookline import fold
from hookline.dataclass import dataclass, field, replace
from hookline.event import Event, kind_of
from hookline.frozen import EMPTY, maker
from hookline.match import Index
from hookline.perform import Performer, Task
from hookline.record import NullRecorder, Record
from hookline.result import Decision, Failed, Replied, Skipped
from hookline.run import Crew
from hookline.session.memory import MemorySessions
from hookline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence

    from hookline.event import EventKind
    from hookline.facts import Facts
    from hookline.match import Selection
    from hookline.problem import Problem
    from hookline.record import Recorder
    from hookline.record.store import Store
    from hookline.result import Outcome, Reply
    from hookline.session import Sessions
    from hookline.spec import HookSpec
    from hookline.thrift import Times

make_event, make_decision, make_task, make_record = maker(Event), maker(Decision), maker(Task), maker(Record)

#: Why a hook must not run, and whether that counts as a failure: ("not trusted", False).
Barred = tuple[str, bool]

#: An event that its session has counted, and what the session knew.
Begun = tuple[Event, "Facts"]

#: Makes of a decision the one that is told and recorded.
Finish: TypeAlias = "Callable[[Event, Decision], Decision]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A late answer of an apply-later hook, still current: put ``data`` into the live object."""

    event: Event
    hook: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What would become of one hook if the event were fired: ``why`` is "" when it would run."""

    spec: HookSpec
    why: str


def _nothing_barred(_spec: HookSpec) -> Barred | None:
    return None


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
    sessions: Sessions = field(default_factory=MemorySessions, repr=False)
    recorder: Recorder = field(default_factory=NullRecorder, repr=False)
    crew: Crew = field(default_factory=Crew, repr=False)
    #: Says of a hook why it must not run now: missing trust, mostly.
    barred: Callable[[HookSpec], Barred | None] = field(default=_nothing_barred, repr=False)
    #: The same for one working directory: where a hook's relative words mean other files than were approved.
    misplaced: Callable[[HookSpec, str], Barred | None] | None = field(default=None, repr=False)
    live: bool = True
    #: Told of a late answer at once, in the thread that heard it; without it they wait for ``applied``.
    on_applied: Callable[[Applied], None] | None = field(default=None, repr=False)
    clock: Callable[[], float] = field(default=time.time, repr=False)
    _index: Index = field(init=False, repr=False)
    _performer: Performer = field(init=False, repr=False)
    _by_id: Mapping[str, HookSpec] = field(init=False, repr=False)
    _late: SimpleQueue[Applied] = field(default_factory=SimpleQueue, repr=False)
    _ids: Callable[[], str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.cwd = self.cwd or os.getcwd()
        self.specs = tuple(getattr(one, "spec", one) for one in self.specs)
        self._index = Index(self.specs)
        self._by_id = {spec.id: spec for spec in self.specs}
        self._performer = Performer(
            crew=self.crew, settings=self.settings, live=self.live, times=_times_of(self.recorder), clock=self.clock
        )
        self._ids = _ids()
        self.crew.on_event = self._happened

    @classmethod
    def load(cls, **options: Any) -> Engine:
        """An engine for a directory, with the hooks found there; see ``hookline.assembly.assemble``."""
        from hookline.assembly import assemble  # noqa: PLC0415  an engine made by hand needs no files

        return assemble(**options).engine

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
        begun = self._begun(name, {**data, **fields} if data else fields, environ)
        return begun if isinstance(begun, Decision) else self._fired(begun)

    def fire_event(self, event: Event, finish: Finish | None = None) -> Decision:
        """``finish`` has the last word on the decision before it is recorded: what its asker cannot do, above all."""
        return self._fired(self._known(event), finish)

    def fire_counted(self, event: Event, facts: Facts, finish: Finish | None = None) -> Decision:
        """The same for an event that was made with what ``counted`` says: that saves making it twice."""
        return self._fired((event, facts), finish)

    def counted(self, name: str, data: Mapping[str, Any], session: str) -> Facts:
        """What the session knows of an event that is about to be fired; it is counted by this."""
        return self._facts(kind_of(name), data, session, _whole(data.get("turn")), self.sessions.begin)

    def _fired(self, begun: Begun, finish: Finish | None = None) -> Decision:
        play = self._play(*begun, finish)
        perform, later = self._performer.perform, self._on_late
        try:
            tasks = next(play)
            while True:
                outcomes = [perform(tasks[0], later)] if len(tasks) == 1 else self._side_by_side(tasks)
                tasks = play.send(outcomes)
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
        """Fire an event inside a running loop, which goes on meanwhile."""
        begun = self._begun(name, {**data, **fields} if data else fields, environ)
        return begun if isinstance(begun, Decision) else await self._fired_async(begun)

    async def fire_event_async(self, event: Event) -> Decision:
        return await self._fired_async(self._known(event))

    async def _fired_async(self, begun: Begun) -> Decision:
        play = self._play(*begun)
        perform, later = self._performer.perform_async, self._on_late
        try:
            tasks = next(play)
            while True:
                if len(tasks) == 1:
                    outcomes = [await perform(tasks[0], later)]
                else:
                    import asyncio  # noqa: PLC0415  a loop is running, so it is there already

                    outcomes = list(await asyncio.gather(*(perform(task, later) for task in tasks)))
                tasks = play.send(outcomes)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration.value is Any

    def explain(self, event: Event) -> tuple[Explained, ...]:
        """Every hook of this event in running order, and why those that would not run would not."""
        facts = self._facts(event.kind, event.data, event.session, event.turn, self.sessions.peek)
        return tuple(
            Explained(spec=spec, why=self._why_not(spec, event, facts))
            for spec in self._index.listening(event.kind.name)
        )

    def join(self, session: str | None = None, until: float = 0.0) -> tuple[tuple[HookSpec, Outcome], ...]:
        """Wait for background hooks; a failure among them can still end the run (see ``fold.amend``).

        Those that run on ``until`` (by ``time.monotonic``; 0.0: for ever) are ended.
        """
        late = self._performer.join(session, until)
        for task, outcome in late:
            failed = not isinstance(outcome, Replied)
            self.recorder.amend(task.event.id, outcome, aborts=failed and task.spec.on_failure == "abort")
        return tuple((task.spec, outcome) for task, outcome in late)

    async def applied(self) -> AsyncIterator[Applied]:
        """Late answers of apply-later hooks, as they come; stale ones never do."""
        import asyncio  # noqa: PLC0415  a loop is running, so it is there already

        while True:
            yield await asyncio.to_thread(self._late.get)

    def applied_now(self) -> tuple[Applied, ...]:
        """The late answers that are there already."""
        return tuple(self._late.get() for _ in range(self._late.qsize()))

    def close(self) -> None:
        """Wait for nobody, leave nothing running: plugins and background hooks are ended."""
        self._performer.close()
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
    ) -> Event:
        """An event as it is before any session knows of it. What is not given is taken from the data."""
        get = data.get
        return make_event(
            kind=kind_of(name),
            data=data,
            id=self._ids(),
            session=session or _text(get("session_id")),
            turn=_whole(get("turn")) if facts is None else facts.turn,
            mode="" if facts is None else facts.mode,
            generation=0 if facts is None else facts.generation,
            agent=agent or ("agent" in data and _text(data["agent"])) or self.agent,
            role=("role" in data and _text(data["role"])) or "user",
            cwd=cwd or ("cwd" in data and _text(data["cwd"])) or self.cwd,
            environ=self.environ if environ is None else environ,
            time=self.clock(),
            until=until,
            native=native,
            native_name=native_name or name,
        )

    def _begun(self, name: str, data: Mapping[str, Any], environ: Mapping[str, str] | None) -> Begun | Decision:
        """An event of the caller's own making, counted by its session; or the decision on it, if nobody hears it."""
        kind = kind_of(name)
        session, turn = data.get("session_id"), data.get("turn")
        session = "" if session is None else _text(session)
        facts = self._facts(kind, data, session, 0 if turn is None else _whole(turn), self.sessions.begin)
        if self._unheard(kind, data):
            return make_decision(event=kind.name, data=data)
        return self.event(name, data, environ=environ, session=session, facts=facts), facts

    def _known(self, event: Event) -> Begun:
        """An event that was made before, counted by its session."""
        facts = self._facts(event.kind, event.data, event.session, event.turn, self.sessions.begin)
        counted = make_event(  # replace() would take ten times as long, and every event of an agent passes here
            kind=event.kind, data=event.data, id=event.id, session=event.session, turn=facts.turn, agent=event.agent,
            role=event.role, mode=facts.mode, generation=facts.generation, cwd=event.cwd, environ=event.environ,
            time=event.time, until=event.until, native=event.native, native_name=event.native_name,
        )  # fmt: skip
        return counted, facts

    def _play(
        self, event: Event, facts: Facts, finish: Finish | None = None
    ) -> Generator[Sequence[Task], Sequence[Outcome], Decision]:
        began = time.perf_counter()
        kind = event.kind
        if kind.joins:
            event = self._with_background_failures(event)
        selection = self._index.select(event, facts)
        state = fold.begin(kind, event.data)
        outcomes: list[Outcome] = []
        for batch in selection.batches:
            seen = state.data
            now = event if seen is event.data and state.mode is None else _as_left(event, state)
            if len(batch) == 1:  # by far the most common
                one = self._settled(batch[0], now, selection, state)
                reached = (yield [make_task(spec=batch[0], event=now)]) if one is None else [one]
            else:
                settled = [self._settled(spec, now, selection, state) for spec in batch]
                tasks = [
                    make_task(spec=spec, event=now) for spec, one in zip(batch, settled, strict=True) if one is None
                ]
                results = iter((yield tasks) if tasks else ())
                reached = [one or next(results) for one in settled]
            outcomes += reached
            for spec, outcome in zip(batch, reached, strict=True):
                state = fold.step(state, spec, outcome, seen=seen)
        limit = self.settings.limits.stop_continuations
        decision = fold.finish(state, outcomes, continuations=facts.continuations, limit=limit)
        if finish is not None:
            decision = finish(event, decision)
        self._conclude(event, facts, decision, (time.perf_counter() - began) * 1000)
        return decision

    def _unheard(self, kind: EventKind, data: Mapping[str, Any]) -> bool:
        """No hook hears such an event and nobody writes it down: that it is counted is all there is to do."""
        return not (
            self._index.fitting(kind, data).chosen
            or type(self.recorder) is not NullRecorder
            or kind.joins
            or kind.continues
        )

    def _facts(
        self, kind: EventKind, data: Mapping[str, Any], session: str, turn: int, ask: Callable[..., Facts]
    ) -> Facts:
        typed = kind.opens_turn and not data.get("auto_submit")
        history = data.get("history")
        prompt = _text(data.get(kind.message)) if typed and kind.message else _last_prompt(history) if history else ""
        known = turn or (_turns_in(history) if history else 0) or None
        facts = ask(session, kind.name, typed=typed, turn=known, prompt=prompt)
        told = data.get("continuations")
        return facts if not isinstance(told, int) else replace(facts, continuations=max(told, facts.continuations))

    def _settled(self, spec: HookSpec, event: Event, selection: Selection, state: fold.State) -> Outcome | None:
        """The outcome of a hook that need not be run to know it; None if it must be."""
        if state.stopped:
            why = "the run was ended by an earlier hook" if state.aborted else "an earlier hook refused"
            return Skipped(id=spec.id, hook=spec.name, error=why)
        if not selection.plain:
            if selection.broken and spec.id in selection.broken:
                return Failed(id=spec.id, hook=spec.name, error=selection.broken[spec.id])
            if why := self._held(spec, event, selection):
                return Skipped(id=spec.id, hook=spec.name, error=why)
        barred = self._barred(spec, event.cwd)
        if barred is None:
            return None
        kind = Failed if barred[1] else Skipped
        return kind(id=spec.id, hook=spec.name, error=barred[0])

    def _held(self, spec: HookSpec, event: Event, selection: Selection) -> str:
        gates = spec.gates
        why = selection.held.get(spec.id, "") if selection.held else ""
        if not why or (gates.claim_first and not event.data.get("auto_submit")):
            taken = self._claimed(spec, event) if gates.claims else ""
            why = why or taken
        return why

    def _claimed(self, spec: HookSpec, event: Event) -> str:
        gates = spec.gates
        return self.sessions.claim(
            event.session,
            spec.id,
            once=gates.once_per_session,
            debounce=gates.debounce,
            max_per_minute=gates.max_per_minute,
            now=event.time,
        )

    def _conclude(self, event: Event, facts: Facts, decision: Decision, ms: float) -> None:
        sent_back = event.kind.continues and decision.effect == "deny"
        mode = decision.attributes.get("mode") if decision.attributes else None
        again = (facts.continuations + 1 if sent_back else 0) if event.kind.continues else facts.continuations
        if mode is not None or again != facts.continuations:  # most turns end as they began, and settle nothing
            self.sessions.settle(event.session, mode=mode, continuations=again if event.kind.continues else None)
        if type(self.recorder) is not NullRecorder:
            self.recorder.write(make_record(event=event, decision=decision, specs=self._by_id, ms=ms))

    def _with_background_failures(self, event: Event) -> Event:
        """By the end of a run its background hooks have ended, and their failure is the run's."""
        failures = [
            outcome.error
            for spec, outcome in self.join(event.session)
            if not isinstance(outcome, Replied) and spec.on_failure == "abort"
        ]
        if not failures or event.data.get("status") == "error":
            return event
        return replace(event, data={**event.data, "status": "error", "error_message": "\n".join(failures)})

    def _why_not(self, spec: HookSpec, event: Event, facts: Facts) -> str:
        """Missing trust comes first: it holds whatever the hook is tried on, and is what a person can mend."""
        barred = self._barred(spec, event.cwd)
        why = self._index.why_not(spec, event, facts)
        if barred is not None:
            failing = f"; until then it counts as failed, and on_failure is {spec.on_failure}" if barred[1] else ""
            return f"{barred[0]}; besides, {why}" if why else f"{barred[0]}{failing}"
        return why or self._over(spec, event)

    def _over(self, spec: HookSpec, event: Event) -> str:
        """What the session's claims and the hook's own budget say against it."""
        gates, why = spec.gates, ""
        if gates.claims:
            why = self.sessions.would_claim(
                event.session,
                spec.id,
                once=gates.once_per_session,
                debounce=gates.debounce,
                max_per_minute=gates.max_per_minute,
                now=event.time,
            )
        if not why and spec.thrift is not None and spec.thrift.over_budget == "skip":
            why = self._performer.thrift.judged(spec)
        return why

    def _barred(self, spec: HookSpec, cwd: str) -> Barred | None:
        barred = self.barred(spec)
        return barred if barred is not None or self.misplaced is None else self.misplaced(spec, cwd)

    def _side_by_side(self, tasks: Sequence[Task]) -> list[Outcome]:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  most events run one hook at a time

        with ThreadPoolExecutor(max_workers=min(len(tasks), 64)) as pool:
            return list(pool.map(lambda task: self._performer.perform(task, self._on_late), tasks))

    def _on_late(self, task: Task, outcome: Outcome) -> Outcome:
        """A stale answer (the event was fired again meanwhile) is recorded and dropped."""
        event = task.event
        current = self.sessions.peek(event.session, event.kind.name).generation
        stale = event.generation != current
        if stale:
            outcome = replace(outcome, error="stale result dropped")
        self.recorder.amend(event.id, outcome)
        if not stale and isinstance(outcome, Replied) and outcome.reply is not None:
            self._apply(task, outcome.reply)
        return outcome

    def _apply(self, task: Task, reply: Reply) -> None:
        if "mode" in reply.attributes:
            self.sessions.settle(task.event.session, mode=str(reply.attributes["mode"] or ""), continuations=None)
        late = Applied(event=task.event, hook=task.spec.name, data=reply.data)
        if self.on_applied is not None:
            self.on_applied(late)  # a session mode alone is news too, to whoever draws a prompt
        elif reply.data:
            self._late.put(late)

    def _happened(self, name: str, data: Mapping[str, Any]) -> None:
        """A plugin was loaded, unloaded or sent a message: an event like any other."""
        self.fire_sync(name, data)


def _times_of(recorder: Recorder) -> Times | None:
    """The latest times of a hook, from a record that can be asked; None where there is none."""
    if not hasattr(recorder, "read"):
        return None

    def times(hook: str, since: float) -> Sequence[float]:
        from hookline.record.query import latest_times  # noqa: PLC0415  few hooks state what they may cost

        return latest_times(cast("Store", recorder), hook, since=since)

    return times


def _as_left(event: Event, state: fold.State) -> Event:
    """The event as the hooks before left it."""
    return replace(event, data=state.data, mode=event.mode if state.mode is None else state.mode)


def _ids() -> Callable[[], str]:
    """Short, unique across processes, and sortable within one."""
    prefix, number = os.urandom(5).hex(), count(1)
    return lambda: f"{prefix}{next(number):x}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _turns_in(history: Any) -> int:
    """Typed user turns in a history that came with the event; 0 when there is none."""
    if not isinstance(history, list):
        return 0
    return sum(_typed(item) for item in history)


def _typed(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") != "user":
        return False
    meta = item.get("meta")
    return not (isinstance(meta, dict) and meta.get("auto_submit"))


def _last_prompt(history: Any) -> str:
    if not isinstance(history, list):
        return ""
    return next((_text(item.get("text")) for item in reversed(history) if _typed(item)), "")
