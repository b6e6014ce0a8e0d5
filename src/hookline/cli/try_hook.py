"""``hookline hooks run``: run one hook on one event and print exactly what it prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hookline.cli.loading import read_data
from hookline.cli.options import add_data, add_json
from hookline.cli.output import print_json
from hookline.core.result import Failed, TimedOut
from hookline.engine.try_hook import payload_event, spec_on, try_hook, why_not

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.core.result import RunResult
    from hookline.engine.try_hook import Trial
    from hookline.tui.catalog import Hook
    from hookline.tui.service import HookService

RUN = """Run one hook on one event and print exactly what it prints.

Without --data and --payload, the event is a sample with every documented field. The hook's matcher, conditions and on/off switch
are ignored; trust is not. At a terminal, a last line on standard error says what the hook decided. The exit code is the
hook's own, except: 2 (which agents read as a block) becomes 1, a hook killed by signal N gives 128+N, and one that could
not run gives 1. Nothing is recorded.

--json prints {"hook", "event", "status", "exit_code", "stdout", "stderr", "error", "would_run", "why_not", "decision"},
where decision has the fields of fire --json.
"""


def configure_run(parser: ArgumentParser) -> None:
    parser.add_argument("hook", metavar="NAME", help="its name, or the beginning of its id")
    parser.add_argument("--event", metavar="E", default="", help="required if the hook listens to more than one event")
    add_data(parser)
    parser.add_argument("--payload", metavar="FILE", help="the event's data, or an agent's own payload; - for stdin")
    parser.add_argument("--recorded", metavar="ID", help="use the data of a recorded event; see: hookline log")
    add_json(parser)


def run_one(hook: Hook, args: Namespace, service: HookService) -> int:
    """Run it on a recorded event, a payload or a sample; return the exit code."""
    if args.recorded:
        tried = service.try_recorded(hook, service.find_recorded(args.recorded))
    elif args.payload is not None or args.data is not None:
        spec = spec_on(hook.specs, args.event)
        data = read_data(args.data or ("-" if args.payload == "-" else f"@{args.payload}"))
        event = payload_event(spec, data, service.runtime)
        why = why_not(spec, event, service.runtime)
        tried = try_hook(spec, event, service.runtime, would_not=why)
    else:
        tried = service.try_sample(hook, args.event)
    if args.json:
        print_json(_trial_shape(tried))
    else:
        _pass_through(tried)
    return _exit_code(tried)


def _pass_through(tried: Trial) -> None:
    raw = tried.raw
    if raw is not None:
        _write(sys.stdout, raw, "stdout")
        if raw.value is not None and not raw.stdout:
            print_json(_as_printed(tried.event.kind.name, raw.value))
        _write(sys.stderr, raw, "stderr")
    if tried.outcome.error and (raw is None or raw.exit_code is None):
        print(f"hookline: {tried.outcome.error}", file=sys.stderr)
    if sys.stderr.isatty():
        print(f"hookline: {_result(tried)}", file=sys.stderr)


def _result(tried: Trial) -> str:
    """What the hook did, for a person: many print nothing."""
    raw, decision, outcome = tried.raw, tried.decision, tried.outcome
    effect = decision.effect if decision.effect != "allow" or decision.granted else "no opinion"
    if isinstance(outcome, Failed | TimedOut):
        how = f" (failed: {outcome.error})"
    else:
        how = f" (exit code {raw.exit_code})" if raw is not None and raw.exit_code is not None else ""
    not_now = f"; on this event it would not run: {tried.would_not}" if tried.would_not else ""
    return f"{tried.spec.name} on {tried.event.kind.name}: {effect}{how}{not_now}"


def _as_printed(event: str, value: Any) -> Any:
    """A function's return value, as a program would print it."""
    from hookline.core.result import Reply  # programs print for themselves

    if not isinstance(value, Reply):
        return value
    from hookline.cli.builtin_hook import document

    return document(event, value)


def _write(stream: Any, raw: RunResult, name: str) -> None:
    """Output above the limit is in a file, complete."""
    spilled = next((path for path in raw.spilled if path.endswith(f".{name}")), None)
    if spilled is None:
        stream.write(getattr(raw, name))
        stream.flush()
        return
    import shutil  # only a flood needs it

    stream.flush()
    with open(spilled, "rb") as file:
        shutil.copyfileobj(file, stream.buffer)
    stream.flush()


def _exit_code(tried: Trial) -> int:
    raw = tried.raw
    if raw is None or raw.error or raw.timed_out:
        return 1
    if raw.signal is not None:
        return 128 + raw.signal
    return {None: 0, 2: 1}.get(raw.exit_code, raw.exit_code or 0)


def _trial_shape(tried: Trial) -> dict[str, Any]:
    from hookline.core.serialize import decision_shape, outcome_shape  # only for programs

    raw = tried.raw
    return {
        **outcome_shape(tried.outcome),
        "event": tried.event.kind.name,
        "stdout": raw.stdout if raw else "",
        "stderr": raw.stderr if raw else "",
        "would_run": not tried.would_not,
        "why_not": tried.would_not or None,
        "decision": decision_shape(tried.decision),
    }
