"""The walk of one event: which of our modules it passes, in order, and how often control goes from one to another.

A tool call of Claude Code meets one approved command hook: once in a process of its own (``cold``, from the start of
the command to its end; ``first``, where no process before it has kept the configuration), and once in a daemon that has
answered the project some times (``warm``, from the bytes of the request to the bytes of the answer). A module counts when one of its functions is called, in whatever thread; what runs
while a module is being imported does not. Control changes module when two calls after one another are of different ones.

usage: python tools/hops.py [--json | --list first|cold|warm]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
PAYLOAD = ROOT / "tests" / "payloads" / "claude" / "PreToolUse.Bash.json"
HOOK = '[[hook]]\nname = "no"\non = "PreToolUse"\nmatch = "Bash"\nshell = "echo no >&2; exit 2"\n'
WAYS = ("first", "cold", "warm")
ASK = ("--agent=claude-code", "--event=PreToolUse")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", choices=WAYS, default="", help="the modules, in the order of the walk")
    parser.add_argument("--measure", nargs=2, metavar=("WAY", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args(words)
    if asked.measure:
        way, file = asked.measure
        Path(file).write_text("\n".join(measure_warm() if way == "warm" else measure_cold()), encoding="utf-8")
        return 0
    if asked.list:
        print("\n".join(dict.fromkeys(walk(asked.list))))
        return 0
    numbers: dict[str, int] = {}
    for way in WAYS:
        calls = walk(way)
        changes = sum(one != other for one, other in pairwise(calls))
        numbers |= {f"{way} modules": len(set(calls)), f"{way} changes of module": changes}
    print(json.dumps(numbers, indent=2) if asked.json else "\n".join(f"{k:<40}{v:>8}" for k, v in numbers.items()))
    return 0


def walk(way: str) -> list[str]:
    """The module of every call, measured in a process of its own with a home and a project of its own."""
    with tempfile.TemporaryDirectory(prefix="hookline-hops-") as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        (project / ".hookline").mkdir(parents=True)
        home.mkdir()
        (project / ".hookline" / "hookline.toml").write_text(HOOK, encoding="utf-8")
        environ = {
            "HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(SRC), "CLAUDE_PROJECT_DIR": str(project),
        }  # fmt: skip
        payload = json.loads(PAYLOAD.read_text(encoding="utf-8")) | {"cwd": str(project)}
        before = [["-m", "hookline", "hook", *ASK, "--cold"]] if way == "cold" else []
        for line in (["-m", "hookline", "trust", "--yes"], *before, [__file__, "--measure", way, f"{folder}/calls"]):
            subprocess.run(
                [sys.executable, *line], cwd=project, env=environ, input=json.dumps(payload).encode(),
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            payload["tool_use_id"] = f"call {line[-1]}"  # another call, not the same one twice
        return Path(folder, "calls").read_text(encoding="utf-8").split()


def measure_cold() -> list[str]:
    from hookline.cli import main as command

    return calls_during(lambda: command(["hook", *ASK, "--cold"]))


def measure_warm() -> list[str]:
    import hookline
    from hookline.daemon.protocol import Caller, Callers, DaemonRequest, pack_request
    from hookline.daemon.service import DaemonService

    service, callers, payload = DaemonService(lambda: None, lambda: None), Callers(), json.loads(sys.stdin.read())
    caller = Caller(version=hookline.__version__, kind="hook", cwd=os.getcwd(), argv=ASK, environ=dict(os.environ))

    def answer(name: str) -> None:
        request = callers.request(frames[name])
        assert request is not None
        said, _later = service.answer(request, os.getpid)
        assert b"deny" in said, said

    frames = {
        name: pack_request(DaemonRequest(caller=caller, stdin=json.dumps(payload | {"tool_use_id": name}).encode()))
        for name in "123456"
    }
    *before, last = frames
    for name in before:
        answer(name)
    return calls_during(lambda: answer(last))


def calls_during(act: Callable[[], object]) -> list[str]:
    calls: list[str] = []
    importing = threading.local()
    ours = f"{SRC}{os.sep}"

    def profile(frame: FrameType, event: str, _arg: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            importing.depth = getattr(importing, "depth", 0) + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and code.co_filename.startswith(ours) and not getattr(importing, "depth", 0):
            calls.append(code.co_filename.removeprefix(ours))

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
