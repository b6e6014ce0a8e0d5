"""Callers for whom no hook is run: the doctor's question, our own model, and a hook that has called itself too often.

Each has a variable, and none of them means anything by itself, since a repository can set variables: the doctor and
our own model are known by a private file, and who is too deep is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.recursion import too_deep
from hookline.core.result import Decision
from hookline.gateway import own_model, probe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookline.core.event import Event
    from hookline.dialects.base import Answer
    from hookline.engine.engine import Engine
    from hookline.gateway.request import AgentRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bypass:
    """What the agent is told, and what is said beside it."""

    answer: Answer
    lines: tuple[str, ...] = ()


def spared(one: AgentRequest, event: Event, engine: Engine, problems: Iterable[str]) -> _Bypass | None:
    """The answer to one of those callers; None for everybody else, whatever their variables say."""
    return _probed(one, event, engine, problems) or _of_our_own_model(one, event) or _too_deep(one, event)


def _probed(one: AgentRequest, event: Event, engine: Engine, problems: Iterable[str]) -> _Bypass | None:
    """A refusal where there can be one, with the doctor's word in it."""
    question = probe.taken(one.environ, one.paths.state)
    if not question:
        return None
    hooks = [{"hook": each.spec.name, "why_not": each.why or None} for each in engine.explain(event)]
    probe.answer(
        question,
        {
            "event": event.kind.name, "agent": one.asked.agent, "session": event.session, "cwd": one.cwd,
            "hooks": hooks, "problems": list(problems), "pid": os.getpid(),
        },
    )  # fmt: skip
    asked = f"hookline doctor asks: {one.environ[probe.PROBE]}"
    return _Bypass(answer=_said(one, event, asked if event.kind.deniable else ""))


def _of_our_own_model(one: AgentRequest, event: Event) -> _Bypass | None:
    """The process that distils a session may use no tool."""
    if not own_model.off(one.environ, one.paths.state):
        return None
    tool = event.kind.name in {"PreToolUse", "PermissionRequest"}
    return _Bypass(
        answer=_said(one, event, "hookline distils a session here: no tool is needed for it" if tool else "")
    )


def _too_deep(one: AgentRequest, event: Event) -> _Bypass | None:
    """What can be refused is. Only not what makes the agent go on (``Stop``), if the registration does not ask for it:
    that would never end."""
    why = too_deep(one.environ)
    if not why:
        return None
    refused = event.kind.deniable and (one.asked.closed or not event.kind.continues)
    return _Bypass(answer=_said(one, event, why if refused else ""), lines=(why,))


def _said(one: AgentRequest, event: Event, refusal: str) -> Answer:
    decision = Decision(
        event=event.kind.name, effect="deny" if refusal else "allow", reason=refusal, data=event.data
    )  # fmt: skip
    return one.speaker.reply_out(event, decision)
