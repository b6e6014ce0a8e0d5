"""Fire one event that a hook denies, once for every call that is made after the decision, each time with that call failing.

Run as a program with a door and a stride: 1 tries every call. Prints as JSON how many faults there were, and of those that lost the deny the place and
what the caller got instead. Each attempt is a fork, so none changes another.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import hookline
from hookline import Engine
from hookline.cli import failsafe, main
from hookline.cli.commands import fire, hook
from hookline.daemon import service
from hookline.daemon.protocol import RESULT, Caller, DaemonRequest
from hookline.dialects import dialect_named
from hookline.engine import fold
from hookline.gateway import dedupe_file, handler
from hookline.runners import command
from hookline.shell.bash_zsh.serve import ShellQuestion, answer_question
from hookline.shell.bash_zsh.service import ShellService
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, ShellOptions
from hookline.state.record import journal
from hookline.state.sessions import sqlite

#: Imported before the first fork, so that no attempt pays for them.
_NEEDED = (command, dedupe_file, failsafe, fire, handler, hook, journal, sqlite, dialect_named("claude-code"))
SOURCE = os.path.dirname(hookline.__file__)
#: C functions that can fail: the system, SQLite and JSON. A lock that cannot be released is no fault to plan for.
_MAY_FAIL = {"posix", "_sqlite3", "sqlite3", "_json", "fcntl"}
_PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}
_WORDS = ["--agent", "claude-code", "--event", "PreToolUse", "--registration", "user/claude-code"]


class Fault(RuntimeError):
    """What is injected."""


class Injector:
    """Counts calls from the decision on, and lets one of them fail."""

    def __init__(self) -> None:
        self.calls, self.at, self.place = 0, -1, ""
        finish = fold.finish

        def finished(*args: Any, **options: Any) -> Any:
            decision = finish(*args, **options)
            sys.setprofile(self)
            return decision

        fold.finish = finished

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(SOURCE) or not _may_fail(event, called):
            return
        self.calls += 1
        if self.calls == self.at:
            what = getattr(called, "__qualname__", code.co_name)
            self.place = f"{code.co_filename[len(SOURCE) + 1 :]}:{frame.f_lineno} {what}"
            sys.setprofile(None)
            raise Fault("injected")


def _may_fail(event: str, called: Any) -> bool:
    if event == "call":
        return True
    own = getattr(called, "__self__", None)
    return event == "c_call" and {getattr(called, "__module__", ""), type(own).__module__} & _MAY_FAIL != set()


def _cold(*more: str) -> int:
    return main(["hook", *_WORDS, "--cold", *more])


def _fire() -> int:
    return main(["fire", "PreToolUse", "--json", "--session", "s", "--data", json.dumps(_PAYLOAD)])


def _daemon() -> int:
    daemon = service.DaemonService(lambda: None, lambda: None)
    caller = Caller(
        version=hookline.__version__, kind="hook", cwd=os.getcwd(), argv=tuple(_WORDS), environ=dict(os.environ)
    )
    packed, _later = daemon.answer(DaemonRequest(caller=caller, stdin=json.dumps(_PAYLOAD).encode()))
    if packed[:1] != b"R":  # then the client decides again, without the daemon
        return 2
    _kind, code, length, _errors = RESULT.unpack_from(packed)
    os.write(1, packed[RESULT.size : RESULT.size + length])
    return int(code)


def _library() -> int:
    decision = Engine.load(sessions=True).fire_sync("PreToolUse", _PAYLOAD)
    os.write(1, json.dumps({"effect": decision.effect}).encode())
    return 1


def _shell() -> int:
    """As the process beside zsh: what it sends back for a line that is about to run."""
    dispatcher = ShellDispatcher(EngineHost(ShellOptions(), os.environ), environ=lambda: os.environ)
    question = ShellQuestion(id="1", name="run", fields={"text": "ls", "cwd": os.getcwd()})
    os.write(1, answer_question(ShellService(dispatcher, "zsh"), question))
    return 0


DOORS = {
    "shell": _shell,
    "cold": _cold,
    "closed": lambda: _cold("--on-failure", "deny"),
    "fire": _fire,
    "daemon": _daemon,
    "library": _library,
}


def _is_denied(door: str, code: int, out: bytes) -> bool:
    """As the agent reads it: exit code 2, or its JSON and nothing else beside it. ``fire`` answers by its exit code."""
    if code == 2 or door == "fire":
        return code in {1, 2}
    if door == "shell":
        return out.split(b"\0")[2:3] == [b"drop"]
    try:
        said = json.loads(out)
    except ValueError:
        return False
    return "deny" in (said.get("effect"), said.get("hookSpecificOutput", {}).get("permissionDecision"))


def attempt(injector: Injector, door: str, at: int) -> tuple[int, bytes, int, str]:
    reading, writing = os.pipe()
    notes, noting = os.pipe()
    stdin, feed = os.pipe()
    os.write(feed, json.dumps(_PAYLOAD).encode())
    os.close(feed)
    child = os.fork()
    if child == 0:
        os.dup2(stdin, 0)
        os.dup2(writing, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        injector.at = at
        try:
            code = DOORS[door]()
        except BaseException:
            code = 99
        sys.setprofile(None)
        os.write(noting, json.dumps([injector.calls, injector.place]).encode())
        sys.stdout.flush()
        os._exit(code)
    for handle in (writing, noting, stdin):
        os.close(handle)
    with os.fdopen(reading, "rb") as answer, os.fdopen(notes, "rb") as note:
        out, noted = answer.read(), note.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    calls, place = json.loads(noted or b'[0, "it ended at once"]')
    return code, out, calls, place


def inject(door: str, stride: int) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        own = folder / "home" / ".config" / "hookline"
        own.mkdir(parents=True)
        (own / "hookline.toml").write_text(
            "[[hook]]\nname = 'no'\non = ['PreToolUse', 'input.submit']\nshell = 'echo no >&2; exit 2'\n"
        )
        project = folder / "project"
        (project / ".hookline").mkdir(parents=True)  # not approved, which is said in the answer
        (project / ".hookline" / "hookline.toml").write_text("[[hook]]\nname = 'a'\non = 'PreToolUse'\nrun = 'true'\n")
        os.chdir(project)
        os.environ.clear()
        os.environ.update(HOME=str(folder / "home"), PATH="/usr/bin:/bin")
        injector = Injector()
        attempt(injector, door, -1)  # makes the files that later ones only open
        code, out, calls, _ = attempt(injector, door, -1)
        assert _is_denied(door, code, out), (code, out)
        wrong = []
        chosen = range(1, calls + 1, stride)
        for at in chosen:
            code, out, _, place = attempt(injector, door, at)
            if not _is_denied(door, code, out):
                wrong.append({"place": place, "code": code, "out": out.decode(errors="replace")})
        sys.stdout.write(json.dumps({"faults": len(chosen), "wrong": wrong}))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    inject(sys.argv[1], int(sys.argv[2]))
