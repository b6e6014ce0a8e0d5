"""``hookline hook NAME``: run one built-in hook on the agent's payload, as lazy-harness's settings do.

It prints lazy-harness's documented JSON and always exits with 0: any other exit code risks the session. Agents other
than Claude Code may call it too. Most read the same JSON; if the payload comes from one that does not, the answer is
in that agent's format.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from hookline.cli.output import print_json
from hookline.core.agents import ASSUMED
from hookline.core.builtin_hooks import Known
from hookline.core.event import EVENTS, Event, event_kind
from hookline.core.result import Decision, Injected, Message, Reply
from hookline.dialects import dialect_named
from hookline.dialects.claude_family.payload import payload_agent

#: The usual event of each, for a payload that does not name one.
_RUNS_ON: Mapping[str, str] = {
    "context-inject": "SessionStart",
    "recall": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "session-export": "Stop",
    "compound-loop": "Stop",
    "session-end": "SessionEnd",
}
#: Bytes of a payload that are read.
_LARGEST = 64 << 20


def run_builtin_hook(name: str, event: str, agent: str = "") -> int:
    """``agent`` overrides the agent that the payload seems to come from."""
    known = Known()
    if name not in known or not known[name]:
        names = ", ".join(known)
        _print_error(
            f"there is no built-in hook {name!r} (there are {names}); to run your own hook: hookline hooks run {name}"
        )
        return 0
    try:
        payload = _payload()
        happened = _event(name, event, payload, agent or payload_agent(payload))
        module, _, function = known[name].partition(":")
        reply = getattr(import_module(module), function)(happened)
    except Exception as error:
        _print_error(f"hook {name} raised: {type(error).__name__}: {error}")
        return 0
    if isinstance(reply, Reply) and happened.agent != ASSUMED:
        _print_reply(name, happened, reply)
    elif reply is not None:
        print_json(document(happened.kind.name, reply) if isinstance(reply, Reply) else reply)
    return 0


def _print_reply(name: str, event: Event, reply: Reply) -> None:
    decision = Decision(
        event=event.kind.name,
        context=tuple(Injected(hook=name, context=one) for one in reply.context),
        messages=tuple(Message(hook=name, text=one) for one in reply.messages),
    )
    answer = dialect_named(event.agent).reply_out(event, decision)
    if answer.stdout:
        print(answer.stdout)
    if answer.stderr:
        print(answer.stderr, file=sys.stderr)


def document(event: str, reply: Reply) -> dict[str, Any]:
    """A hook's answer in lazy-harness's format, which is Claude Code's."""
    answer: dict[str, Any] = {}
    specific: dict[str, Any] = {"hookEventName": event}
    if text := "\n\n".join(one.text for one in reply.context):
        specific["additionalContext"] = text
    if reply.effect is not None:
        answer |= {"decision": "block" if reply.effect == "deny" else reply.effect, "reason": reply.reason}
    if reply.messages:
        answer["systemMessage"] = "\n".join(map(str, reply.messages))
    return {"hookSpecificOutput": specific, **answer} if len(specific) > 1 else answer


def _payload() -> dict[str, Any]:
    """The payload; empty if it cannot be read."""
    if not sys.stdin or sys.stdin.isatty():
        return {}
    try:
        value = json.loads(sys.stdin.buffer.read(_LARGEST))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _event(name: str, event: str, payload: Mapping[str, Any], agent: str) -> Event:
    given = event or payload.get("hook_event_name")
    usual = _RUNS_ON.get(name, "SessionStart")
    dialect = dialect_named("lazy" if agent == ASSUMED else agent)
    wanted = dialect.events.get(given, given) if isinstance(given, str) and given else usual
    incoming = dialect.event_in(wanted, payload, os.environ)
    cwd = incoming.cwd or payload.get("cwd")
    return Event(
        kind=event_kind(wanted if wanted in EVENTS else usual),
        data=incoming.data, session=incoming.session, agent=agent, native=dict(payload), native_name=incoming.native_name,
        cwd=cwd if isinstance(cwd, str) and os.path.isabs(cwd) else os.getcwd(), environ=os.environ, time=time.time(),
    )  # fmt: skip


def _print_error(text: str) -> None:
    print(f"hookline: {text}", file=sys.stderr)
