"""What an agent supports on one event: from the table of capabilities, or tried with the code that writes answers."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import dataclass
from hookline.core.agents import all_agents, find_agent
from hookline.core.event import EVENTS, Event
from hookline.core.result import Context, Decision, Injected, Message
from hookline.core.typed import Any, Literal
from hookline.dialects import dialect_named
from hookline.dialects.claude_family.capabilities import CAPABILITIES, feasible
from hookline.dialects.event_lookup import native_events
from hookline.gateway.derived import BASES
from hookline.gateway.reply import write_reply

#: What happens to something that a hook asks for.
Fate = Literal["yes", "adds only", "becomes a deny", "lost", "no effect"]

_SAMPLES: Mapping[str, Any] = {
    "tool_name": "Bash", "tool_input": {"command": "ls", "description": "list"}, "tool_output": "text", "prompt": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """One agent, one event."""

    agent: str
    event: str
    fires: Literal["natively", "derived", "never"]
    #: The agent's own name of it; "" where it has none.
    native_event: str = ""
    #: The agent's own events that it is derived from.
    derived_from: tuple[str, ...] = ()
    deny: Fate
    ask: Fate
    #: Whether a hook's allow replaces the question to the person.
    allow: Fate
    #: Field -> what becomes of a change of it.
    rewrite: Mapping[str, Fate]
    context: Fate
    messages: Fate

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"derived_from": list(self.derived_from)}

    def losses(self) -> tuple[str, ...]:
        """What hooks of this event cannot do there, for people."""
        if self.fires == "never":
            return ("the event never fires there, so its hooks do not run",)
        fates = {"deny": self.deny, "ask": self.ask, "context": self.context, "a message to the person": self.messages}
        fates |= {f"a change of {name}": fate for name, fate in self.rewrite.items()}
        texts = {
            "lost": "is lost",
            "becomes a deny": "becomes a deny",
            "adds only": "can add and replace keys, not remove",
        }
        return tuple(f"{what} {texts[fate]}" for what, fate in fates.items() if fate in texts)


def agents_named(name: str) -> tuple[str, ...]:
    """The agents that ``--agent`` selects: one, or ``all``; none for an unknown name."""
    if name == "all":
        return tuple(all_agents())
    found = find_agent(name)
    return () if found is None else (found.name,)


def ability(agent: str, event: str, data: Mapping[str, Any]) -> Ability:
    """``data`` is the event's data, if given; samples fill in the rest."""
    target, kind = all_agents()[agent], EVENTS[event]
    own = native_events(target)
    native = own.get(event, "")
    bases = () if native else tuple(base for base in BASES.get(event, ()) if base in own)
    happening = Event(kind=kind, data={**_sample(event), **data}, session="s", agent=agent, native_name=native or event)
    fates = carrier = _Fates(target.dialect, happening)
    if bases:  # answers to a derived event are given at the agent's own event
        base = Event(kind=EVENTS[bases[0]], data=_sample(bases[0]), session="s", native_name=own[bases[0]])
        carrier = _Fates(target.dialect, base)
    return Ability(
        agent=agent,
        event=event,
        fires="natively" if native else "derived" if bases else "never",
        native_event=native,
        derived_from=bases,
        deny=fates.of("deny", effect="deny", reason="no") if kind.deniable else "no effect",
        ask=fates.of("ask", effect="ask", reason="sure?") if kind.deniable else "no effect",
        allow="yes" if fates.grants() else "no effect",
        rewrite={name: fates.of_change(name) for name in sorted(kind.modifies)},
        context=carrier.tried("context", context=(Injected(hook="h", context=Context(text="a hook's context")),)),
        messages=carrier.tried("messages", messages=(Message(hook="h", text="a hook's message"),)),
    )


def _sample(event: str) -> dict[str, Any]:
    return {name: _SAMPLES[name] for name in EVENTS[event].fields if name in _SAMPLES}


class _Fates:
    """What becomes of one kind of answer at a time."""

    def __init__(self, dialect: str, event: Event) -> None:
        self._dialect = dialect_named(dialect)
        self._can = CAPABILITIES.get(self._dialect.name)
        self._event = event

    def _decision(self, **fields: Any) -> Decision:
        given: dict[str, Any] = {"data": self._event.data, **fields}
        return Decision(event=self._event.kind.name, **given)

    def of(self, what: str, **fields: Any) -> Fate:
        """For effects and changes, which the table decides; an agent of another package has no row in it."""
        if self._can is None:
            return self.tried(what, **fields)
        left = feasible(self._can, self._event, self._decision(**fields))
        if not any(one.startswith(what) for one in left.lost):
            return "yes"
        return "becomes a deny" if left.effect == "deny" else "lost"

    def tried(self, what: str, **fields: Any) -> Fate:
        reply = write_reply(self._dialect, self._event, self._decision(**fields))
        if any(one.startswith(what) for one in reply.refused):
            return "becomes a deny"
        return "lost" if any(one.startswith(what) for one in reply.dropped) else "yes"

    def of_change(self, name: str) -> Fate:
        before = self._event.data.get(name)
        if not isinstance(before, dict) or not before:
            return self._fate_of_value(name, "another text")
        first, *rest = before
        added = self._fate_of_value(name, {**before, first: "another"})
        if added != "yes" or not rest:
            return added
        return "yes" if self._fate_of_value(name, {first: before[first]}) == "yes" else "adds only"

    def _fate_of_value(self, name: str, value: Any) -> Fate:
        return self.of(f"change of {name}", data={**self._event.data, name: value}, modified=True)

    def grants(self) -> bool:
        plain, granted = self._decision(), self._decision(granted=True)
        return self._dialect.reply_out(self._event, granted) != self._dialect.reply_out(self._event, plain)
