"""Make a pack of your own: hooks that anybody installs with hookline add, or as a Claude Code plugin.

  hookline pack new NAME          a working skeleton in the folder NAME, with a test
  hookline pack check [FOLDER]    every problem: paths, modes, interpreters, and agents on which an event does not exist
  hookline pack test [FOLDER]     run the cases in cases/*.json on every agent's wire, in a scratch home

A case is {"event", "data", "expect": {"effect", "reason", "context", "data"}, "env", "files", "agents"}: the event with its
canonical data, what must come out (a text need only be part of it), variables and project files, and the agents it is
about (default: all that have the event). Exit code 1: a problem, or a case that failed.

--json prints {"problems": [{"path", "finding", "fix"}]} for check and {"cases": [{"case", "agent", "ok", "why"}]} for test.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from hookline.cli.options import add_json
from hookline.cli.output import paint, plural, print_json, safe
from hookline.cli.pack_install import PackUser, Review, doubts, missing_lines, review, table_text
from hookline.cli.pack_skeleton import skeleton
from hookline.core._dataclass import replace
from hookline.core.agents import AGENTS, Agent, select_agents
from hookline.core.errors import DataError, UsageError
from hookline.core.hook import Command
from hookline.core.paths import find_paths
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events
from hookline.dialects.plugins import ROOT
from hookline.doctor.replay import translate
from hookline.engine.build import READ_ONLY, Runtime, Sources, load_runtime
from hookline.engine.engine import Engine
from hookline.gateway.reply import write_reply
from hookline.packs.fetch import fetch
from hookline.packs.source import parse_source

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
#: Paths that exist on their author's machine only.
_ABSOLUTE = re.compile(r"(?<![\w$}/.:])(/(?:home|Users|root|private|var/folders|mnt|opt/homebrew)/[\w.@/-]+)")


def configure(parser: ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    new = verbs.add_parser("new", description="A working skeleton.")
    new.add_argument("name", metavar="NAME", help="lower case, digits and hyphens")
    for verb, about in (("check", "Every problem of a pack."), ("test", "Run a pack's cases.")):
        one = verbs.add_parser(verb, description=about)
        one.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="the pack (default: here)")
        if verb == "test":
            one.add_argument(
                "--agent", metavar="A", action="append", default=[], help="only on these agents' wires (repeatable)"
            )
        add_json(one)


def run(args: Namespace) -> int:
    return {"new": _new, "check": _check, "test": _test}[args.verb](args)


def _new(args: Namespace) -> int:
    if not _NAME.fullmatch(args.name):
        raise UsageError(f"{args.name!r} cannot be the name of a pack; use lower case letters, digits and hyphens")
    if os.path.lexists(args.name):
        raise UsageError(f"{args.name} is there already")
    for path, (text, executable) in skeleton(args.name).items():
        whole = os.path.join(args.name, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "x", encoding="utf-8") as file:
            file.write(text)
        os.chmod(whole, 0o755 if executable else 0o644)
        print(f"wrote {whole}")
    print(f"Try it: hookline pack test {args.name}; use it: hookline add ./{args.name}")
    return 0


# ── check ────────────────────────────────────────────────────────────────────────────────────────────


def _scratch(folder: str, home: str) -> Review:
    """The pack as ``hookline add`` would take it, in the files of nobody."""
    place = PackUser(cwd=os.getcwd(), home=home, paths=find_paths({}, home))
    source = parse_source(os.path.abspath(folder), place.cwd, home)
    return review(place, fetch(source, home), os.path.join(home, "hookline.toml"))


def _check(args: Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="hookline-pack-") as home:
        one = _scratch(args.folder, home)
        problems = list(_problems(one))
    if args.json:
        print_json({"problems": [{"path": path, "finding": finding, "fix": fix} for path, finding, fix in problems]})
        return int(any(fix for _, _, fix in problems))
    for path, finding, fix in problems:
        print(f"{paint(safe(path), 'bold')}: {safe(finding)}")
        print(f"    {paint('fix:', 'green')} {safe(fix)}") if fix else None
    bad = sum(bool(fix) for _, _, fix in problems)
    print(f"{plural(len(one.specs), 'hook')}, {plural(bad, 'problem')}, {plural(len(problems) - bad, 'note')}")
    return int(bool(bad))


def _problems(one: Review) -> Iterator[tuple[str, str, str]]:
    """Path, what is wrong, and what to do; nothing to do: it is only good to know."""
    root = one.specs[0].environ["PLUGIN_ROOT"] if one.specs else ""
    for problem in one.problems:
        yield (
            os.path.relpath(problem.file, root),
            f"{problem.pointer}: {problem.finding}".replace(f"{root}/", ""),
            problem.fix.replace(f"{root}/", ""),
        )
    for path, file in one.fetched.tree.items():
        text = "" if b"\0" in file.data[:4096] else file.data.decode(errors="replace")
        if not path.endswith((".md", ".txt")) and (found := _ABSOLUTE.search(text)):
            yield path, f"{found[1]} is a path of your machine", f"use ${{{ROOT}}}, or $HOME"
        if not file.executable and path in _called(one, root):
            yield path, "it is run as a program, and is not executable", f"chmod +x {path}"
    for finding, fix in one.unable:
        yield "hooks", finding.replace(f"{root}/", ""), fix.replace(f"{root}/", "")
    for name in one.needs.missing:
        yield "hooks", f"{name} is not on every machine", "say so in the README, or do without it"
    for line in doubts(one)[len(missing_lines(one)) :]:
        if not any(problem.finding in line for problem in one.problems):
            yield "hooks", line, ""


def _called(one: Review, root: str) -> set[str]:
    """Files of the pack that a hook starts without an interpreter."""
    actions = [spec.action for spec in one.specs if isinstance(spec.action, Command)]
    words = [action.argv[0] if action.argv else action.text.strip().lstrip("\"'") for action in actions]
    starts = [word.removeprefix(f"{root}/") for word in words if word.startswith(f"{root}/")]
    return {re.split(r"""["'\s;|&]""", word)[0] for word in starts}


# ── test ─────────────────────────────────────────────────────────────────────────────────────────────


def _test(args: Namespace) -> int:
    folder = os.path.join(args.folder, "cases")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json")) if os.path.isdir(folder) else []
    if not names:
        raise UsageError(f"{folder} has no cases (files that end with .json); hookline pack new shows one")
    done: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="hookline-pack-") as home:
        one = _scratch(args.folder, home)
        for name in names:
            done += _run_case(
                one, os.path.join(folder, name), home, {agent.name for agent in select_agents(args.agent)}
            )
    if args.json:
        print_json({"cases": done})
    else:
        for row in done:
            mark = paint("ok", "green") if row["ok"] else paint("failed", "red")
            print(f"{mark}  {row['case']} on {row['agent']}{': ' + safe(row['why'], 400) if row['why'] else ''}")
        print(f"{len(done)} runs, {sum(not row['ok'] for row in done)} failed")
    return int(not all(row["ok"] for row in done))


def _run_case(one: Review, path: str, home: str, only: set[str]) -> Iterator[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as file:
            case = json.load(file)
        event, expect = str(case["event"]), dict(case["expect"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a case ({error!r}); it needs event, data and expect") from None
    name = os.path.basename(path)
    agents = case.get("agents") or [name for name, agent in AGENTS.items() if event in native_events(agent)]
    project = os.path.join(home, "projects", name)
    _make_project(project, case)
    with _load(one, case, home, project).engine as engine:
        for agent in (agent for agent in select_agents(agents) if not only or agent.name in only):
            why = _fire(engine, case, agent, expect)
            yield {"case": name, "agent": agent.name, "ok": not why, "why": why}


def _fire(engine: Engine, case: dict[str, Any], agent: Agent, expect: dict[str, Any]) -> str:
    """What is not as expected; "" if all is. Each agent has a session of its own."""
    session = f"{agent.name}-{os.urandom(4).hex()}"
    sent = engine.event(str(case["event"]), {"session_id": session, **case.get("data", {})}, session=session)
    turned, _ = translate(sent, agent)
    if turned is None:
        return f"{agent.name} has no {case['event']}"
    for before in case.get("before", []):
        first = engine.event(before["event"], {"session_id": session, **before.get("data", {})}, session=session)
        engine.fire_event(replace(first, agent=agent.name))
    decision = engine.fire_event(turned)
    engine.join(session)
    answer = write_reply(dialect_named(agent.dialect), turned, decision).answer
    context = "\n".join(one.context.text for one in decision.context)
    found = {
        "effect": decision.effect, "reason": decision.reason, "context": context,
        "data": json.dumps(decision.data, default=dict), "stdout": answer.stdout,
    }  # fmt: skip
    wrong = [
        f"{key} is {found.get(key)!r}, not {value!r}" for key, value in expect.items()
        if (found[key] != value if key == "effect" else str(value) not in found.get(key, ""))
    ]  # fmt: skip
    return "; ".join([*wrong, *(f"{one.hook}: {one.error}" for one in decision.outcomes if one.error)])


def _make_project(project: str, case: dict[str, Any]) -> None:
    os.makedirs(project)
    for name, text in (case.get("files") or {}).items():
        path = os.path.normpath(os.path.join(project, name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if case.get("git"):
        who = ("-c", "user.name=pack", "-c", "user.email=pack@localhost")
        for words in (
            ("init", "-q", "-b", str(case["git"])),
            ("add", "-A"),
            (*who, "commit", "-q", "--allow-empty", "-m", "start"),
        ):
            subprocess.run(["git", *words], cwd=project, check=True, capture_output=True)


def _load(one: Review, case: dict[str, Any], home: str, project: str) -> Runtime:
    config = os.path.join(home, "hookline.toml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(table_text(one.row))
    environ = {**os.environ, "HOME": home, **{str(key): str(value) for key, value in (case.get("env") or {}).items()}}
    sources = Sources(config=[config], cwd=project, environ=environ, home=home, paths=find_paths({}, home))
    return load_runtime(sources, READ_ONLY)
