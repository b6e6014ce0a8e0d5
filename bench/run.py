"""``hookline run`` and ``hookline chat`` from start to end, cold, against a bare Python; and beside the real Lectic, if
LECTIC names its program. The model is scripted and answers at once."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from measure import Row

from hookline.llm.scripted import ModelServer

_TALK = "---\ninterlocutor: {name: Bot, prompt: Be nice., provider: openai/chat, model: m}\n---\nHello\n"
#: Milliseconds on a machine on which a bare Python takes 20.
_CHAT = 400 / 20


def rows(folder: str, short: bool) -> Iterator[Row]:
    place = os.path.join(folder, "talk")
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "t.lec"), "w", encoding="utf-8") as file:
        file.write(_TALK)
    with open(os.path.join(place, "s.json"), "w", encoding="utf-8") as file:
        json.dump([{"text": "Hi", "repeat": True}], file)
    with ModelServer([{"text": "Hi", "repeat": True}]) as server:
        environ = {**os.environ, **server.environ(), "HOME": place, "HOOKLINE_STATE_DIR": f"{place}/state"}
        environ["HOOKLINE_DAEMON"] = "off"
        answer = ["-f", "t.lec", "--format", "none"]
        lectic = os.environ.get("LECTIC", "")
        programs = {
            "python": _ended([sys.executable, "-c", "pass"], place, environ),
            "run": _ended([sys.executable, "-m", "hookline", "run", *answer], place, environ),
            "chat": lambda: _prompt([sys.executable, "-m", "hookline", "chat", "--model", "script:s.json"], place, environ),
            **({"lectic": _ended([lectic, *answer], place, environ)} if lectic else {}),
        }  # fmt: skip
        taken = {name: [] for name in programs}  # type: dict[str, list[float]]
        for _ in range(3 if short else 11):
            for name, program in programs.items():
                taken[name].append(program())
    times = {name: median(some) * 1000 for name, some in taken.items()}
    yield _row("hookline run, cold, / python -c pass", times["run"], times["python"], 20)
    yield _row("hookline chat to its prompt / python -c pass", times["chat"], times["python"], _CHAT)
    if lectic:
        yield _row("hookline run, cold, / the real Lectic", times["run"], times["lectic"], 1.1)


def _row(what: str, one: float, other: float, target: float) -> Row:
    return Row(what=what, shown=f"{one:.0f} / {other:.0f} ms", value=one / other, unit="x", target=target)


def _ended(argv: list[str], place: str, environ: dict[str, str]) -> Callable[[], float]:
    def run() -> float:
        began = time.perf_counter()
        subprocess.run(argv, cwd=place, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began

    return run


def _prompt(argv: list[str], place: str, environ: dict[str, str]) -> float:
    """Until a line editor asks for pasted text in brackets."""
    master, slave = pty.openpty()
    began = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=place, env={**environ, "TERM": "xterm"}, stdin=slave, stdout=slave, stderr=slave
    ) as child:
        os.close(slave)
        seen = b""
        while b"\x1b[?2004h" not in seen:
            seen += (piece := os.read(master, 65536))
            if b"\x1b[6n" in piece:  # where is the cursor?
                os.write(master, b"\x1b[1;1R")
        taken = time.perf_counter() - began
        child.kill()
    os.close(master)
    return taken
