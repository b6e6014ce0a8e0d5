"""The door that agents knock at: their own payload in, their own kind of answer out.

A cold ``hookline hook`` and the daemon both come through here, so an agent cannot tell which of them answered.
Everything a caller brings is a value: words, standard input, environment and directory.
"""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, Any

from hookline import derive, fold
from hookline.config.discover import surroundings
from hookline.dataclass import dataclass, replace
from hookline.depth import VARIABLE as DEPTH
from hookline.dialects import dialect_of_asker
from hookline.dialects.base import FOREIGN
from hookline.event import Event, kind_of
from hookline.frozen import maker
from hookline.knowledge.own import MARK
from hookline.once import key_of
from hookline.paths import Paths, paths_of
from hookline.payload import event_name, payload_of
from hookline.plain import HOOK_WORDS, plainly, seconds_of
from hookline.probe import PROBE
from hookline.result import Started
from hookline.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hookline.assembly import Assembly
    from hookline.dialects.base import Answer, Dialect, Incoming
    from hookline.engine import Engine
    from hookline.facts import Facts
    from hookline.once import Key, Once
    from hookline.problem import Problem
    from hookline.result import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says."""

    agent: str
    event: str = ""
    dialect: str | None = None
    config: tuple[str, ...] = ()
    #: Which registration calls; "" where a person wrote it by hand.
    registration: str = ""
    #: Seconds until the agent is answered, one way or the other; 0.0: nobody has said.
    deadline: float = 0.0
    #: Some hook must not be skipped: what hookline cannot do is refused.
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A payload that was understood, and the surroundings in which its hooks are looked up."""

    asked: Asked
    speaker: Dialect
    payload: Mapping[str, Any]
    name: str
    incoming: Incoming
    #: Where the caller stands; ``cwd`` is where the agent says it works.
    here: str
    cwd: str
    environ: Mapping[str, str]
    home: str
    paths: Paths
    #: When hooks must be done, so that there is time for an answer (``time.monotonic``); 0.0: they have their own limits.
    until: float = 0.0
    #: Tells the number of the process that asks, to whoever needs it; None: it is this one, or nobody knows.
    asker: Callable[[], int] | None = None

    def options(self) -> dict[str, Any]:
        """How ``assemble`` is to be called."""
        config = [os.path.join(self.here, file) for file in self.asked.config]
        return {
            "cwd": self.cwd, "config": config or None, "dialect": self.asked.dialect, "environ": self.environ,
            "home": self.home, "agent": self.asked.agent, "live": False, "agents_door": True, "paths": self.paths,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the agent is given back."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    #: Hooks go on in the background; somebody should wait for them.
    unfinished: bool = False
    #: What it was said for, and on which event.
    decision: Decision | None = None
    event: Event | None = None


#: Variables of callers for whom no hook may be run: see ``spared``. Whether they mean anything is asked there.
SPECIAL = frozenset({PROBE, MARK, DEPTH})

make_heard, make_told = maker(Heard), maker(Told)


def asked_of(args: Any) -> Asked:
    """From what a parser found."""
    return Asked(
        agent=args.agent, event=args.event, dialect=args.dialect, config=tuple(args.config),
        registration=args.registration, deadline=seconds_of(args.deadline),
        closed=args.on_failure == "deny",
    )  # fmt: skip


def own_time(deadline: float) -> float:
    """Seconds of a deadline that are not for hooks: to end them, to write down what they said, to answer."""
    return min(5.0, deadline / 4)


def asked_plainly(words: Sequence[str]) -> Asked | None:
    """From the words themselves; None when they need a parser."""
    args = plainly(words, HOOK_WORDS)
    return None if args is None else asked_of(args)


def heard(
    asked: Asked,
    stdin: bytes,
    environ: Mapping[str, str],
    here: str,
    around: Callable[[str, Mapping[str, str]], tuple[str, Paths]] | None = None,
    *,
    asker: Callable[[], int] | None = None,
) -> Heard:
    """Raises ``UsageError`` and ``DataError``. ``around`` is ``home_and_paths``, or one that remembers."""
    payload = payload_of(stdin)
    speaker = dialect_of_asker(asked.agent, payload)
    name = asked.event or event_name(payload)
    incoming = speaker.event_in(name, payload, environ)
    cwd = incoming.cwd or here
    if not cwd.startswith("/"):
        cwd = os.path.join(here, cwd)
    home, paths = (around or home_and_paths)(cwd, environ)
    return make_heard(
        asked=asked, speaker=speaker, payload=payload, name=name, incoming=incoming, here=here, cwd=cwd,
        environ=environ, home=home, paths=paths,
        until=monotonic() + asked.deadline - own_time(asked.deadline) if asked.deadline else 0.0,
        asker=asker,
    )  # fmt: skip


def home_and_paths(cwd: str, environ: Mapping[str, str]) -> tuple[str, Paths]:
    home, own = surroundings(cwd, environ)
    return home, paths_of(own, home)


def answered(
    one: Heard,
    assembly: Assembly,
    *,
    ending: bool,
    once: Once | None = None,
    decided: Callable[[Answer], None] | None = None,
) -> Told:
    """Fire and translate. ``ending``: nobody is here afterwards, so hooks in the background are waited for now.

    ``once`` remembers events that come through several registrations. ``decided`` is told the answer before it is
    written down, which may take a while.
    """
    if not one.environ.keys().isdisjoint(SPECIAL) and (spared := _without_hooks(one, assembly)) is not None:
        return spared
    if once is None or not one.asked.registration:
        return _fired(one, assembly, ending=ending, decided=decided)
    turn = once.enter(same(one), one.asked.registration, one.until)
    try:
        if turn.earlier is None:
            told = _fired(one, assembly, ending=ending, decided=decided)
            if told.decision is not None and told.event is not None:
                turn.keep(told.event, told.decision)
            return told
        event = event_of(one, assembly)
        first, second = turn.earlier.registration, one.asked.registration
        assembly.engine.recorder.mark(
            turn.earlier.event_id, f"arrived through {first} and through {second}; its hooks ran once"
        )
        answer = in_its_words(one.speaker, event, turn.earlier.again(event)).answer
        return _told(answer, [*problem_lines(assembly), *note_lines(assembly.engine)])
    finally:
        turn.leave()


def same(one: Heard) -> Key:
    """What the same event has in common, through whichever registration it comes."""
    return key_of(one.incoming, one.cwd, one.asked.dialect or "", *one.asked.config)


def _fired(one: Heard, assembly: Assembly, *, ending: bool, decided: Callable[[Answer], None] | None = None) -> Told:
    engine = assembly.engine
    answer: Answer | None = None
    meant: Decision | None = None

    def worded(event: Event, decision: Decision) -> Decision:
        """What this agent cannot do is part of the record, and so is that it was refused for it."""
        nonlocal answer, meant
        if one.asked.closed and assembly.loaded.problems:
            decision = _closed(event, decision, assembly)
        wording = in_its_words(one.speaker, event, decision)
        answer = wording.answer
        if decided is not None:
            decided(answer)
        notes = wording.notes(one.asked.agent)
        if not notes:
            return decision
        if wording.refused:
            meant = decision
            decision = replace(decision, effect="deny", granted=False)
        return replace(decision, ignored=(*decision.ignored, *notes))

    if derive.fruitful(one.speaker.name, one.incoming.event):
        event = event_of(one, assembly)
        scene = derive.Scene(
            agent=one.speaker.name, home=one.home, state=one.paths.state, environ=one.environ,
            caller=one.asker() if one.asker is not None else os.getpid() if ending else 0,
        )  # fmt: skip
        decision = derive.fired(engine, event, scene, worded)
    else:
        incoming = one.incoming
        facts = engine.counted(incoming.event, incoming.data, session_of(incoming))
        event = event_of(one, assembly, facts)
        decision = engine.fire_counted(event, facts, worded)
    goes_on = Started in map(type, decision.outcomes)
    if ending or (goes_on and _may_still_abort(decision, assembly)):
        late = engine.join(None, one.until) if ending else engine.join(event.session)
        if late:
            decision = fold.amend(decision, late)
        if late and meant is None:
            answer = in_its_words(one.speaker, event, decision).answer
    assert answer is not None
    if meant is not None:  # who asks through another registration may be an agent that can do it
        decision = replace(decision, effect=meant.effect, granted=meant.granted)
    return _told(answer, _lines(assembly, decision), unfinished=goes_on and not ending, decision=decision, event=event)


def _closed(event: Event, decision: Decision, assembly: Assembly) -> Decision:
    """A guard that could not be loaded says nothing, and its silence is no consent."""
    why = next(_not_loaded(assembly), None)
    if why is None or decision.effect == "deny" or not event.kind.deniable:
        return decision
    reason = f"hookline failed: a hook that must not be skipped may be missing, since {why} (see: hookline check)"
    return replace(decision, effect="deny", granted=False, reason=reason, data=event.data, modified=False)


def _not_loaded(assembly: Assembly) -> Iterator[Problem]:
    """Mistakes for which a hook of the user's own is not there. What a repository writes must not lock its reader out,
    and a guard of its that was trusted counts as failed anyway."""
    foreign = {source.path for source in assembly.loaded.sources if source.layer in FOREIGN}
    for problem in assembly.loaded.problems:
        of_hooks = problem.pointer == "$" or problem.pointer.startswith(("$.hook", "$.source"))
        if of_hooks and problem.severity == "error" and problem.file not in foreign:
            yield problem


def _told(
    answer: Answer,
    lines: Sequence[str],
    *,
    unfinished: bool = False,
    decision: Decision | None = None,
    event: Event | None = None,
) -> Told:
    said = "".join([f"hookline: {line}\n" for line in lines]) if lines else ""
    return make_told(
        exit_code=answer.exit_code,
        stdout=answer.stdout,
        stderr=said + answer.stderr,
        unfinished=unfinished,
        decision=decision,
        event=event,
    )


def _without_hooks(one: Heard, assembly: Assembly) -> Told | None:
    from hookline.spared import spared  # noqa: PLC0415  hardly anybody has one of the variables

    said = spared(one, event_of(one, assembly), assembly.engine, problem_lines(assembly))
    return None if said is None else _told(said.answer, said.lines)


def event_of(one: Heard, assembly: Assembly, facts: Facts | None = None) -> Event:
    incoming = one.incoming
    return assembly.engine.event(
        incoming.event, incoming.data, environ=one.environ, session=incoming.session, cwd=one.cwd,
        native=one.payload, native_name=incoming.native_name or one.name, until=one.until, facts=facts,
    )  # fmt: skip


def session_of(incoming: Incoming) -> str:
    told = incoming.session or incoming.data.get("session_id")
    return told if isinstance(told, str) else ""


def bare_event(one: Heard) -> Event:
    """The event as it came, where there is no engine to make it."""
    incoming = one.incoming
    return Event(
        kind=kind_of(incoming.event), data=incoming.data, session=incoming.session, agent=one.asked.agent, cwd=one.cwd,
        environ=one.environ, native=one.payload, native_name=incoming.native_name or one.name,
    )  # fmt: skip


def _may_still_abort(decision: Decision, assembly: Assembly) -> bool:
    started = {outcome.id for outcome in decision.outcomes if isinstance(outcome, Started)}
    return bool(started) and any(spec.id in started and spec.on_failure == "abort" for spec in assembly.engine.specs)


def _lines(assembly: Assembly, decision: Decision) -> list[str]:
    """What a person should know besides the answer; mostly nothing, which must cost nothing."""
    lines: list[str] = []
    if assembly.loaded.problems or assembly.missing:
        lines += problem_lines(assembly)
    for outcome in decision.outcomes:
        if outcome.error:
            lines += untrusted_lines(decision)
            break
    lines += note_lines(assembly.engine)
    return lines


def problem_lines(assembly: Assembly) -> Iterator[str]:
    """Said every time, so that no guard that could not be loaded is missed: a hook that is not there fails open."""
    for problem in assembly.loaded.problems:
        if problem.severity == "error":
            yield str(problem)
    for one in assembly.missing:
        yield f"the trusted hook {one.name!r} is gone from {one.file}; see: hookline trust"


def note_lines(engine: Engine) -> Iterator[str]:
    """What could not be written down: a record with gaps that nobody knows of is worse than none."""
    for keeper in (engine.recorder, engine.sessions):
        note: str = getattr(keeper, "note", "")
        if note:
            yield note


def untrusted_lines(decision: Decision) -> Iterator[str]:
    """A hook that silently does not run is what people suffer from."""
    for outcome in decision.outcomes:
        if outcome.error and "hookline trust" in outcome.error:
            yield f"{outcome.hook}: {outcome.error}"
