"""Search, show, export, distil and forget what sessions left.

  hookline knowledge status                 where notes are, how many there are, and the state of the queue
  hookline knowledge search TEXT            find notes of this project (--all: of every project)
  hookline knowledge show [SESSION|FILE]    show what a session left; without a name, this project's memory
  hookline knowledge export [PATH …]        write transcripts as notes; default: this directory's newest session
  hookline knowledge handoff-now [FILE]     queue this directory's newest session, whatever the conditions say
  hookline knowledge worker                 distil what is queued, now
  hookline knowledge forget SESSION         remove everything that a session left

SESSION is its id or the beginning of it. In a project that has opted out, export, handoff-now, search and show exit
with 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hookline.cli import knowledge_notes
from hookline.cli.options import add_json
from hookline.cli.output import Counter, plural, print_json, safe
from hookline.cli.parser import Parser
from hookline.core.errors import StateError
from hookline.core.files import is_locked
from hookline.memory import layout
from hookline.memory.context import MemoryContext, command_context, memory_context

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.memory.notes.session_export import ExportResult

_OFF = "memory is switched off here"
#: Commands that do nothing in a project that has opted out.
_PROJECT_COMMANDS = frozenset({"export", "handoff-now", "search", "show"})
_STATUS = """Show where notes are, how many there are, and the state of the queue.

--json prints {"enabled", "distils", "project": {"name", "folder", "key"}, "path", "sessions", "learnings", "memory",
"index", "notes": {KIND: COUNT}, "queue": {"pending", "claimed", "done", "done_today", "waits_for"}, "dead_letters",
"worker_running", "troubles": [TEXT]}. Troubles are directories that cannot be written; waits_for is why the first task
that was tried is not done. Exit code 74 if notes or the index cannot be read.
"""
_EXPORT = """Write transcripts as notes: files, or all transcripts below a directory.

Without a path: this directory's newest session, of any agent. --force also writes sessions that are short, were already
exported, or had no person in them. --json prints {"exported": [{"transcript", "outcome", "path", "messages"}]}; outcome is
one of wrote, unchanged, short, non-interactive, ours, opted-out and error. Exit code 1 if there was nothing to write.
"""
_HANDOFF = """Queue this directory's newest session to be distilled, whatever the conditions say, and start a worker.

The newest session is the one last used in this directory, in any agent or hookline chat; sessions with a person in them
come first. Its name is printed on standard error. To queue another one, name its transcript.
Exit code 1 if it was not queued; the reason is on standard error. --json prints {"task", "why_not", "transcript",
"agent"}.
"""
_WORKER = """Distil what is queued, and return when nothing is due.

Failed tasks are retried after longer and longer waits; --now retries them at once, for instance after you fixed the cause.
--json prints {"wrote", "nothing", "skipped", "failed", "later", "busy", "held"}: how many tasks ended how, and what you
must fix before it can continue. Exit code 1 in that case, or if a task failed or waits for a retry; not if another worker
is running.
"""
#: File name endings of transcripts.
_TRANSCRIPTS = (".jsonl", ".json", ".lec")


def configure(parser: ArgumentParser) -> None:
    names = "status|search|show|export|handoff-now|worker|forget"
    commands = parser.add_subparsers(dest="action", metavar=names, required=True, parser_class=Parser)

    def command(name: str, about: str) -> ArgumentParser:
        made: ArgumentParser = commands.add_parser(name, description=about, help=about.partition("\n")[0])
        add_json(made)
        return made

    command("status", _STATUS)
    knowledge_notes.configure(command)
    export = command("export", _EXPORT)
    export.add_argument("paths", metavar="PATH", nargs="*", help="a transcript, or a folder of them")
    export.add_argument("--force", action="store_true", help="also write what would be skipped")
    command("handoff-now", _HANDOFF).add_argument(
        "transcript", metavar="TRANSCRIPT", nargs="?", default="", help="this one instead"
    )
    command("worker", _WORKER).add_argument("--now", action="store_true", help="also retry what waits for its next try")


def run(args: Namespace) -> int:
    act: dict[str, Callable[[Namespace, MemoryContext], int]] = {
        "status": _status, "export": _export, "handoff-now": _handoff_now, "worker": _worker,
        "search": knowledge_notes.search, "show": knowledge_notes.show, "forget": knowledge_notes.forget,
    }  # fmt: skip
    context = memory_context(os.getcwd(), os.environ)
    elsewhere = getattr(args, "all", False) or getattr(args, "paths", None)
    if not context.settings.knowledge.enabled and args.action in _PROJECT_COMMANDS and not elsewhere:
        knowledge_notes.warn(f"{_OFF}: [knowledge] enabled = false")
        return 1
    with knowledge_notes.usable(context.places):
        return act[args.action](args, context)


def _status(args: Namespace, context: MemoryContext) -> int:
    report, broken = _report(context)
    if args.json:
        print_json(report)
    else:
        _print_status(context, report)
    if broken is not None:
        raise broken
    return 0


def _print_status(context: MemoryContext, report: dict[str, Any]) -> None:
    on = "on" if report["enabled"] else "switched off here"
    off = "sessions are not distilled; set [compound_loop] enabled = true"
    distils = "a model distils sessions" if report["distils"] else off
    print(f"knowledge  {on}; {distils}\nproject    {safe(context.project.name)} ({safe(context.project.key)})")
    for name in ("path", "memory", "index"):
        print(f"{name:<11}{safe(report[name])}")
    notes = ", ".join(plural(count, kind) for kind, count in (report["notes"] or {}).items())
    print(f"notes      {notes or ('none yet' if report['notes'] is not None else 'unknown')}")
    queue = report["queue"]
    running = "a worker is running" if report["worker_running"] else "no worker is running"
    print(f"queue      {queue['pending']} waiting, {queue['claimed']} in progress, {queue['done']} done; {running}")
    for line in _attention(context, report):
        print(f"!          {safe(line)}")


def _attention(context: MemoryContext, report: dict[str, Any]) -> list[str]:
    waits, given_up = report["queue"]["waits_for"], report["dead_letters"]
    return [
        *report["troubles"],
        *([f"the queue waits: {waits}"] if waits else []),
        *([f"{given_up} given up: {context.places.dead}"] if given_up else []),
    ]


def _report(context: MemoryContext) -> tuple[dict[str, Any], StateError | None]:
    """Everything that can be read, and why the notes could not be counted."""
    from hookline.memory.notes.index import FILE
    from hookline.memory.queue import task
    from hookline.memory.queue.queue import Queue

    places, queue = context.places, Queue(context.places.queue)
    counts = queue.counts()
    notes: dict[str, int] | None = None
    broken: StateError | None = None
    try:
        with knowledge_notes.current_index(context, thorough=True) as index:
            notes = index.counts()
    except StateError as error:
        broken = error
    report = {
        "enabled": context.settings.knowledge.enabled,
        "distils": context.settings.compound_loop.enabled,
        "project": {"name": context.project.name, "folder": context.project.folder, "key": context.project.key},
        "path": places.root,
        "sessions": places.sessions,
        "learnings": places.learnings,
        "memory": places.memory(context.project),
        "index": os.path.join(places.state, FILE),
        "notes": notes,
        "queue": {
            "pending": counts.pending, "claimed": counts.claimed, "done": counts.done, "done_today": counts.done_today,
            "waits_for": next((one.task.reason for one in queue.pending() if one.task.reason), None),
        },
        "dead_letters": len(task.dead_letters(places.dead)),
        "worker_running": is_locked(places.worker_lock),
        "troubles": layout.why_unwritable(places),
    }  # fmt: skip
    return report, broken


def _export(args: Namespace, context: MemoryContext) -> int:
    paths = list(_transcripts(args.paths)) if args.paths else _newest(context)
    done: list[dict[str, Any]] = []
    unusable: StateError | None = None
    with Counter("exported", len(paths)) as count:
        for number, path in enumerate(paths, 1):
            count.at(safe(os.path.basename(path), 60))
            try:
                done.append({"transcript": path, **_one(path, context, force=args.force)})
            except StateError as error:  # the others would fail too
                unusable = error
                break
            count(number)
    if args.json:
        print_json({"exported": done})
    else:
        for one in done:
            messages = f" ({one['messages']} messages)" if one["messages"] else ""
            print(f"{one['outcome']:<16}{safe(one['path'] or one['transcript'])}{messages}")
        if not done and not unusable:
            knowledge_notes.warn("no transcript was found; to name one: hookline knowledge export PATH")
    if unusable is not None:
        raise unusable
    return 0 if any(one["outcome"] in {"wrote", "unchanged"} for one in done) else 1


def _one(path: str, context: MemoryContext, *, force: bool) -> dict[str, Any]:
    """Export into the session's own project, which may have opted out. Raises StateError if nothing can be written."""
    from hookline.memory.notes.session_export import export, make_searchable  # it imports the readers of all agents
    from hookline.transcripts import about

    if not os.path.exists(path) and not os.path.exists(path.partition("#")[0]):
        knowledge_notes.warn(f"{path}: no such transcript")
        return {"outcome": "error", "path": "", "messages": 0}
    there = command_context(about(path).cwd or context.here.cwd, os.environ, "export")
    if there is None:
        return {"outcome": "opted-out", "path": "", "messages": 0}
    try:
        done: ExportResult = export(there, path, force=force)
    except (OSError, StateError) as error:
        why = layout.describe_error(error, context.places)
        if layout.is_directory_error(error, context.places):
            raise StateError(why) from error
        knowledge_notes.warn(f"{path}: {why}")
        return {"outcome": "error", "path": "", "messages": 0}
    if done.outcome == "wrote":
        make_searchable(there, done.path)
    return {"outcome": done.outcome, "path": done.path, "messages": done.messages}


def _transcripts(paths: Sequence[str]) -> Iterator[str]:
    for path in map(os.path.abspath, paths):
        if not os.path.isdir(path):
            yield path
            continue
        for place, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.join(place, name) for name in sorted(names) if name.endswith(_TRANSCRIPTS))


def _newest(context: MemoryContext) -> list[str]:
    from hookline.memory.transcript import newest_session

    here = command_context(context.here.cwd, os.environ, "export")
    found = newest_session(here) if here else None
    return [found.path] if found else []


def _handoff_now(args: Namespace, context: MemoryContext) -> int:
    from hookline.memory.queue.enqueue import handoff_now
    from hookline.transcripts import about

    path = os.path.abspath(args.transcript) if args.transcript else ""
    cwd = about(path).cwd if path else ""
    queued = handoff_now(cwd if os.path.isdir(cwd) else context.here.cwd, os.environ, path)
    if args.json:
        found = {"transcript": queued.transcript, "agent": queued.agent or None}
        print_json({"task": queued.name or None, "why_not": queued.skip_reason or None, **found})
    elif queued.name:
        print(f"queued {queued.name}")
        if not path:
            knowledge_notes.warn(f"newest session here: {safe(queued.transcript)} ({queued.agent})")
    if not queued.name:
        knowledge_notes.warn(f"not queued: {_add_hint(queued.skip_reason, context)}")
    return 0 if queued.name else 1


def _add_hint(why: str, context: MemoryContext) -> str:
    if why != "disabled":
        return why
    file = os.path.join(context.here.paths.config, "hookline.toml")
    return f"sessions are not distilled; to change that, write [compound_loop] enabled = true in {file}"


def _worker(args: Namespace, context: MemoryContext) -> int:
    from hookline.memory.queue import worker
    from hookline.memory.queue.queue import Queue

    total = Queue(context.places.queue).counts().pending
    ended = 0
    with Counter("distilled", total) as count:
        count(0)

        def progress(_name: str, _outcome: str) -> None:
            nonlocal ended
            ended += 1
            count(ended)

        report = worker.run(os.environ, cwd=context.here.cwd, now=args.now, progress=progress)
    counts = {name: report.counts.get(name, 0) for name in ("wrote", "nothing", "skipped", "failed", "later")}
    if args.json:
        print_json({**counts, "busy": report.busy, "held": report.held or report.trouble or None})
    elif report.busy:
        print("another worker is running" + ("; it retries everything now" if args.now else ""))
    elif done := ", ".join(f"{number} {name}" for name, number in counts.items() if number):
        print(done)
    elif not report.held:
        waiting = Queue(context.places.queue).counts().pending
        hint = f"; {waiting} waiting; to run them now: hookline knowledge worker --now" if waiting else ""
        print(f"nothing was due{hint}")
    if report.held:
        ended = any(number for name, number in counts.items() if name != "later")
        knowledge_notes.warn(f"stopped{' early' if ended else ''}: {_add_hint(report.held, context)}")
    elif counts["later"] and not report.trouble:
        reasons = (one.task.reason for one in Queue(context.places.queue).pending())
        knowledge_notes.warn(f"will be retried: {next(filter(None, reasons), 'see hookline status queue')}")
    if report.trouble:
        raise StateError(report.trouble)
    return 1 if report.held or counts["failed"] or counts["later"] else 0
