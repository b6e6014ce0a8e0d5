"""A decision in the words of the agent that asked, and what of it was lost on the way.

What an agent cannot do is degraded only towards deny, and never in silence: every loss is a line for the record.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, maker, replace
from hookline.core.result import Decision, Message
from hookline.dialects.claude_family.outlet import changed, for_the_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hookline.core.event import Event
    from hookline.dialects.base import Answer, Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedReply:
    """What is said, and what could not be. ``dropped`` is left out, ``refused`` has become a deny."""

    answer: Answer
    dropped: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def notes(self, agent: str) -> tuple[Message, ...]:
        """For the record."""
        if not self.refused and not self.dropped:
            return ()
        said = []
        if self.refused:
            said.append(f"{agent} cannot carry this out, so it was told deny: {', '.join(self.refused)}")
        if self.dropped:
            said.append(f"{agent} cannot carry this out, so it was left out: {', '.join(self.dropped)}")
        return tuple(Message(hook="hookline", text=text) for text in said)


_make_wording = maker(WordedReply)


def in_its_words(speaker: Dialect, event: Event, decision: Decision) -> WordedReply:
    """What the agent is told. What it cannot do becomes a deny, unless every hook that asked for it said otherwise:
    then exactly that is left out, and all that can be said stays."""
    answer = speaker.reply_out(event, decision)
    if not answer.lost and not decision.context and not decision.messages:
        return _make_wording(answer=answer)  # as nearly always
    gone: tuple[str, ...] = ()
    if decision.effect != "deny" and decision.droppable:
        answer, decision, gone = _without_what_is_lost(speaker, event, decision, answer)
    lost = tuple(dict.fromkeys((*answer.lost, *_unsaid(decision, answer))))
    if decision.effect == "deny" or not any(map(_decides, lost)) or not _denies(speaker, event, decision):
        return WordedReply(answer=answer, dropped=(*gone, *lost))
    refused = tuple(one for one in lost if _decides(one))
    return WordedReply(answer=answer, refused=refused, dropped=(*gone, *(one for one in lost if one not in refused)))


def failure(speaker: Dialect, event: Event, why: str, *, deny: bool) -> Answer | None:
    """That hookline itself failed, in the agent's own form of a block, or as no opinion.

    None where the agent has no such form: then its registration's shell has the word.
    """
    decision = Decision(event=event.kind.name, data=event.data)
    if not deny:
        return speaker.reply_out(event, decision)
    answer = speaker.reply_out(event, replace(decision, effect="deny", reason=why))
    return None if "deny" in answer.lost else answer


def _without_what_is_lost(
    speaker: Dialect, event: Event, decision: Decision, answer: Answer
) -> tuple[Answer, Decision, tuple[str, ...]]:
    gone: tuple[str, ...] = ()
    if "ask" in answer.lost:
        decision = replace(decision, effect="allow")
        answer, gone = speaker.reply_out(event, decision), ("ask",)
    if any(map(_decides, answer.lost)):
        whole = changed(event, decision)
        said = [name for name in whole if _sayable(speaker, event, _narrowed(event, decision, (name,)))]
        narrow = _narrowed(event, decision, said)
        if not _sayable(speaker, event, narrow):  # each can be said, but not together
            said, narrow = [], _narrowed(event, decision, ())
        decision, answer = narrow, speaker.reply_out(event, narrow)
        gone = (*gone, f"change of {', '.join(name for name in whole if name not in said)}")
    return answer, decision, gone


def _narrowed(event: Event, decision: Decision, names: Sequence[str]) -> Decision:
    """With only these fields changed."""
    data = {**event.data, **{name: decision.data[name] for name in names if name in decision.data}}
    return replace(decision, data=data, modified=bool(names))


def _sayable(speaker: Dialect, event: Event, decision: Decision) -> bool:
    return not any(map(_decides, speaker.reply_out(event, decision).lost))


def _denies(speaker: Dialect, event: Event, decision: Decision) -> bool:
    refusal = replace(decision, effect="deny", reason="no", data=event.data, modified=False)
    return event.kind.deniable and "deny" not in speaker.reply_out(event, refusal).lost


def _decides(lost: str) -> bool:
    """Whether the loss concerns the action itself, and not what is said about it."""
    return lost == "ask" or lost.startswith("change of ")


def _unsaid(decision: Decision, answer: Answer) -> Iterable[str]:
    """Texts that are nowhere in the answer, whether its dialect knows that it left them out or not."""
    said = {line for text in (*_texts(answer.stdout), answer.stderr) for line in text.splitlines()}
    if not said.issuperset(for_the_model(decision).splitlines()):
        yield "context"
    if any(not said.issuperset(message.text.splitlines()) for message in decision.messages):
        yield "messages"


def _texts(stdout: str) -> Iterable[str]:
    """Every text in it: an answer is JSON, or for some agents the text itself."""
    try:
        left = [json.loads(stdout)]
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
