"""A project's worker process: reads calls from standard input, line by line, and answers them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import inf
from signal import ITIMER_REAL, setitimer
from time import monotonic
from typing import Any

from hookline.core._dataclass import fields, is_dataclass
from hookline.core.event import Event, event_kind
from hookline.core.hook import Function, HookSpec, Origin
from hookline.core.result import Reply
from hookline.core.settings import Settings
from hookline.dialects.base import Call
from hookline.runners.base import Job, Stop
from hookline.runners.function import FunctionRunner

#: Seconds beyond a function's time after which nobody can be waiting for it: the daemon ends us after half a second.
_ABANDONED = 5.0


def main() -> int:
    """Ends when the daemon is gone. What functions print goes to stderr: stdout is ours."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    runner, lock, fuse = FunctionRunner(), threading.Lock(), _Fuse()
    approved: dict[str, _Approved] = {}

    def serve(call: dict[str, Any]) -> None:
        with fuse.armed(call["timeout"]):
            files = approved.get(call["hook"])
            line = json.dumps(_answer(runner, call, files), default=_plain).encode() + b"\n"
        with lock:
            answers.write(line)

    answers.write(b'{"ready": true}\n')
    for line in sys.stdin.buffer:
        call = json.loads(line)
        if call["approved"] is not None:
            approved[call["hook"]] = _Approved(**call["approved"])
        threading.Thread(target=serve, args=(call,), daemon=True).start()
    return 0


class _Fuse:
    """Ends this process when a function holds the interpreter and the daemon, which would end us, is gone too.

    A timer of the system and the default action of its signal: neither needs the interpreter.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._until = 0.0

    @contextmanager
    def armed(self, seconds: float | None) -> Generator[None]:
        with self._lock:
            now = monotonic()
            self._running += 1
            self._until = max(self._until, inf if seconds is None else now + seconds + _ABANDONED)
            setitimer(ITIMER_REAL, 0 if self._until == inf else self._until - now)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._until = 0.0
                    setitimer(ITIMER_REAL, 0)


def _answer(runner: FunctionRunner, call: dict[str, Any], approved: _Approved | None) -> dict[str, Any]:
    raw = runner.run(_job(call, approved))
    value, is_reply = raw.value, isinstance(raw.value, Reply)
    error = raw.error
    if is_reply:
        value = _plain(value)
    elif value is not None and not isinstance(value, dict):
        value, error = None, f"returned {type(value).__name__}, not None, a dict or a Reply"
    return {
        "number": call["number"], "value": value, "reply": is_reply, "error": error, "stderr": raw.stderr,
        "timed_out": raw.timed_out,
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """Values that JSON cannot express."""
    if is_dataclass(value):
        return {slot.name: getattr(value, slot.name) for slot in fields(value)}
    return dict(value) if isinstance(value, Mapping) else str(value)


def _job(call: dict[str, Any], approved: _Approved | None) -> Job:
    sent = call["event"]
    words: dict[str, Any] = {**sent, "kind": event_kind(sent["kind"])}
    event = Event(**words)
    action = Function(target=call["target"], base=call["base"], given=call["given"])
    spec = HookSpec(
        id="", name=call["name"], dialect="native", event=event.kind.name, action=action, timeout=call["timeout"],
        origin=Origin(file="", layer="project"),
    )  # fmt: skip
    return Job(spec=spec, event=event, call=Call(), settings=Settings(), stop=Stop(), approved=approved)


class _Approved:
    """The files that a hook was approved with, as the daemon sent them."""

    version, has_modules = "", True

    def __init__(self, root: str, files: dict[str, str]) -> None:
        self.root = root
        self._files = files

    def digest(self, path: str) -> str:
        return self._files.get(os.path.relpath(path, self.root), "")

    def is_covered(self, folder: str) -> bool:
        return False  # only who starts programs asks

    def as_tree(self) -> dict[str, Any]:
        return {"root": self.root, "files": self._files}


if __name__ == "__main__":
    raise SystemExit(main())
