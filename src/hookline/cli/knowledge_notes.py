"""``hookline knowledge search``, ``show`` and ``forget``."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hookline.cli.options import parse_duration
from hookline.cli.output import Counter, confirm, paint, print_json, safe
from hookline.core.errors import StateError, UsageError
from hookline.core.files import read_text
from hookline.core.paths import why_unusable
from hookline.memory import layout
from hookline.memory.journal.model import STATUSES
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, PRE_COMPACT_SUMMARY
from hookline.memory.notes import index as indexing
from hookline.memory.notes.note_files import KINDS, Note, scopes
from hookline.memory.notes.search import parse_query
from hookline.memory.notes.search import search as found_by

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.memory.context import MemoryContext
    from hookline.memory.layout import Places
    from hookline.memory.notes.index import NoteIndex
    from hookline.state.record.store import Store

_SEARCH = """Find notes of this project, best first: sessions, decisions, failures, learnings, insights.

Notes with all the words come first, then those that are near in meaning; what is in double quotes or backticks must be
there as it is. What was superseded or retired is marked, and never comes first. Word endings and accents do not count.
--json prints {"query", "hits": [{"kind", "title", "text", "project",
"session", "date", "path", "score", "agent", "status", "id", "successor"}]}. Exit code 1 if nothing was found.
"""
_SHOW = """Show what a session left, a note by its path, or (without a name) this project's memory.

--json prints {"session", "notes": [{"kind", "title", "path", "date"}], "text"}. Exit code 1 if there is nothing.
"""
_FORGET = """Remove everything that a session left.

That is its note, decisions, failures, learnings, insights, handoff and summary, its tasks, dead letters, copies of its
transcript, recorded events, context that later sessions got from it, log lines, and all of it in the index. The agent's
own transcript stays.
On a terminal you are asked first, unless --yes is given; without a terminal, --yes is required. --json prints {"session",
"removed": {WHAT: COUNT}}. Exit code 1 if the session is unknown or you answered no.
"""


def configure_search(command: Callable[[str, str], ArgumentParser]) -> None:
    search_for = command("search", _SEARCH)
    search_for.add_argument("text", metavar="TEXT", nargs="+", help="words to look for")
    search_for.add_argument("--all", action="store_true", help="in every project")
    search_for.add_argument("--kind", choices=KINDS, action="append", default=[], help="only these (repeatable)")
    search_for.add_argument(
        "--last", "-n", dest="limit", metavar="N", type=int, default=10, help="how many at most (default 10)"
    )
    search_for.add_argument("--agent", metavar="A", default="", help="only what this agent's sessions left")
    search_for.add_argument(
        "--since", metavar="DAY|TIME", default="", help="only since a day (2026-05-01) or a time (30d)"
    )
    search_for.add_argument("--status", choices=STATUSES, default="", help="only what counts, or what no longer does")


def configure(command: Callable[[str, str], ArgumentParser]) -> None:
    configure_search(command)
    shown = command("show", _SHOW)
    shown.add_argument(
        "what", metavar="SESSION|FILE", nargs="?", default="", help="the session's id or its beginning, or a note"
    )
    gone = command("forget", _FORGET)
    gone.add_argument("session", metavar="SESSION", help="its id or the beginning of it")
    gone.add_argument("--yes", action="store_true", help="do not ask")


def warn(text: str) -> None:
    print(f"hookline: {text}", file=sys.stderr)


@contextmanager
def current_index(context: MemoryContext, *, thorough: bool = False) -> Generator[NoteIndex]:
    """The index, brought up to date. Raises StateError if its file cannot be used."""
    try:
        with indexing.open_index(context.places, context.clean) as index:
            with Counter("indexed") as count:
                index.sync(context.places, thorough=thorough, progress=count)
            yield index
    except sqlite3.Error as error:
        why = why_unusable(context.places.state)
        raise StateError(f"the index of notes cannot be used: {error}{f'; {why}' if why else ''}") from error


@contextmanager
def usable(places: Places) -> Generator[None]:
    """Raises StateError with the directory that is in the way, and what to do about it."""
    if why := layout.why_unreadable(places):
        raise StateError(why)
    try:
        yield
    except BrokenPipeError:  # the reader closed the pipe
        raise
    except (OSError, StateError) as error:
        raise StateError(layout.describe_error(error, places)) from error


def search(args: Namespace, context: MemoryContext) -> int:
    text = " ".join(args.text)
    if args.limit < 1:
        raise UsageError("-n must be at least 1")
    within = () if args.all else scopes(context.project, context.here.cwd)
    with current_index(context) as index:
        hits = found_by(
            index, parse_query(text), scopes=within, limit=min(args.limit, 1000), kinds=tuple(args.kind), agent=args.agent,
            since=_since(args.since), status=args.status,
        )  # fmt: skip
    if args.json:
        print_json({"query": text, "hits": [_shape(hit) for hit in hits]})
    else:
        for hit in hits:
            print(_render_hit(hit))
        if not hits:
            warn("nothing found" + ("" if args.all else "; to search every project, add --all"))
    return 0 if hits else 1


def _since(given: str) -> str:
    if not given or re.fullmatch(r"\d{4}-\d\d(-\d\d)?", given):
        return given
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - seconds_back(given)))


def seconds_back(given: str) -> float:
    """From ``--since``: days and weeks too. Raises UsageError."""
    if found := re.fullmatch(r"(\d{1,5})([dw])", given):
        return int(found[1]) * (86_400.0 if found[2] == "d" else 604_800.0)
    return parse_duration("--since", given, "12h, 7d or 4w")


def _shape(hit: Note) -> dict[str, Any]:
    return {
        "kind": hit.kind, "title": hit.title, "text": hit.text, "project": hit.project, "session": hit.session,
        "date": hit.date, "path": hit.path, "score": round(hit.score, 3), "agent": hit.agent, "status": hit.status,
        "id": hit.entry, "successor": hit.successor,
    }  # fmt: skip


def _render_hit(hit: Note) -> str:
    head = f"{paint(hit.kind.ljust(9), 'blue')} {hit.date[:10]:<10}  {paint(safe(hit.title, 100), 'bold')}"
    if hit.status != "current":
        head += f" ({hit.status}{f' by {hit.successor[:8]}' if hit.successor else ''})"
    whose = ", ".join(filter(None, (hit.entry[:8], safe(hit.project), safe(hit.session[:8]))))
    where = paint(f"           {safe(hit.path)}" + (f" ({whose})" if whose else ""), "grey")
    return "\n".join(filter(None, (head, f"           {safe(hit.text)}" if hit.text else "", where)))


def show(args: Namespace, context: MemoryContext) -> int:
    if not args.what:
        return _show_memory(args, context)
    with current_index(context) as index:
        path = os.path.abspath(args.what)
        if os.sep in args.what and os.path.isfile(path):
            if not any(path.startswith(f"{place}/") for place in (context.places.root, context.places.learnings)):
                raise UsageError(f"{args.what} is not a note; notes are in {context.places.root}")
            return _print_text(args, context, "", [], read_text(path) or "")
        session = _session(args.what, index.sessions())
        rows = index.session_notes(session) if session else []
    if not rows:
        warn(f"there is no entry or session {args.what!r}; to find one: hookline memory search TEXT")
        return 1
    notes = [{"kind": row.kind, "title": row.title, "path": row.path, "date": row.date} for row in rows]
    texts = [_render_note(row.kind, row.title, row.body, row.path) for row in rows]
    return _print_text(args, context, session, notes, "\n".join(texts))


def _render_note(kind: str, title: str, body: str, path: str) -> str:
    if kind in {"decision", "failure"}:
        return f"{kind}: {title}\n" + "".join(f"  {line}\n" for line in body.splitlines())
    return f"{kind}: {path}\n{read_text(path) or ''}"


def _show_memory(args: Namespace, context: MemoryContext) -> int:
    from hookline.memory.notes.entries import read, summary_line  # only this command reads them all

    memories = context.places.memories(context.project, context.here.cwd)
    parts: list[str] = []
    for name in (HANDOFF, PRE_COMPACT_SUMMARY):
        texts = [text for folder in memories if (text := read_text(os.path.join(folder, name)))]
        parts += [f"{name}:\n{text.rstrip()}\n" for text in texts[:1]]
    for name in (DECISIONS, FAILURES):
        entries = [entry for folder in reversed(memories) for entry in read(os.path.join(folder, name))]
        lines = [f"- {summary_line(entry)}" for entry in entries]
        parts += [f"{name}:\n" + "\n".join(lines) + "\n"] if lines else []
    if not parts:
        warn("this project has no memory yet")
        return 1
    return _print_text(args, context, "", [], "\n".join(parts))


def _print_text(args: Namespace, context: MemoryContext, session: str, notes: list[dict[str, Any]], text: str) -> int:
    clean = context.clean(text)
    if args.json:
        print_json({"session": session or None, "notes": notes, "text": clean})
    else:
        for line in clean.splitlines():
            print(safe(line))
    return 0


def forget(args: Namespace, context: MemoryContext) -> int:
    from hookline.memory.notes.forget import forget_session, list_sessions  # only this command needs it

    if not args.yes and not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("there is no terminal to ask on; to forget it without asking, add --yes")
    store = _record(context)
    try:
        with current_index(context, thorough=True) as index:
            session = _session(args.session, list_sessions(context.places, index, store))
            if not session:
                warn(f"unknown session {args.session!r}; to find one: hookline knowledge search TEXT")
                return 1
            if not args.yes and not confirm(f"Remove everything that session {safe(session)} left?"):
                return 1
            with Counter("forgetting"):
                gone = forget_session(context.places, session, index, store)
    finally:
        if store is not None:
            store.close()
    _update_qmd(context)
    if args.json:
        print_json({"session": session, "removed": gone})
    else:
        print(f"Removed session {safe(session)}: " + ", ".join(f"{count} {name}" for name, count in gone.items()))
        if "chats" not in gone:
            print("The agent's own transcript is not hookline's and stays.")
    return 0


def _session(given: str, known: set[str]) -> str:
    """The one session with this id or prefix; "" for none."""
    if given in known:
        return given
    found = sorted(one for one in known if one.startswith(given)) if len(given) >= 4 else []
    if len(found) > 1:
        raise UsageError(f"{len(found)} sessions begin with {given!r}: {', '.join(found[:5])}")
    return found[0] if found else ""


def _record(context: MemoryContext) -> Store | None:
    if not os.path.exists(os.path.join(context.places.state, "hookline.db")):
        return None
    from hookline.core.settings import RecordSettings
    from hookline.state.record.store import store_in  # only where something was recorded

    return store_in(context.places.state, RecordSettings())


def _update_qmd(context: MemoryContext) -> None:
    """Its index has a copy of every note."""
    from hookline.memory.notes.qmd import update_and_purge

    if context.settings.knowledge.search_engine != "qmd":
        return
    with Counter("updating qmd"):
        why = update_and_purge(os.environ, context.here.cwd)
    if why:
        warn(f"qmd may still have copies ({why}); to remove them: qmd update && qmd cleanup")
