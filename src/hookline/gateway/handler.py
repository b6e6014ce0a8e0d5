"""An agent's event in, its answer out, in the agent's own format.

A cold ``hookline hook`` and the daemon both come through here, so an agent cannot tell which of them answered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from hookline.core._dataclass import EMPTY, dataclass, fast_constructor, replace
from hookline.core.agents import AGENTS, LONGEST
from hookline.core.event import Event
from hookline.core.hook import ASK, INBOX_WAIT, HookSpec
from hookline.core.paths import Directories
from hookline.core.result import Decision, Message, Started
from hookline.core.session_facts import Facts
from hookline.dialects.base import Answer, Dialect, Incoming
from hookline.engine import fold
from hookline.engine.build import Runtime, Sources
from hookline.gateway import derived
from hookline.gateway.args import BYPASS_VARIABLES
from hookline.gateway.dedupe import Deduper, EarlierDecision
from hookline.gateway.notices import SessionNotice, find_unloaded_guards, problem_lines, trust_lines
from hookline.gateway.reply import AgentReply, write_reply
from hookline.gateway.request import AgentRequest, dedupe_key


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResponse:
    """What the agent gets back."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    #: Hooks still run in the background; somebody should wait for them.
    unfinished: bool = False
    #: The decision that was translated, and its event; None where no hook ran.
    decision: Decision | None = None
    event: Event | None = None


_make_response = fast_constructor(AgentResponse)


def hook_sources(request: AgentRequest, environ: Mapping[str, str] | None = None) -> Sources:
    """Where the hooks of a request come from; ``environ`` if not the request's own."""
    arguments = request.arguments
    return Sources(
        cwd=request.project,
        working_in=request.working_in,
        config=[os.path.join(request.caller_cwd, file) for file in arguments.config] or None,
        dialect=arguments.dialect,
        environ=request.environ if environ is None else environ,
        home=request.home,
        paths=request.paths,
        # A repository's agent settings can set variables: none of them says where a file of the person's is.
        lookup=Directories(home=request.home, paths=request.paths).variables(),
        others=request.others,
        agent=arguments.agent,
        agents_door=True,
        registered=arguments.directories is not None,
    )


def handle(
    request: AgentRequest,
    runtime: Runtime,
    *,
    ending: bool,
    deduper: Deduper | None = None,
    on_answer: Callable[[Answer], None] | None = None,
) -> AgentResponse:
    """Fire and translate. ``ending``: the process ends afterwards, so background hooks are waited for now.

    ``deduper`` remembers events that come through several registrations. ``on_answer`` gets the answer before it is
    recorded, which may take a while. Once there is an answer, it is given: whatever fails after that is a notice.
    """
    known: list[Answer] = []

    def keep(answer: Answer) -> None:
        known[:] = [answer]
        if on_answer is not None:
            on_answer(answer)

    try:
        return _handle(request, runtime, ending=ending, deduper=deduper, on_answer=keep)
    except Exception as error:
        if not known:
            raise
        return _response(known[0], [f"failed after the decision: {type(error).__name__}: {error}"])


def _handle(
    request: AgentRequest,
    runtime: Runtime,
    *,
    ending: bool,
    deduper: Deduper | None,
    on_answer: Callable[[Answer], None],
) -> AgentResponse:
    request = with_deadline(request, runtime)
    if not request.environ.keys().isdisjoint(BYPASS_VARIABLES):
        from hookline.gateway import bypass

        bypassed = bypass.bypass(request, _event(request, runtime), runtime.engine, problem_lines(runtime))
        if bypassed is not None:
            return _response(*bypassed)
    if deduper is None or not request.arguments.registration:
        return _run_hooks(request, runtime, ending=ending, on_answer=on_answer)
    turn = deduper.enter(dedupe_key(request), request.arguments.registration, request.until)
    try:
        if turn.earlier is not None:
            return _repeat(request, runtime, turn.earlier, on_answer)
        response = _run_hooks(request, runtime, ending=ending, on_answer=on_answer)
        if response.decision is not None and response.event is not None:
            turn.keep(response.event, response.decision)
        return response
    finally:
        turn.leave()


#: Seconds that hookline has for itself, and the least that it takes before it gives up.
_OWN, _LEAST = 10.0, 60.0


def answer_seconds(specs: Sequence[HookSpec], event: str, agent: str, given: float = 0.0) -> float:
    """Seconds until the agent must have an answer: as long as the hooks of its event may take, and less than the agent
    gives us, since it goes on with what it was about to do when its own time is over. ``given`` is the most if it is
    not 0."""
    known = AGENTS.get(agent) or derived.calling_agent(agent)
    most = min(LONGEST if known is None else known.limits.get(event, LONGEST), LONGEST) - 1
    if given:
        most = min(most, given)
    # One after the other, in the worst case; hooks of an event that is derived from this one run in its time.
    needed = _OWN
    for spec in specs:
        if spec.enabled and (spec.event == event or event in derived.BASES.get(spec.event, ())):
            needed += most if spec.timeout is None else spec.timeout
            needed += INBOX_WAIT if ASK in spec.extra else 0.0
    return min(max(_LEAST, needed), most)


def with_deadline(request: AgentRequest, runtime: Runtime) -> AgentRequest:
    """The request, with the moment by which its hooks must be done."""
    arguments = request.arguments
    key = (request.incoming.event, arguments.agent, arguments.deadline)
    seconds = runtime.answer_seconds.get(key)
    if seconds is None:
        seconds = runtime.answer_seconds[key] = answer_seconds(runtime.engine.specs, *key)
    reserved = min(5.0, seconds / 4)  # to end hooks, to record, to answer
    return request.until_then(monotonic() + seconds - reserved)


def _repeat(
    request: AgentRequest, runtime: Runtime, earlier: EarlierDecision, on_answer: Callable[[Answer], None]
) -> AgentResponse:
    """The decision that was made when the same event came through another registration."""
    event = _event(request, runtime)
    first, second = earlier.registration, request.arguments.registration
    answer = _reply(request.dialect, event, earlier.for_event(event)).answer
    on_answer(answer)
    runtime.engine.recorder.mark(earlier.event_id, f"arrived through {first} and through {second}; its hooks ran once")
    return _response(answer, [*problem_lines(runtime), *runtime.engine.notes()])


def _run_hooks(
    request: AgentRequest, runtime: Runtime, *, ending: bool, on_answer: Callable[[Answer], None]
) -> AgentResponse:
    writer = _AnswerWriter(request, runtime, on_answer)
    event, decision = _fire(request, runtime, writer)
    in_background = Started in map(type, decision.outcomes)
    if ending or (in_background and _may_still_abort(decision, runtime)):
        engine = runtime.engine
        late = engine.join(None, request.until) if ending else engine.join(event.session)
        if late:
            decision = fold.amend(decision, late)
            writer.amend(event, decision)
    if writer.answer is None:  # writing it failed once
        decision = writer.finish(event, decision)
    assert writer.answer is not None
    decision = writer.before_refusal(decision)
    lines = [*writer.notices, *_notices(runtime, decision)]
    return _response(
        writer.answer, lines, unfinished=in_background and not ending, decision=decision, event=event
    )  # fmt: skip


def _notices(runtime: Runtime, decision: Decision) -> list[str]:
    """Lines for stderr; mostly none, which must cost nothing."""
    lines = list(problem_lines(runtime)) if runtime.loaded.problems or runtime.missing or runtime.held else []
    for outcome in decision.outcomes:
        if outcome.error:
            lines += trust_lines(decision)
            break
    return lines + runtime.engine.notes()


def _fire(request: AgentRequest, runtime: Runtime, writer: _AnswerWriter) -> tuple[Event, Decision]:
    engine, incoming, agent = runtime.engine, request.incoming, request.dialect.name
    if incoming.event not in derived.EVENTS or not derived.derives(agent, incoming.event):
        facts = engine.count_event(incoming.event, incoming.data, _session(incoming))
        event = _event(request, runtime, facts)
        return event, engine.fire_counted(event, facts, writer.finish)
    event = _event(request, runtime)
    caller = 0 if request.caller_pid is None else request.caller_pid()
    context = derived.DerivedContext(
        agent=agent, home=request.home, state=request.paths.state, environ=request.environ, caller=caller
    )
    return event, derived.fire_with_derived(engine, event, context, writer.finish)


class _AnswerWriter:
    """Translates a decision before it is recorded, so that the record holds what the agent could not do."""

    __slots__ = ("_intended", "_on_answer", "_request", "_runtime", "answer", "notices")

    def __init__(self, request: AgentRequest, runtime: Runtime, on_answer: Callable[[Answer], None]) -> None:
        self._request = request
        self._runtime = runtime
        self._on_answer = on_answer
        #: What hooks decided, where it had to become a refusal.
        self._intended: Decision | None = None
        self.answer: Answer | None = None
        #: Lines for stderr that this session has not seen.
        self.notices: list[str] = []

    def finish(self, event: Event, decision: Decision) -> Decision:
        """What this agent cannot do goes into the record, and so does the refusal that this leads to."""
        request = self._request
        if event.kind.name == "SessionStart" and request.arguments.registration:
            decision = _report_unregistered(request, decision, self._runtime)
        if request.arguments.fail_closed and self._runtime.loaded.problems:
            decision = refuse_missing_guard(event, decision, self._runtime)
        reply = _reply(request.dialect, event, decision)
        self._give(reply.answer)
        if self._runtime.unapproved or (
            decision.effect == "allow" and any(one.needs_trust for one in decision.outcomes if one.not_run)
        ):
            self._add_notice(event, decision, reply)
        given = self.answer or reply.answer
        if given.exit_code or given.stdout or given.stderr:
            decision = replace(decision, answer=(given.exit_code, given.stdout, given.stderr))
        if not reply.refused and not reply.dropped:
            return decision
        notes = reply.notes(request.arguments.agent)
        if reply.refused:
            self._intended = decision
            decision = replace(decision, effect="deny", granted=False)
        return replace(decision, ignored=(*decision.ignored, *notes))

    def _give(self, answer: Answer) -> None:
        self.answer = answer
        self._on_answer(answer)

    def _add_notice(self, event: Event, decision: Decision, reply: AgentReply) -> None:
        """The notice goes with the answer where the agent shows messages, and is no part of what is recorded."""
        notice = SessionNotice(self._runtime, event, decision)
        if notice.claim("stderr"):
            self.notices = notice.approvals
        if not notice.is_new():
            return
        more = _reply(self._request.dialect, event, notice.add_to(decision))
        as_before = more.refused == reply.refused and "messages" not in more.dropped
        if as_before and notice.claim():
            self._give(more.answer)

    def amend(self, event: Event, decision: Decision) -> None:
        """A failure in the background can change the answer, unless it is a refusal already."""
        if self._intended is None:
            self._give(_reply(self._request.dialect, event, decision).answer)

    def before_refusal(self, decision: Decision) -> Decision:
        """As hooks decided it: another registration may belong to an agent that can do what this one cannot."""
        intended = self._intended
        return decision if intended is None else replace(decision, effect=intended.effect, granted=intended.granted)


def _reply(dialect: Dialect, event: Event, decision: Decision) -> AgentReply:
    """A decision that cannot be written whole keeps its effect and its reason; without its changes it is a refusal."""
    try:
        return write_reply(dialect, event, decision)
    except Exception as error:
        note = f"what it says could not be written: {type(error).__name__}: {error}"
        plain = replace(
            decision, context=(), messages=(), attributes=EMPTY, data=event.data, modified=False,
            effect="deny" if decision.modified else decision.effect, granted=decision.granted and not decision.modified,
        )  # fmt: skip
        return replace(write_reply(dialect, event, plain), dropped=(note,))


def _report_unregistered(request: AgentRequest, decision: Decision, runtime: Runtime) -> Decision:
    """A hook that the agent does not call looks like one that works, so the person is told when a session begins."""
    from hookline.gateway import required_events as required

    agent = derived.calling_agent(request.arguments.agent)
    agents = () if agent is None else (agent,)
    hooks = required.active_hooks(runtime)
    found = required.missing_events(
        hooks,
        agents,
        request.cwd,
        request.home,
        request.environ,
        unwanted=required.empty_events(runtime),
    )
    messages = tuple(Message(hook="hookline", text=str(one)) for one in found)
    return replace(decision, messages=(*decision.messages, *messages)) if messages else decision


def refuse_missing_guard(event: Event, decision: Decision, runtime: Runtime) -> Decision:
    """A guard that could not be loaded cannot object, so its silence is no consent."""
    why = next(find_unloaded_guards(runtime, event.kind.name), None)
    if why is None or decision.effect == "deny" or not event.kind.deniable:
        return decision
    reason = f"hookline failed: a hook that must not be skipped may be missing, since {why} (see: hookline check)"
    return replace(decision, effect="deny", granted=False, reason=reason, data=event.data, modified=False)


def _may_still_abort(decision: Decision, runtime: Runtime) -> bool:
    started = {outcome.id for outcome in decision.outcomes if isinstance(outcome, Started)}
    return bool(started) and any(spec.id in started and spec.on_failure == "abort" for spec in runtime.engine.specs)


def _event(request: AgentRequest, runtime: Runtime, facts: Facts | None = None) -> Event:
    incoming = request.incoming
    return runtime.engine.event(
        incoming.event, incoming.data, environ=request.environ, session=incoming.session, cwd=request.cwd,
        native=request.payload, native_name=incoming.native_name or request.event_name, until=request.until,
        facts=facts, caller=0 if request.caller_pid is None else request.caller_pid(),
    )  # fmt: skip


def _session(incoming: Incoming) -> str:
    session = incoming.session or incoming.data.get("session_id")
    return session if isinstance(session, str) else ""


def _response(
    answer: Answer,
    lines: Sequence[str],
    *,
    unfinished: bool = False,
    decision: Decision | None = None,
    event: Event | None = None,
) -> AgentResponse:
    notes = "".join([f"hookline: {line}\n" for line in lines]) if lines else ""
    return _make_response(
        exit_code=answer.exit_code,
        stdout=answer.stdout,
        stderr=notes + answer.stderr,
        unfinished=unfinished,
        decision=decision,
        event=event,
    )
