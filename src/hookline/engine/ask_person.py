"""A hook with ``ask = "inbox"`` asked: a person answers in the view, and the call is refused if nobody does."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.hook import INBOX_WAIT, HookSpec
from hookline.core.result import Outcome, Reply
from hookline.state.inbox import InboxAnswer, ask
from hookline.state.record.chain import subject
from hookline.state.record.redact import Redactor

if TYPE_CHECKING:
    from hookline.core.event import Event

#: Sessions and hooks of which a person said "always in this session". Kept in memory only: no file can say it.
Always = set[tuple[str, str]]


def ask_person(spec: HookSpec, event: Event, outcome: Outcome, state: str, always: Always) -> Outcome:
    """The outcome with the person's answer in place of the question."""
    reply = outcome.reply
    if reply is None or reply.effect != "ask" or not event.kind.deniable or not state:
        return outcome
    began = monotonic()
    answer = InboxAnswer(word="allow") if (event.session, spec.id) in always else _ask(spec, event, reply, state)
    if answer is not None and answer.word == "always" and event.session:
        always.add((event.session, spec.id))
    ms = outcome.ms + (monotonic() - began) * 1000
    return replace(outcome, reply=_reply(reply, answer), ms=ms)


def _ask(spec: HookSpec, event: Event, reply: Reply, state: str) -> InboxAnswer | None:
    clean = Redactor(event.environ)
    data = dict(event.data)
    question = {
        "hook": spec.name, "hook_id": spec.id, "event": event.kind.name, "agent": event.agent, "session": event.session,
        "cwd": event.cwd, "reason": clean.text(reply.reason), "about": clean.text(subject(data)), "data": clean.value(data),
    }  # fmt: skip
    limit = monotonic() + INBOX_WAIT
    return ask(state, question, min(limit, event.until) if event.until else limit)


def _reply(reply: Reply, answer: InboxAnswer | None) -> Reply:
    if answer is None:
        asked = f" (it asked: {reply.reason})" if reply.reason else ""
        return replace(reply, effect="deny", reason=f"nobody answered in time; to answer: hookline web{asked}")
    if answer.word == "deny":
        return replace(
            reply, effect="deny", reason=f"a person refused it{': ' + answer.reason if answer.reason else ''}"
        )
    return replace(reply, effect="allow", reason="a person allowed it")
