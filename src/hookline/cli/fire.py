"""Fire an event and print the decision.

The exit code is 0 when the action is allowed and 1 for ask, deny or abort; 65 when the data cannot be read,
78 when a named configuration cannot be used. It is never 2.

  hookline fire PreToolUse --data '{"tool_name": "Bash", "tool_input": {"command": "ls"}}'
  hookline fire tool_use_pre --dialect lectic --config lectic.yaml --data @event.json --json
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline import fold
from hookline.cli.gather import assembly_of, event_of, require_readable, tell_problems, tell_untrusted
from hookline.cli.last_resort import hold_deadlines
from hookline.cli.output import answer_apart, json_line, meaning, paint, safe, tell
from hookline.depth import too_deep
from hookline.door import note_lines
from hookline.errors import StateError, UsageError
from hookline.plain import Words, plainly
from hookline.result import STATUS
from hookline.shapes import decision_shape, effect_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from types import SimpleNamespace

    from hookline.result import Decision

_WORDS = Words(
    options={"data": "{}", "session": "", "agent": "", "dialect": None, "config": []},
    flags=frozenset({"json"}),
    alone="event",
)


def plain(words: Sequence[str]) -> SimpleNamespace | None:
    return plainly(words, _WORDS)


def configure(parser: ArgumentParser) -> None:
    from hookline.cli.parser import add_event, add_json, add_sources  # noqa: PLC0415  most calls are plain

    add_event(parser)
    add_sources(parser)
    add_json(parser)


def run(args: Namespace | SimpleNamespace) -> int:
    if why := too_deep(os.environ):
        raise UsageError(why)
    assembly = assembly_of(args, sessions=bool(args.session), live=False)
    hold_deadlines(assembly.engine, refusal=1)
    require_readable(assembly, args.config)
    event = event_of(args, assembly)
    tell_problems(assembly)
    with answer_apart(), assembly.engine as engine:
        decision = engine.fire_event(event)
        decision = fold.amend(decision, engine.join())
    tell_untrusted(decision)
    for note in note_lines(assembly.engine):
        print(f"hookline: {note}", file=sys.stderr)
    told = tell(json_line(decision_shape(decision)) if args.json else shown(decision))
    if decision.effect != "allow" or decision.aborted is not None:
        return 1
    if not told:
        raise StateError("the decision could not be written to standard output")
    return 0


def shown(decision: Decision) -> str:
    """The decision for a person: the effect first, then hook by hook."""
    granted = " (granted)" if decision.granted else ""
    reason = f"  {safe(decision.reason)}" if decision.reason else ""
    lines = [f"{paint(decision.event, 'bold')}  {meaning(decision.effect)}{granted}{reason}"]
    width = max((len(outcome.hook) for outcome in decision.outcomes), default=0)
    for outcome in decision.outcomes:
        said = effect_of(outcome) or ""
        error = f"  {safe(outcome.error)}" if outcome.error else ""
        status = meaning(STATUS[type(outcome)], 9)
        lines.append(f"  {safe(outcome.hook):<{width}}  {status}  {meaning(said, 5)}  {outcome.ms:8.1f} ms{error}")
    for one in decision.context:
        label = f" {one.context.label}" if one.context.label else ""
        lines.append(f"  {paint('+ ' + one.context.placement + label, 'blue')}: {safe(one.context.text)}")
    lines += [f"  {paint('i', 'blue')} {safe(one.hook)}: {safe(one.text)}" for one in decision.messages]
    lines += [f"  {paint('!', 'yellow')} {safe(one.hook)}: {safe(one.text)}" for one in decision.ignored]
    lines += [
        f"  {paint('!', 'yellow')} {one.pointer}: {one.second} overrides {one.first}" for one in decision.conflicts
    ]
    if decision.modified:
        lines.append(f"  {paint('~ data', 'blue')}: {safe(str(dict(decision.data)))}")
    if not decision.outcomes:
        lines.append(paint("  no hook listens to this event here; see: hookline explain " + decision.event, "grey"))
    return "\n".join(lines)
