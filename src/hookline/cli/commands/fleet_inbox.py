"""``hookline fleet inbox``: what hooks on other machines ask, and the answers of who is on call."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hookline.cli.options import add_json
from hookline.cli.output import print_json, safe, table
from hookline.core.errors import UsageError
from hookline.core.paths import Paths
from hookline.state.protection import find_agent_above

if TYPE_CHECKING:
    from hookline.fleet.oncall import OnCall, Question


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("question", metavar="ID", nargs="?", default="", help="show this question, or answer it")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--allow", dest="answer", action="store_const", const="allow", default="", help="let it happen")
    how.add_argument("--deny", dest="answer", action="store_const", const="deny", help="refuse it")
    how.add_argument("--follow", action="store_true", help="print questions and answers as they come")
    how.add_argument("--answered", action="store_true", help="what was answered from here")
    parser.add_argument("--reason", metavar="TEXT", default="", help="recorded here and there; the agent reads it")
    parser.add_argument("--credentials", metavar="CREDS", default="", help="credentials of the role oncall (default: fleet/oncall.creds beside your configuration)")  # fmt: skip
    parser.add_argument("--root", default="", help=SUPPRESS)
    add_json(parser)


def default_credentials(paths: Paths) -> str:
    return os.path.join(paths.config, "fleet", "oncall.creds")


def run(args: Namespace, paths: Paths) -> int:
    from hookline.fleet.oncall import on_call, oncall_credentials, read_answers

    if args.answer and not args.question:
        raise UsageError(f"which question? hookline fleet inbox ID --{args.answer}; hookline fleet inbox lists them")
    agent = find_agent_above(os.getpid(), os.environ)
    if agent and not args.answered:
        raise UsageError(f"{agent} runs this command, and an agent answers no question; use a terminal of your own")
    if args.answered:
        _print_answered(read_answers(paths.state), as_json=args.json)
        return 0
    credentials = oncall_credentials(args.credentials or default_credentials(paths))

    async def work() -> int:
        async with on_call(credentials, paths.state) as people:
            if args.follow:
                return await _follow(people)
            await people.settle_in()
            if args.answer:
                result = await people.answer(args.question, args.answer, args.reason)
                print_json({"result": result}) if args.json else print(safe(result))
                return 0 if "has taken it" in result or "has counted it" in result else 1
            if args.question:
                one = people.find(args.question)
                print_json(one.to_json()) if args.json else print("\n".join(_whole(one)))
                return 0
            waiting = people.waiting()
            if args.json:
                print_json([one.to_json() for one in waiting])
            elif waiting:
                print(table(("ID", "MACHINE", "AGENT", "HOOK", "LEFT", "ABOUT"), [_row(one) for one in waiting]))
                print("answer: hookline fleet inbox ID --allow | --deny --reason TEXT")
            else:
                print("nothing waits")
            return 0

    try:
        return asyncio.run(work())
    except KeyboardInterrupt:
        return 130


def _short(one: Question) -> str:
    """Enough of its random part."""
    return one.id[-8:]


def _text(value: object, most: int = 200) -> str:
    return safe(str(value or ""))[:most]


def _row(one: Question) -> tuple[str, ...]:
    fields, left = one.fields, max(0, int(one.until - time.monotonic()))
    need = f" ({len(one.approved)} of 2 allow it)" if fields.get("people") else ""
    return _short(one), one.machine, _text(fields.get("agent")), _text(fields.get("hook")), f"{left} s", _text(fields.get("about"), 60) + need  # fmt: skip


def _whole(one: Question) -> Iterator[str]:
    fields = one.fields
    yield f"{_text(fields.get('hook'))} asks on {one.machine}: {_text(fields.get('agent'))} in {_text(fields.get('cwd'))}, session {_text(fields.get('session'))}"  # fmt: skip
    if fields.get("cut"):
        yield "It is long: a part of it is not shown here. Who answers answers for all of it."
    yield from ("", *(f"  {safe(line)}" for line in str(fields.get("about") or "").split("\n")), "")
    if fields.get("reason"):
        yield f"why it asks   {_text(fields['reason'], 2000)}"
    chain: Any = fields.get("chain")
    steps: list[Any] = chain if isinstance(chain, list) else []
    for at, told in enumerate(one for one in steps if isinstance(one, dict)):
        yield f"{'before that' if not at else '':12}  {_text(told.get('event'))} {_text(told.get('about'), 80)}: {_text(told.get('summary'))}"
    yield from ("", *map(safe, json.dumps(fields.get("data"), indent=1, ensure_ascii=False).split("\n")))
    if one.settled or not one.waits():
        yield f"\nit no longer waits: {one.settled or 'nobody was heard'} {' and '.join(map(safe, one.by))} {safe(one.reason)}".rstrip()
    elif fields.get("people"):
        yield f"\ntwo different people must allow it; so far: {safe(', '.join(one.approved)) or 'nobody'}"


async def _follow(people: OnCall) -> int:
    """Until it is interrupted; a bell for every question."""
    known: dict[str, str] = {}
    bell = "\a" if sys.stdout.isatty() else ""
    print("waiting for questions; Ctrl-C ends it", flush=True)
    while people.connected:
        for key, one in list(people.questions.items()):
            if key not in known and one.waits():
                known[key] = ""
                print(f"{bell}{'  '.join(_row(one))}", flush=True)
            if known.get(key) == "" and one.settled:
                known[key] = one.settled
                print(f"{_short(one)}  {safe(one.settled)} {' and '.join(map(safe, one.by))} {safe(one.reason)}".rstrip(), flush=True)  # fmt: skip
        await asyncio.sleep(0.3)
    raise UsageError("the connection to the broker was lost; run this again: hookline fleet inbox --follow")


def _print_answered(rows: list[dict[str, object]], *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    shown = [
        (time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(one["time"])))), _text(one.get("machine")),
         _text(one.get("hook")), _text(one.get("answer")), _text(one.get("reason"), 40), _text(one.get("result"), 60))
        for one in rows
    ]  # fmt: skip
    print(
        table(("WHEN", "MACHINE", "HOOK", "ANSWER", "REASON", "RESULT"), shown)
        if rows
        else "nothing was answered from here"
    )
