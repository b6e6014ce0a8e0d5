"""What runs in a project's worker process: reads calls from standard input, line by line, and answers them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from hookline.dataclass import fields, is_dataclass
from hookline.dialects.base import Call
from hookline.event import Event, kind_of
from hookline.result import Reply
from hookline.run.base import Job
from hookline.run.function import FunctionRunner
from hookline.run.stop import Stop
from hookline.settings import Settings
from hookline.spec import Function, HookSpec, Origin


def main() -> int:
    """Ends when whoever asks is gone. What functions print goes to stderr: stdout is ours."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    runner, lock = FunctionRunner(), threading.Lock()

    def serve(call: dict[str, Any]) -> None:
        line = json.dumps(_answered(runner, call), default=_plain).encode() + b"\n"
        with lock:
            answers.write(line)

    answers.write(b'{"ready": true}\n')
    for line in sys.stdin.buffer:
        threading.Thread(target=serve, args=(json.loads(line),), daemon=True).start()
    return 0


def _answered(runner: FunctionRunner, call: dict[str, Any]) -> dict[str, Any]:
    raw = runner.run(_job(call))
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
    """What JSON has no word for."""
    if is_dataclass(value):
        return {slot.name: getattr(value, slot.name) for slot in fields(value)}
    return dict(value) if isinstance(value, Mapping) else str(value)


def _job(call: dict[str, Any]) -> Job:
    sent = call["event"]
    words: dict[str, Any] = {**sent, "kind": kind_of(sent["kind"])}
    event = Event(**words)
    action = Function(target=call["target"], base=call["base"])
    spec = HookSpec(
        id="", name=call["name"], dialect="native", event=event.kind.name, action=action, timeout=call["timeout"],
        origin=Origin(file="", layer="project"),
    )  # fmt: skip
    return Job(spec=spec, event=event, call=Call(), settings=Settings(), stop=Stop())


if __name__ == "__main__":
    raise SystemExit(main())
