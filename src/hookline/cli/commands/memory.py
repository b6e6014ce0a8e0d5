"""Add to what sessions remember, change it, search it, and let agents ask.

  hookline memory search TEXT             find entries and notes of this project, by words and by meaning
  hookline memory add TEXT                remember a decision (--kind failure, open, learning, note)
  hookline memory show [ID]               show an entry with its links; without an id, everything that counts now
  hookline memory open [ID]               open its note in $VISUAL or $EDITOR; without an id, print where the vault is
  hookline memory edit ID TEXT            change its text; the earlier one stays in its history
  hookline memory supersede ID TEXT       let a new entry take its place
  hookline memory pin|unpin ID            keep it from ageing; let it age again
  hookline memory retire|close|reopen ID  say that it no longer counts, is done, or counts again
  hookline memory history ID              every change of it: when, by whom, in which session
  hookline memory digest --since 7d       what was decided, failed, learned, closed, and is still open
  hookline memory review                  contradictions, rival edits, questions, and what grew old
  hookline memory serve                   the same for agents, as an MCP server on standard input and output

ID is the beginning of an entry's id. Nothing is deleted: hookline knowledge forget removes a whole session. The other
commands of hookline knowledge are about sessions and the queue. All but serve print JSON with --json.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hookline.cli import knowledge_notes
from hookline.cli.options import add_json
from hookline.cli.output import paint, plural, print_json, safe
from hookline.cli.parser import Parser
from hookline.core.errors import UsageError
from hookline.memory.by_hand import Hand, age, changes_since, is_old, review
from hookline.memory.context import MemoryContext, memory_context
from hookline.memory.journal.files import Author
from hookline.memory.journal.model import KINDS, Entry, State

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_ENTRY = '{"id", "kind", "text", "status", "since", "because", "successor", "pinned", "created", "age_days", "old", "source", "agent", "session", "details"}'
_ABOUT = {
    "search": "",
    "add": f"Remember something. --why is the reason of a decision, or how to prevent a failure.\n\n--json prints {_ENTRY}.",
    "show": f'Show an entry, what a session left, or everything that counts now.\n\n--json prints {{"entries": [{_ENTRY}]}}.',
    "open": "Open an entry's note in $VISUAL or $EDITOR, and read the edit back; without an id, print where the vault is.",
    "edit": "Change an entry's text or its reason. The earlier one stays in its history.",
    "supersede": "Let a new entry take the place of one, which stays as history.",
    "pin": "Keep an entry from ageing.",
    "unpin": "Let an entry age again.",
    "retire": "Say that an entry no longer counts. It stays as history.",
    "close": "Say that an open item is done.",
    "reopen": "Let an entry count again.",
    "history": 'Show every change of an entry.\n\n--json prints {"id", "changes": [{"at", "op", "source", "agent", "session", "machine", "data"}]}.',
    "digest": f'Show what changed lately.\n\n--json prints {{"since", WHAT: [{_ENTRY}]}}; WHAT is decision, failure, learning, note, ended or open.',
    "review": 'List what a person should decide. Exit code 1 if there is something.\n\n--json prints {"findings": [{"why", "text", "entries"}]}; why is question, rivals, alike or old.',
    "serve": "Serve memory to an agent: MCP on standard input and output. hookline deploy --memory registers it.",
}
_CHANGES = frozenset({"pin", "unpin", "retire", "close", "reopen"})


_ID = "the beginning of an entry's id"


def configure(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="|".join(_ABOUT), required=True, parser_class=Parser)

    def command(name: str, about: str = "") -> ArgumentParser:
        text = about or _ABOUT[name]
        made: ArgumentParser = commands.add_parser(name, description=text, help=text.partition("\n")[0])
        if name != "serve":
            add_json(made)
        return made

    knowledge_notes.configure_search(command)
    add = command("add")
    add.add_argument("text", metavar="TEXT", nargs="+", help="what to remember")
    add.add_argument("--kind", choices=KINDS, default="decision", help="what it is (default: decision)")
    add.add_argument("--everywhere", action="store_true", help="it holds in every project")
    add.add_argument("--tag", metavar="T", action="append", default=[], help="a word to find it by (repeatable)")
    command("show").add_argument(
        "what", metavar="ID|SESSION|FILE", nargs="?", default="", help="an entry, a session or a note"
    )
    command("open").add_argument("id", metavar="ID", nargs="?", default="", help=_ID)
    edit, supersede = command("edit"), command("supersede")
    changes = {name: command(name) for name in sorted(_CHANGES)}
    for made in (edit, supersede, *changes.values(), command("history")):
        made.add_argument("id", metavar="ID", help=_ID)
    edit.add_argument("text", metavar="TEXT", nargs="*", help="the new text")
    supersede.add_argument("text", metavar="TEXT", nargs="+", help="the new entry")
    for made in (add, edit, supersede, changes["retire"], changes["close"]):
        made.add_argument("--why", metavar="TEXT", default="", help="the reason, or how to prevent it")
    digest = command("digest")
    digest.add_argument("--since", metavar="TIME", default="7d", help="how far back (default 7d)")
    command("review")
    serve = command("serve")
    serve.add_argument(
        "--agent", metavar="A", default="", help="the agent that asks: what it adds is marked as its own"
    )


def run(args: Namespace) -> int:
    if args.action == "serve":
        from hookline.memory.serve import serve

        return serve(os.getcwd(), os.environ, args.agent)
    act: dict[str, Callable[[Namespace, MemoryContext, Hand], int]] = {
        "search": lambda given, context, _hand: knowledge_notes.search(given, context),
        "add": _add, "show": _show, "open": _open, "edit": _edit, "supersede": _supersede, "history": _history,
        "digest": _digest, "review": _review, **dict.fromkeys(_CHANGES, _change),
    }  # fmt: skip
    context = memory_context(os.getcwd(), os.environ)
    if not context.settings.knowledge.enabled and not getattr(args, "all", False):
        knowledge_notes.warn("memory is switched off here: [knowledge] enabled = false")
        return 1
    with knowledge_notes.usable(context.places):
        return act[args.action](args, context, Hand(context, Author(source="person")))


def _add(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    entry = hand.add(args.kind, " ".join(args.text), args.why, tuple(args.tag), everywhere=args.everywhere)
    return _done(args, "remembered", entry)


def _edit(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    if not args.text and not args.why:
        raise UsageError(f"nothing to change; write the new text, or edit the note: hookline memory open {args.id}")
    return _done(args, "changed", hand.edit(hand.find(args.id), " ".join(args.text), args.why))


def _supersede(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    _old, new = hand.supersede(hand.find(args.id), " ".join(args.text), args.why)
    return _done(args, "remembered", new)


def _change(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    why = context.clean(getattr(args, "why", ""))
    return _done(args, "changed", hand.change(args.action, hand.find(args.id), **({"because": why} if why else {})))


def _done(args: Namespace, said: str, entry: Entry) -> int:
    if args.json:
        print_json(_shape(entry))
    else:
        print(f"{said}: {_line(entry, _now())}")
    return 0


def _show(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    state = hand.state()
    found = state.find(args.what) if args.what else []
    if len(found) > 1:
        found = [hand.find(args.what)]  # says that more is needed
    if args.what and not found:
        return knowledge_notes.show(args, context)
    if found:
        return _show_entry(args, context, found[0], state)
    entries = state.current()
    if args.json:
        print_json({"entries": [_shape(one) for one in entries]})
    for kind in KINDS if not args.json else ():
        _print_list(kind, [one for one in entries if one.kind == kind])
    if not entries:
        knowledge_notes.warn('nothing is remembered here yet; to begin: hookline memory add "TEXT"')
    return 0 if entries else 1


def _show_entry(args: Namespace, context: MemoryContext, entry: Entry, state: State) -> int:
    if args.json:
        print_json({"entries": [_shape(entry)]})
        return 0
    print(_line(entry, _now()))
    for name, value in entry.details.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if text:
            print(f"  {name}: {safe(context.clean(text))}")
    for label, other in (
        ("superseded by", entry.successor),
        *(("supersedes", one.id) for one in state.entries.values() if one.successor == entry.id),
    ):
        if other in state.entries:
            print(f"  {label}: {_line(state.entries[other], _now())}")
    if path := _note(context, entry):
        print(f"  note: {safe(path)}")
    return 0


def _open(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    """The edit is read back at once."""
    import subprocess

    path, entry = context.places.root, None
    if args.id:
        entry = hand.find(args.id)
        path = _note(context, entry)
        if not path:
            raise UsageError(f"{entry.kind} entries have no note; to change it: hookline memory edit {entry.id} TEXT")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if args.json or not editor or entry is None:
        print_json({"path": path}) if args.json else print(safe(path))
        return 0
    try:
        ended = subprocess.run([*shlex.split(editor), path], check=False).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"{editor!r} does not start: {error}; set EDITOR, or open {path}") from None
    if (after := hand.state().entries[entry.id]) == entry:
        print("nothing changed")
        return 1 if ended else 0
    return _done(args, "changed", after)


def _note(context: MemoryContext, entry: Entry) -> str:
    """Its Markdown file, or ""."""
    with knowledge_notes.current_index(context) as index:
        rows = index.notes(dict.fromkeys(index.entries([entry.id], any_status=True).values(), 0.0))
    return next((row.path for row in rows if row.path.endswith(".md") and row.kind != "open"), "")


def _history(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    entry = hand.find(args.id)
    changes = [
        {"at": one.at, "op": one.op, "source": one.source, "agent": one.agent, "session": one.session, "machine": one.machine, "data": dict(one.data)}
        for one in entry.changes
    ]  # fmt: skip
    if args.json:
        print_json({"id": entry.id, "changes": changes})
        return 0
    print(_line(entry, _now()))
    for one in entry.changes:
        who = " ".join(
            filter(None, (one.source, safe(one.agent), f"in {safe(one.session[:8])}" if one.session else ""))
        )
        said = one.data.get("text") or one.data.get("because") or one.data.get("by") or ""
        print(
            f"  {one.at[:16].replace('T', ' ')}  {one.op:<10} {who}"
            + (f": {safe(context.clean(str(said)), 100)}" if said else "")
        )
    return 0


def _digest(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    found = changes_since(hand.state(), _now(), knowledge_notes.seconds_back(args.since))
    if args.json:
        print_json({"since": args.since, **{what: [_shape(one) for one in entries] for what, entries in found.items()}})
        return 0
    print(f"{safe(context.project.name)}, the last {args.since}")
    for what, entries in found.items():
        _print_list({"ended": "no longer counts", "open": "still open"}.get(what, what), entries)
    if not any(found.values()):
        print("nothing happened")
    return 0


def _review(args: Namespace, context: MemoryContext, hand: Hand) -> int:
    state = hand.state()
    with knowledge_notes.current_index(context, thorough=True) as index:
        findings = list(review(state, _now(), index))
    if args.json:
        rows = [
            {"why": one.why, "text": one.text, "entries": [_shape(each) for each in one.entries]} for one in findings
        ]
        print_json({"findings": rows})
        return int(bool(findings))
    for one in findings:
        print(paint(f"! {safe(context.clean(one.text), 200)}", "yellow"))
        for entry in one.entries:
            print(f"    {_line(entry, _now())}")
    if findings:
        print(f"{plural(len(findings), 'finding')}. To decide: hookline memory edit, supersede, retire or pin ID")
    else:
        print("nothing to decide")
    return int(bool(findings))


def _print_list(title: str, entries: Sequence[Entry]) -> None:
    if entries:
        print(paint(title, "bold"))
        for entry in entries:
            print(f"  {_line(entry, _now())}")


def _line(entry: Entry, now: datetime) -> str:
    days = age(entry, now)
    marks = [entry.status if not entry.is_current else "", "pinned" if entry.pinned else ""]
    marks += [
        f"{days} days old" if is_old(entry, now) else "",
        f"by {safe(entry.agent or 'an agent')}" if entry.source == "agent" else "",
    ]
    told = ", ".join(filter(None, marks))
    return f"{paint(entry.id[:8], 'blue')} {entry.kind:<8} {entry.created[:10]}  {safe(entry.text, 160)}" + (
        f" ({told})" if told else ""
    )


def _shape(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id, "kind": entry.kind, "text": entry.text, "status": entry.status, "since": entry.since,
        "because": entry.because, "successor": entry.successor, "pinned": entry.pinned, "created": entry.created,
        "age_days": age(entry, _now()), "old": is_old(entry, _now()), "source": entry.source, "agent": entry.agent,
        "session": entry.session, "details": dict(entry.details),
    }  # fmt: skip


def _now() -> datetime:
    return datetime.now(UTC)
