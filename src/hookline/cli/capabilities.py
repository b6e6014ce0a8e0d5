"""What an agent supports on one event: tried out with the code that writes real answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, all_agents, find_agent
from hookline.core.event import EVENTS, Event
from hookline.core.result import Context, Decision, Injected, Message
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events
from hookline.gateway.derived import BASES
from hookline.gateway.reply import AgentReply, write_reply

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
    #: The events of the agent at which it is made up.
    derived_from: tuple[str, ...] = ()
    deny: Fate
    ask: Fate
    #: Whether a hook's allow spares the person a question.
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
        said = {"deny": self.deny, "ask": self.ask, "context": self.context, "a message to the person": self.messages}
        said |= {f"a change of {name}": fate for name, fate in self.rewrite.items()}
        words = {
            "lost": "is lost",
            "becomes a deny": "becomes a deny",
            "adds only": "can add and replace keys, not remove",
        }
        return tuple(f"{what} {words[fate]}" for what, fate in said.items() if fate in words)


def agents_named(name: str) -> tuple[str, ...]:
    """The agents that ``--agent`` selects: one, or ``all``; none for an unknown name."""
    if name == "all":
        return tuple(all_agents())
    found = find_agent(name)
    return () if found is None else (found.name,)


def ability(agent: str, event: str, data: Mapping[str, Any]) -> Ability:
    """``data`` is the event's data, if given; samples fill in the rest."""
    target, kind = all_agents()[agent], EVENTS[event]
    native = native_events(target).get(event, "")
    bases = () if native else _bases(target, event)
    happening = Event(kind=kind, data={**_sample(event), **data}, session="s", agent=agent, native_name=native or event)
    fates = _Fates(target.dialect, happening)
    # Answers to a derived event are given at the agent's own event.
    carrier = _Fates(target.dialect, _carrier(target, bases[0])) if bases else fates
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
        context=carrier.of("context", context=(Injected(hook="h", context=Context(text="a text of a hook")),)),
        messages=carrier.of("messages", messages=(Message(hook="h", text="a word of a hook"),)),
    )


def _bases(target: Agent, event: str) -> tuple[str, ...]:
    return tuple(base for base in BASES.get(event, ()) if base in native_events(target))


def _carrier(target: Agent, base: str) -> Event:
    return Event(kind=EVENTS[base], data=_sample(base), session="s", native_name=native_events(target)[base])


def _sample(event: str) -> dict[str, Any]:
    return {name: _SAMPLES[name] for name in EVENTS[event].fields if name in _SAMPLES}


class _Fates:
    """Writes one kind of answer at a time and checks what is left of it."""

    def __init__(self, dialect: str, event: Event) -> None:
        self._speaker = dialect_named(dialect)
        self._event = event

    def _write_reply(self, **decision: Any) -> AgentReply:
        fields: dict[str, Any] = {"data": self._event.data, **decision}
        told = Decision(event=self._event.kind.name, **fields)
        return write_reply(self._speaker, self._event, told)

    def of(self, what: str, **decision: Any) -> Fate:
        wording = self._write_reply(**decision)
        if any(one.startswith(what) for one in wording.refused):
            return "becomes a deny"
        return "lost" if any(one.startswith(what) for one in wording.dropped) else "yes"

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
        return self._write_reply(granted=True).answer != self._write_reply().answer
