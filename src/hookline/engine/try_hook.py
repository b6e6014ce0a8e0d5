"""Try one hook on a sample, a recorded event or a payload: its approval counts, its conditions and switch do not.

Nothing is recorded or counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.config.discover import lookup_for
from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import AGENTS, ASSUMED, full_name
from hookline.core.errors import UsageError
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Decision, Outcome, RunResult
from hookline.core.samples import sample
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer
from hookline.dialects.event_lookup import canonical_event
from hookline.engine import fold
from hookline.engine.build import Runtime
from hookline.engine.executor import Executor, Task
from hookline.runners import RunnerPool
from hookline.runners.base import Stop

#: Seconds for a hook without a timeout of its own (a detached one).
_WATCHED = 60.0
#: Payload fields in which agents name the event.
_NAMING = ("hook_event_name", "event_type", "hookEventName")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result. ``would_not`` says why a real event would not run the hook; "" if it would."""

    spec: HookSpec
    event: Event
    outcome: Outcome
    decision: Decision
    would_not: str = ""

    @property
    def raw(self) -> RunResult | None:
        return self.outcome.raw


def spec_on(specs: Sequence[HookSpec], event: str) -> HookSpec:
    """A hook on one of its events; ``event`` may be "" if it has only one."""
    first = specs[0]
    events = tuple(dict.fromkeys(spec.event for spec in specs))
    if not event and len(events) == 1:
        return first
    listens = f"{first.name!r} listens to {', '.join(events)}"
    if not event:
        raise UsageError(f"{listens}; choose one with --event")
    wanted = canonical_event(event, first.dialect)
    exact = [spec for spec in specs if spec.native_event == event]
    found = exact or [spec for spec in specs if spec.event == wanted]
    if not found:
        raise UsageError(f"{listens}, not to {wanted}")
    return found[0]


def find_undeclared(name: str, event: str, runtime: Runtime) -> HookSpec | None:
    """A hook that no file declares: a built-in one, or a file in a hooks directory."""
    engine = runtime.engine
    environ = engine.environ
    home = environ.get("HOME", "")
    lookup = lookup_for(cwd=engine.cwd, home=home, environ=environ, paths=runtime.paths)
    lazy = dialect_named("lazy")
    canonical_name = canonical_event(event, "lazy") if event else ""
    native = next((one for one, other in lazy.events.items() if other == canonical_name), "session_start")
    if not lookup.find(name) and not lookup.builtins.get(name):
        return None
    tree = {"hooks": {native: {"scripts": [name]}}}
    layer = Layer(path=f"hooks run {name}", name="command line", syntax="toml", text="", tree=tree)
    return next(iter(lazy.parse([layer], lookup).specs), None)


def sample_event(spec: HookSpec, runtime: Runtime) -> Event:
    """What an agent or a shell would send from here."""
    data = sample(spec.event)
    if "cwd" in data:
        data["cwd"] = runtime.engine.cwd
    return _event(spec, data, runtime)


def payload_event(spec: HookSpec, payload: Mapping[str, Any], runtime: Runtime) -> Event:
    """Accepts canonical data, our own wire format, or an agent's payload, which names its event."""
    inner = payload.get("data")
    if isinstance(payload.get("event"), str) and isinstance(inner, dict):
        return _event(spec, inner, runtime)
    if not any(isinstance(payload.get(field), str) for field in _NAMING):
        return _event(spec, payload, runtime)
    speaker = dialect_named(AGENTS.get(full_name(spec.dialect), AGENTS[ASSUMED]).dialect)
    name = next(str(payload[field]) for field in _NAMING if isinstance(payload.get(field), str))
    incoming = speaker.event_in(name, payload, runtime.engine.environ)
    return _event(spec, incoming.data, runtime, session=incoming.session, native=payload)


def _event(spec: HookSpec, data: Mapping[str, Any], runtime: Runtime, **more: Any) -> Event:
    native = spec.native_event or spec.event
    session = more.pop("session", "") or str(data.get("session_id") or "hookline-trial")
    cwd = str(data.get("cwd") or runtime.engine.cwd)
    return runtime.engine.event(spec.event, dict(data), session=session, cwd=cwd, native_name=native, **more)


def try_hook(spec: HookSpec, event: Event, runtime: Runtime, *, would_not: str = "", stop: Stop | None = None) -> Trial:
    """Run it as the engine would, ignoring its matcher, conditions and on/off switch, but not trust."""
    verdict = runtime.verdicts.get(spec.extra.get("plugin", spec.id))
    if verdict is not None and verdict.state != "trusted":
        trust = "is not trusted yet" if verdict.state == "unknown" else "has changed since you trusted it"
        raise UsageError(f"{spec.name!r} {trust}; review it with: hookline trust")
    watched = replace(spec, mode="sync", timeout=_WATCHED if spec.timeout is None else spec.timeout)
    performer = Executor(crew=RunnerPool(), settings=runtime.engine.settings, live=False)
    try:
        outcome = performer.run(Task(spec=watched, event=event), stop)
    finally:
        performer.close()
    state = fold.step(fold.begin(event.kind, event.data), watched, outcome)
    return Trial(spec=spec, event=event, outcome=outcome, decision=fold.finish(state, [outcome]), would_not=would_not)


def why_not(spec: HookSpec, event: Event, runtime: Runtime) -> str:
    """Why this event would not run the hook; "" if it would."""
    found = (one for one in runtime.engine.explain(event) if one.spec.id == spec.id)
    return next((one.why for one in found), "")
