"""Show what the guard reads in a command, or measure it on judged commands.

  hookline guard explain 'COMMAND'             its effects, and what the guard that is in force here answers, beside what
                                               standard and strict do; --policy asks that policy alone
  hookline guard score FILE.jsonl              caught, missed, asked about, false alarms; each line of the file is
                                               {"command": …, "expect": "deny" | "pass" | "allow" | "ask"}
  hookline guard report                        what it refused, asked about, or would have refused while watching

A guard is no sandbox: it judges the text of a command, not what a program does once it runs.

explain --json prints {"command", "verdict", "reason", "safer", "policy", "files": [those with a [guard] that judged], "reads_only",
"programs": [[words]], "effects": [{"kind", "harm", "what", "where", "why", "cause", "safer", "answer"}],
"doubts": [{"reason", "source"}]}.
report --json prints {"days", "commands": [{"would", "enforced", "kind", "reason", "count", "agents", "last"}]}.
score --json prints {"cases", "caught", "missed": [commands], "asked": [commands], "false_alarms": [commands],
"granted": n, "granted_wrongly": [commands]}. "deny": refused (deny or ask) or missed. "pass": refused outright is a false
alarm. "ask": granted is granted wrongly. The commands are judged on an imagined machine, not on this one.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import date

from hookline.cli.guard_report import report
from hookline.cli.loading import look, tell_unapproved
from hookline.cli.options import add_json
from hookline.cli.output import paint_status, plural, print_json, safe, table
from hookline.core._dataclass import dataclass, replace
from hookline.core.builtin_hooks import GUARD
from hookline.core.errors import DataError, UsageError
from hookline.core.hook import Function
from hookline.gateway.required_events import active_hooks
from hookline.guard.effects import Effect
from hookline.guard.policy import ANSWERS, POLICIES, READY, Policy
from hookline.guard.score import Score, rates, score
from hookline.guard.verdict import Surroundings, Verdict, here, judge, make_scene

#: The policies that an explanation compares.
_SHOWN = ("standard", "strict")
#: How many commands of a kind are listed for a person.
_LISTED = 40


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("act", metavar="explain|score|report", choices=("explain", "score", "report"))
    parser.add_argument("what", metavar="COMMAND|FILE", nargs="?", help="the command, or the file of judged commands")
    parser.add_argument(
        "--policy", choices=POLICIES, help="the policy that judges (default: what is in force here, or standard)"
    )
    parser.add_argument("--allow", choices=("read-only",), help="grant commands that only read")
    parser.add_argument("--days", type=float, default=7.0, help="for report: how many days to look back (default 7)")
    add_json(parser)


def run(args: Namespace) -> int:
    if args.act == "report":
        return report(args.days, as_json=args.json)
    if args.what is None:
        needed, example = ("a command", "'rm -rf ~'") if args.act == "explain" else ("a file", "FILE.jsonl")
        raise UsageError(f"{args.act} needs {needed}: hookline guard {args.act} {example}")
    if args.act == "explain":
        return _explain(args)
    policy = replace(READY[args.policy or "standard"], allow_read_only=args.allow == "read-only")
    return _score(args, policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guards:
    """Those that judge together: one refusal is enough."""

    title: str
    policies: tuple[Policy, ...]
    files: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return ", ".join(dict.fromkeys(policy.name for policy in self.policies))

    def judge(self, command: str, around: Surroundings) -> Verdict:
        return max((judge(command, policy=one, around=around) for one in self.policies), key=_strength)

    def answer(self, effect: Effect, command: str, home: str) -> str:
        answers = (one.answer(effect, command=command, today=_today(), home=home) for one in self.policies)
        return max(answers, key=ANSWERS.index)


def _strength(verdict: Verdict) -> tuple[bool, int]:
    return verdict.verdict in {"ask", "deny"}, ANSWERS.index(verdict.would)


def _in_force() -> _Guards | None:
    """The guards that would judge a call here: one's own, and the project's if it is approved."""
    runtime = look()
    tell_unapproved(runtime)
    tables = dict.fromkeys(
        (spec.origin.file, spec.action.given)
        for spec in active_hooks(runtime)
        if isinstance(spec.action, Function) and spec.action.target == GUARD
    )
    policies = tuple(Policy.from_table(json.loads(given))[0] for _, given in tables)
    return _Guards(title="here", policies=policies, files=tuple(file for file, _ in tables)) if tables else None


def _explain(args: Namespace) -> int:
    around = here()
    names = (args.policy,) if args.policy else _SHOWN
    grants = args.allow == "read-only"
    ready = [_Guards(title=name, policies=(replace(READY[name], allow_read_only=grants),)) for name in names]
    own = None if args.policy else _in_force()
    guards = [*([own] if own else []), *ready]
    verdict = guards[0].judge(args.what, around)
    reads_only = judge(args.what, policy=Policy(allow_read_only=True), around=around).reads_only
    if args.json:
        reading = make_scene(around).read(args.what)
        print_json({
            "command": args.what, "verdict": verdict.verdict, "reason": verdict.reason, "safer": verdict.safer,
            "policy": guards[0].name, "files": list(guards[0].files), "reads_only": reads_only,
            "programs": [[word.text for word in one.argv] for one in reading.invocations],
            "effects": [_effect_row(one, guards[0].answer(one, args.what, around.home)) for one in verdict.effects],
            "doubts": [{"reason": one.reason, "source": one.source} for one in reading.doubts],
        })  # fmt: skip
        return 0
    _print_explanation(args.what, verdict.effects, guards, around)
    if reads_only:
        print('It only reads: allow = "read-only" would grant it.')
    if own:
        sources = (f"{policy.name} in {file}" for policy, file in zip(own.policies, own.files, strict=True))
        print(f"In force here: {safe(', '.join(sources))}")
    elif not args.policy:
        print("No guard is in force here. To set one up: hookline init")
    return 0


def _effect_row(one: Effect, answer: str) -> dict[str, str]:
    row = {name: getattr(one, name) for name in ("kind", "harm", "what", "where", "why", "cause", "safer")}
    return {**row, "answer": answer}


def _today() -> date:
    return date.today()  # noqa: DTZ011 (an exception ends on the person's own day)


def _print_explanation(
    command: str, effects: Sequence[Effect], guards: Sequence[_Guards], around: Surroundings
) -> None:
    rows = [
        (
            one.kind,
            one.harm,
            safe(one.what, 40),
            one.where,
            *(_cell(each.answer(one, command, around.home)) for each in guards),
            safe(one.why, 60),
        )
        for one in effects
    ]
    if rows:
        print(table(("effect", "harm", "what", "where", *(each.title for each in guards), "why"), rows))
    else:
        print("No effect that any policy cares about.")
    # What only reading shows: quotes, variables and encodings hide it.
    for hidden in dict.fromkeys(one.cause for one in effects if one.harm != "low" and one.cause not in command):
        print(f"what it comes to: {safe(hidden, 120)}")
    by_answer: dict[tuple[str, str], list[str]] = {}
    for each in guards:
        answer = each.judge(command, around)
        by_answer.setdefault((answer.verdict, answer.reason), []).append(each.title)
    for (found, reason), names in by_answer.items():
        status = paint_status("no opinion" if found == "none" else found)
        print(f"{', '.join(names)}: {status}{': ' + safe(reason) if reason else ''}")


def _cell(answer: str) -> str:
    """Below a policy's name, "allow" would read as a grant; it is no opinion."""
    return "-" if answer == "allow" else paint_status(answer)


def _score(args: Namespace, policy: Policy) -> int:
    try:
        with open(os.path.expanduser(args.what), encoding="utf-8") as file:
            result = score(file, policy)
    except OSError as error:
        raise DataError(f"{args.what} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{args.what} is not UTF-8 text; each line must be a JSON object") from None
    if result.problems:
        raise DataError(f"{args.what}: {result.problems[0]}")
    if args.json:
        print_json({
            "cases": result.cases, "caught": result.caught, "missed": result.missed, "asked": result.asked,
            "false_alarms": result.false_alarms, "granted": result.granted, "granted_wrongly": result.granted_wrongly,
        })  # fmt: skip
        return 0
    _print_score(result, policy.name)
    return 0


def _print_score(result: Score, policy: str) -> None:
    print(f"{plural(result.cases, 'case')}, policy {policy}")
    print(
        table(
            ("", "number", "of", "%"),
            [(what, str(number), str(total), f"{100 * number / total:.1f}") for what, number, total in rates(result)],
        )
    )
    lists = {
        "missed": result.missed,
        "false alarms": result.false_alarms,
        "asked about": result.asked,
        "granted wrongly": result.granted_wrongly,
        "not granted": result.not_granted,
    }
    for title, commands in lists.items():
        if commands:
            print(f"\n{title}:")
            for command in commands[:_LISTED]:
                print(f"  {safe(command, 120)}")
            if len(commands) > _LISTED:
                print(f"  and {len(commands) - _LISTED} more; --json lists all")
