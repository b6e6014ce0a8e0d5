"""Fire an event and print the decision.

The exit code is 0 if the action is allowed and 1 for ask, deny or abort; 65 if the data cannot be read, 78 if a named
configuration cannot be used. It is never 2.

  hookline fire PreToolUse --data '{"tool_name": "Bash", "tool_input": {"command": "ls"}}'
  hookline fire tool_use_pre --dialect lectic --config lectic.yaml --data @event.json --json
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

from hookline.cli.failsafe import hold_deadlines
from hookline.cli.loading import (
    build_runtime,
    read_event,
    require_readable,
    tell_problems,
    tell_unapproved,
    tell_untrusted,
)
from hookline.cli.output import json_line, paint, paint_status, print_now, safe
from hookline.cli.stdio import stdout_to_stderr
from hookline.core.agents import all_agents, find_agent, full_name
from hookline.core.errors import StateError, UsageError
from hookline.core.hook import is_guard
from hookline.core.result import NO_OPINION, STATUS, Decision, Message, Replied
from hookline.core.serialize import decision_shape, hook_effect
from hookline.core.typed import TYPE_CHECKING
from hookline.engine import fold
from hookline.engine.build import Runtime, StoreOptions
from hookline.gateway.bypass import why_too_deep

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    from hookline.cli.options import add_event, add_json, add_sources  # most calls are plain

    add_event(parser)
    add_sources(parser)
    add_json(parser)


def run(args: Namespace | SimpleNamespace) -> int:
    if why := why_too_deep(os.environ):
        raise UsageError(why)
    runtime = build_runtime(args, StoreOptions(sessions=bool(args.session), live=False))
    hold_deadlines(runtime.engine, refusal=1)
    require_readable(runtime, args.config)
    if args.agent:
        _refuse_typo(args.agent, runtime)
    event = read_event(args, runtime)
    tell_problems(runtime)
    tell_unapproved(runtime)
    decision: Decision | None = None
    try:
        with stdout_to_stderr(), closing(runtime.engine.sessions), runtime.engine as engine:
            decision = engine.fire_event(event)
            decision = fold.amend(decision, engine.join())
        return _tell(args, runtime, decision)
    except Exception as error:
        if decision is None or not _refuses(decision):
            raise
        print(f"hookline: failed after the decision: {type(error).__name__}: {error}", file=sys.stderr)
        print_now(json_line(decision_shape(decision)) if args.json else render_decision(decision))
        return 1


def _refuse_typo(name: str, runtime: Runtime) -> None:
    """A program may have a name of its own; one that is nearly an agent's is a mistake, and no hook for the agent would run."""
    theirs = [one for spec in runtime.engine.specs for one in spec.gates.agent]
    if find_agent(name) is not None or name in theirs:
        return
    from hookline.core.suggest import nearest  # only a name that is no agent's pays for it

    if near := nearest(name, [*all_agents(), *(agent.dialect for agent in all_agents().values()), *theirs]):
        raise UsageError(f"unknown agent {name!r}; did you mean {full_name(near)!r}?")


def _refuses(decision: Decision) -> bool:
    return decision.effect != "allow" or decision.aborted is not None


def _tell(args: Namespace | SimpleNamespace, runtime: Runtime, decision: Decision) -> int:
    if args.json:  # else the decision says it, hook by hook
        tell_untrusted(decision)
    for note in runtime.engine.notes():
        print(f"hookline: {note}", file=sys.stderr)
    listening = sum(spec.enabled and spec.event == decision.event for spec in runtime.engine.specs)
    shown = json_line(decision_shape(decision)) if args.json else render_decision(decision, listening)
    written = print_now(shown)
    for line in _unread_output(decision, runtime):
        print(f"hookline: {safe(line)}", file=sys.stderr)
    if _refuses(decision):
        return 1
    if not written:
        raise StateError("the decision could not be written to standard output")
    return 0


def _unread_output(decision: Decision, runtime: Runtime) -> Iterator[str]:
    """Text that a guard printed and nobody reads may be meant as a refusal."""
    for outcome in decision.outcomes:
        if not isinstance(outcome, Replied) or outcome.reply != NO_OPINION or not (outcome.raw and outcome.raw.stdout):
            continue
        specs = (spec for spec in runtime.engine.specs if spec.id == outcome.id and is_guard(spec))
        if any(spec.dialect == "native" and spec.output.inject == "none" for spec in specs):
            ways = (
                """to refuse, exit with 2 or print {"effect": "deny"}; to tell the agent, write inject = "context\""""
            )
            yield f"what {outcome.hook} printed has no effect; {ways}"


def render_decision(decision: Decision, listening: int = 0) -> str:
    """The decision for a person: the effect first, then hook by hook. Errors are printed once.

    ``listening`` is how many hooks listen to the event at all.
    """
    granted = " (granted)" if decision.granted else ""
    reason = f"  {safe(decision.reason)}" if decision.reason else ""
    ended = decision.aborted
    word = paint_status(decision.effect) if ended is None else f"{paint_status('aborted')} by {safe(ended.hook)}"
    lines = [f"{paint(safe(decision.event), 'bold')}  {word}{granted}{reason}"]
    width = max((len(outcome.hook) for outcome in decision.outcomes), default=0)
    for outcome in decision.outcomes:
        effect = paint_status(hook_effect(outcome) or "", 5)
        error = f"  {safe(outcome.error)}" if outcome.error and outcome.error not in decision.reason else ""
        status = paint_status(STATUS[type(outcome)], 9)
        lines.append(f"  {safe(outcome.hook):<{width}}  {status}  {effect}  {outcome.ms:8.1f} ms{error}")
    for one in decision.context:
        label = f" {one.context.label}" if one.context.label else ""
        lines.append(f"  {paint('+ ' + one.context.placement + label, 'blue')}: {safe(one.context.text)}")
    lines += [f"  {paint('i', 'blue')} {safe(one.hook)}: {safe(_news(one, decision))}" for one in decision.messages]
    lines += [f"  {paint('!', 'yellow')} {safe(one.hook)}: {safe(one.text)}" for one in decision.ignored]
    lines += [
        f"  {paint('!', 'yellow')} {one.pointer}: {one.second} overrides {one.first}" for one in decision.conflicts
    ]
    if decision.modified:
        lines.append(f"  {paint('~ data', 'blue')}: {safe(json_line(dict(decision.data)))}")
    if not decision.outcomes:
        some = (
            "the hook that listens does not match"
            if listening == 1
            else f"none of the {listening} hooks that listen matches"
        )
        why = some if listening else "none listens to it"
        lines.append(paint(f"  No hook ran: {why}. See: hookline explain {decision.event}", "grey"))
    return "\n".join(lines)


def _news(message: Message, decision: Decision) -> str:
    """The message without the error that the hook's own line already shows."""
    known = (one.error for one in decision.outcomes if one.error and one.hook == message.hook)
    return next((message.text.removesuffix(f": {error}") for error in known if error in message.text), message.text)
