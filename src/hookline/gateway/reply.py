"""A decision in the format of the agent, and what of it the agent cannot do.

What an agent cannot do becomes a deny or is left out, never silently: every loss is a line in the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hookline.core._dataclass import dataclass, fast_constructor, replace
from hookline.core.event import Event
from hookline.core.fast_json import loads
from hookline.core.result import Decision, Message
from hookline.core.tool_names import native_input
from hookline.dialects.base import Answer, Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """The answer, and what it lacks: ``dropped`` was left out, ``refused`` has become a deny."""

    answer: Answer
    dropped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def notes(self, agent: str) -> tuple[Message, ...]:
        """For the record."""
        lines = []
        if self.refused:
            lines.append(f"{agent} does not support this, so the call was refused: {', '.join(self.refused)}")
        if self.dropped:
            lines.append(f"{agent} does not support this, so it was left out: {', '.join(self.dropped)}")
        return tuple(Message(hook="hookline", text=text) for text in lines)


_make_reply = fast_constructor(AgentReply)


def write_reply(dialect: Dialect, event: Event, decision: Decision) -> AgentReply:
    """What the agent cannot do becomes a deny, unless every hook that wants it allows to drop it: then exactly that is
    left out, and the rest stays."""
    if decision.modified and "native_tool_input" in event.data:
        event, decision = _in_agents_words(event, decision)
    answer = dialect.reply_out(event, decision)
    if not answer.lost and not decision.context and not decision.messages:
        return _make_reply(answer=answer)  # as nearly always
    gone: tuple[str, ...] = ()
    if decision.effect != "deny" and decision.droppable:
        answer, decision, gone = _drop_losses(dialect, event, decision, answer)
    lost = tuple(dict.fromkeys((*answer.lost, *_missing_texts(decision, answer))))
    if decision.effect == "deny" or not any(map(_is_action, lost)) or not _denies(dialect, event, decision):
        return AgentReply(answer=answer, dropped=(*gone, *lost))
    refused = tuple(one for one in lost if _is_action(one))
    return AgentReply(answer=answer, refused=refused, dropped=(*gone, *(one for one in lost if one not in refused)))


def _in_agents_words(event: Event, decision: Decision) -> tuple[Event, Decision]:
    """A change of a tool's input under the agent's own names; one that cannot be written so is a refusal."""
    own = native_input(decision.data, event.cwd)
    before = {**event.data, "tool_input": event.data["native_tool_input"]}
    if own is None:
        reason = "a hook changed tool_input in a way that cannot be passed on to this tool, so this is refused"
        return event, replace(
            decision, effect="deny", granted=False, reason=reason, data=event.data, modified=False, droppable=False
        )
    return replace(event, data=before), replace(decision, data={**decision.data, "tool_input": own})


def failure_answer(dialect: Dialect, event: Event, why: str, *, deny: bool) -> Answer | None:
    """That hookline itself failed: as the agent's own form of a block, or as no opinion.

    None where the agent has no such form: then the shell of its registration decides.
    """
    decision = Decision(event=event.kind.name, data=event.data)
    if not deny:
        return dialect.reply_out(event, decision)
    answer = dialect.reply_out(event, replace(decision, effect="deny", reason=why))
    return None if "deny" in answer.lost else answer


def _drop_losses(
    dialect: Dialect, event: Event, decision: Decision, answer: Answer
) -> tuple[Answer, Decision, tuple[str, ...]]:
    gone: tuple[str, ...] = ()
    if "ask" in answer.lost:
        decision = replace(decision, effect="allow")
        answer, gone = dialect.reply_out(event, decision), ("ask",)
    if any(map(_is_action, answer.lost)):
        whole = decision.changed_fields(event)
        kept = [name for name in whole if _is_possible(dialect, event, _narrowed(event, decision, (name,)))]
        narrow = _narrowed(event, decision, kept)
        if not _is_possible(dialect, event, narrow):  # each is possible, but not together
            kept, narrow = [], _narrowed(event, decision, ())
        decision, answer = narrow, dialect.reply_out(event, narrow)
        gone = (*gone, f"change of {', '.join(name for name in whole if name not in kept)}")
    return answer, decision, gone


def _narrowed(event: Event, decision: Decision, names: Sequence[str]) -> Decision:
    """With only these fields changed."""
    data = {**event.data, **{name: decision.data[name] for name in names if name in decision.data}}
    return replace(decision, data=data, modified=bool(names))


def _is_possible(dialect: Dialect, event: Event, decision: Decision) -> bool:
    return not any(map(_is_action, dialect.reply_out(event, decision).lost))


def _denies(dialect: Dialect, event: Event, decision: Decision) -> bool:
    refusal = replace(decision, effect="deny", reason="no", data=event.data, modified=False)
    return event.kind.deniable and "deny" not in dialect.reply_out(event, refusal).lost


def _is_action(lost: str) -> bool:
    """Whether the loss concerns the action itself, and not a text about it."""
    return lost == "ask" or lost.startswith("change of ")


def _missing_texts(decision: Decision, answer: Answer) -> Iterable[str]:
    """Texts that are nowhere in the answer, whether its dialect reports that or not."""
    written = {line for text in (*_texts(answer.stdout), answer.stderr) for line in text.splitlines()}
    if not written.issuperset(decision.model_text.splitlines()):
        yield "context"
    if any(not written.issuperset(message.text.splitlines()) for message in decision.messages):
        yield "messages"


def _texts(stdout: str) -> Iterable[str]:
    """Every text in it: an answer is JSON, or plain text for some agents."""
    try:
        left = [loads(stdout)]
    except ValueError:
        left = [stdout]
    while left:
        match left.pop():
            case str(text):
                yield text
            case dict(fields):
                left += fields.values()
            case list(items):
                left += items
            case _:
                pass
