"""A hook with ``ask = "inbox"`` or ``"two"`` asked: people answer, here or from afar, and without them it is refused."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.core.hook import ASK, INBOX_WAIT, TWO, HookSpec
from hookline.core.result import Outcome, Reply
from hookline.core.settings import RecordSettings, Settings
from hookline.state.inbox import InboxAnswer, ask
from hookline.state.proof import team_key
from hookline.state.record.chain import subject, summarize
from hookline.state.record.redact import Redactor

if TYPE_CHECKING:
    from hookline.core.event import Event

#: Sessions and hooks of which a person said "always in this session". Kept in memory only: no file can say it.
_Always = set[tuple[str, str]]
#: Events of the session that are shown with a question.
_BEFORE = 6


def ask_person(spec: HookSpec, event: Event, outcome: Outcome, settings: Settings, always: _Always) -> Outcome:
    """The outcome with the person's answer in place of the question."""
    reply = outcome.reply
    if reply is None or reply.effect != "ask" or not event.kind.deniable or not settings.state_dir:
        return outcome
    people = 2 if spec.extra[ASK] == TWO else 0
    if people and not team_key(settings.state_dir):
        reason = "two people on call must allow it, and this machine is in no fleet; hookline fleet join"
        return replace(outcome, reply=replace(reply, effect="deny", reason=reason))
    began = monotonic()
    known = not people and (event.session, spec.id) in always
    answer = InboxAnswer(word="allow") if known else _ask(spec, event, reply, settings, people)
    if answer is not None and answer.word == "always" and event.session:
        always.add((event.session, spec.id))
    ms = outcome.ms + (monotonic() - began) * 1000
    return replace(outcome, reply=_reply(reply, answer, people), ms=ms)


def _ask(spec: HookSpec, event: Event, reply: Reply, settings: Settings, people: int) -> InboxAnswer | None:
    clean = Redactor(event.environ, settings.record.redact)
    data = dict(event.data)
    question = {
        "hook": spec.name, "hook_id": spec.id, "event": event.kind.name, "agent": event.agent, "session": event.session,
        "cwd": event.cwd, "reason": clean.text(reply.reason), "about": clean.text(subject(data)), "data": clean.value(data),
        "chain": list(_before(settings.state_dir, event.session)),
    }  # fmt: skip
    if settings.webhook:
        from hookline.engine.webhook import notify

        notify(settings.webhook, question)
    limit = monotonic() + INBOX_WAIT
    return ask(settings.state_dir, question, min(limit, event.until) if event.until else limit, people)


def _before(state: str, session: str) -> list[dict[str, Any]]:
    """What this session did last, as it was recorded."""
    from hookline.state.record.query import firings, load_runs
    from hookline.state.record.store import store_in  # noqa: PLC0415

    with suppress(Exception):  # a record that cannot be read must not answer the question
        store = store_in(state, RecordSettings())
        try:
            rows = firings(store, session=session, last=_BEFORE) if session else []
            runs = load_runs(store, [row.number for row in rows])
        finally:
            store.close()
        return [
            {"time": row.time, "event": row.event, "effect": row.effect, "about": subject(row.data)[:300],
             "summary": summarize(row, runs[row.number])[:300]} for row in rows
        ]  # fmt: skip
    return []


def _reply(reply: Reply, answer: InboxAnswer | None, people: int) -> Reply:
    if answer is None:
        asked = f" (it asked: {reply.reason})" if reply.reason else ""
        where = "hookline fleet inbox, two people on call" if people else "hookline web"
        return replace(reply, effect="deny", reason=f"nobody answered in time; to answer: {where}{asked}")
    who, why = answer.by or "a person", f": {answer.reason}" if answer.reason else ""
    if answer.word == "deny":
        return replace(reply, effect="deny", reason=f"{who} refused it{why}")
    return replace(reply, effect="allow", reason=f"{who} allowed it{why if answer.by else ''}")
