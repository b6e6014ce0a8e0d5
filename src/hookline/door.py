"""The door that agents knock at: their own payload in, their own kind of answer out.

A cold ``hookline hook`` and the daemon both come through here, so an agent cannot tell which of them answered.
Everything a caller brings is a value: words, standard input, environment and directory.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hookline import fold
from hookline.config.discover import surroundings
from hookline.dataclass import dataclass, replace
from hookline.dialects import dialect_named
from hookline.errors import DataError, UsageError
from hookline.paths import Paths, paths_of
from hookline.plain import HOOK_WORDS, plainly
from hookline.probe import PROBE
from hookline.result import Started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hookline.assembly import Assembly
    from hookline.dialects.base import Answer, Dialect, Incoming
    from hookline.engine import Engine
    from hookline.event import Event
    from hookline.result import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says."""

    agent: str
    event: str = ""
    dialect: str | None = None
    config: tuple[str, ...] = ()


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
    #: What it was said for.
    decision: Decision | None = None


def asked_of(args: Any) -> Asked:
    """From what a parser found."""
    return Asked(agent=args.agent, event=args.event, dialect=args.dialect, config=tuple(args.config))


def asked_plainly(words: Sequence[str]) -> Asked | None:
    """From the words themselves; None when they need a parser."""
    args = plainly(words, HOOK_WORDS)
    return None if args is None else asked_of(args)


def heard(
    asked: Asked,
    stdin: bytes,
    environ: Mapping[str, str],
    here: str,
    around: Callable[[str, Mapping[str, str]], tuple[str, Mapping[str, str]]] | None = None,
) -> Heard:
    """Raises ``UsageError`` and ``DataError``. ``around`` is ``surroundings``, or one that remembers."""
    speaker = dialect_named(asked.agent)
    payload = _payload(stdin)
    name = asked.event or _event_name(payload)
    incoming = speaker.event_in(name, payload, environ)
    cwd = os.path.join(here, incoming.cwd) if incoming.cwd else here
    home, own = (around or surroundings)(cwd, environ)
    return Heard(
        asked=asked, speaker=speaker, payload=payload, name=name, incoming=incoming, here=here, cwd=cwd,
        environ=environ, home=home, paths=paths_of(own, home),
    )  # fmt: skip


def answered(one: Heard, assembly: Assembly, *, ending: bool) -> Told:
    """Fire and translate. ``ending``: nobody is here afterwards, so hooks in the background are waited for now."""
    if PROBE in one.environ and (probed := _probed(one, assembly)) is not None:
        return probed
    engine = assembly.engine
    event = event_of(one, assembly)
    decision = engine.fire_event(event)
    if ending or _may_still_abort(decision, assembly):
        decision = fold.amend(decision, engine.join(None if ending else event.session))
    unfinished = not ending and any(isinstance(outcome, Started) for outcome in decision.outcomes)
    lines = [*problem_lines(assembly), *untrusted_lines(decision), *note_lines(engine)]
    answer = in_its_words(one.speaker, event, decision)
    said = "".join(f"hookline: {line}\n" for line in lines)
    return Told(
        exit_code=answer.exit_code,
        stdout=answer.stdout,
        stderr=said + answer.stderr,
        unfinished=unfinished,
        decision=decision,
    )


def _probed(one: Heard, assembly: Assembly) -> Told | None:
    """The answer to a question of ``hookline doctor``: a refusal where there can be one, and no hook is run.

    None where nobody has asked, whatever the variable says: see ``hookline.probe``.
    """
    from hookline import probe  # noqa: PLC0415  no agent asks
    from hookline.result import Decision as Made  # noqa: PLC0415

    question = probe.taken(one.environ, one.paths.state)
    if not question:
        return None
    event = event_of(one, assembly)
    hooks = [{"hook": each.spec.name, "why_not": each.why or None} for each in assembly.engine.explain(event)]
    probe.answer(
        question,
        {
            "event": event.kind.name, "agent": one.asked.agent, "session": event.session, "cwd": one.cwd,
            "hooks": hooks, "problems": list(problem_lines(assembly)), "pid": os.getpid(),
        },
    )  # fmt: skip
    reason = f"hookline doctor asks: {one.environ[PROBE]}"
    decision = Made(
        event=event.kind.name,
        effect="deny" if event.kind.deniable else "allow",
        reason=reason if event.kind.deniable else "",
        data=event.data,
    )
    said = one.speaker.reply_out(event, decision)
    return Told(exit_code=said.exit_code, stdout=said.stdout, stderr=said.stderr)


def in_its_words(speaker: Dialect, event: Event, decision: Decision) -> Answer:
    """What the agent is told. What it cannot do becomes a deny, unless every hook that asked for it said otherwise."""
    answer = speaker.reply_out(event, decision)
    if not answer.lost or not decision.droppable or decision.effect == "deny":
        return answer
    return speaker.reply_out(event, replace(decision, effect="allow", data=event.data, modified=False))


def event_of(one: Heard, assembly: Assembly) -> Event:
    incoming = one.incoming
    return assembly.engine.event(
        incoming.event, incoming.data, environ=one.environ, session=incoming.session, cwd=one.cwd,
        native=one.payload, native_name=incoming.native_name or one.name,
    )  # fmt: skip


def _may_still_abort(decision: Decision, assembly: Assembly) -> bool:
    started = {outcome.id for outcome in decision.outcomes if isinstance(outcome, Started)}
    return bool(started) and any(spec.id in started and spec.on_failure == "abort" for spec in assembly.engine.specs)


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
        if note := getattr(keeper, "note", ""):
            yield note


def untrusted_lines(decision: Decision) -> Iterator[str]:
    """A hook that silently does not run is what people suffer from."""
    for outcome in decision.outcomes:
        if outcome.error and "hookline trust" in outcome.error:
            yield f"{outcome.hook}: {outcome.error}"


def _payload(stdin: bytes) -> dict[str, Any]:
    try:
        # NaN and Infinity are no JSON, but some agents write them; for a hook they are null.
        value = json.loads(stdin.decode("utf-8"), parse_constant=lambda _name: None)
    except UnicodeDecodeError as error:
        raise DataError(f"standard input is not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"standard input is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise DataError("standard input has a number that is too long") from None
    except RecursionError:
        raise DataError("standard input is nested too deeply") from None
    if not isinstance(value, dict):
        raise DataError("standard input must be a JSON object")
    return value


def _event_name(payload: dict[str, Any]) -> str:
    for field in ("hook_event_name", "event_type", "event", "hookEventName"):
        if isinstance(payload.get(field), str):
            return str(payload[field])
    raise UsageError("the payload does not name its event; add --event NAME")
