"""Runs where there is no network but loopback, and no process but its own: the scripted model, and a real agent.

``python inside.py ORDER.json``: ``{"port", "script", "runs": [{"argv", "environ", "cwd", "timeout", "keys"}], "result"}``.
With ``keys`` the program gets a terminal, and a person who waits for a text on the screen and then types:
``[["text to wait for", "what to type"], …]``. With ``together`` the runs are started at once. When this program ends, the kernel ends whatever it left running.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hookline.llm.scripted import ModelServer

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 0x1
#: What a terminal is asked, and what it says.
_QUESTIONS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c", b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x07"}
_DRAWING = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\s")


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        told = fcntl.ioctl(door, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        (flags,) = struct.unpack_from("h", told, 16)
        fcntl.ioctl(door, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def play(run: dict[str, Any]) -> dict[str, Any]:
    """Output goes to files: a pipe would be waited for as long as anything in the background holds it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        running = subprocess.Popen(
            run["argv"], cwd=run["cwd"], env=run["environ"], stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        try:
            code: int | None = running.wait(run["timeout"])
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            code = None
        told = [file.read().decode("utf-8", "replace") for file in (out, err) if file.seek(0) == 0]
    return {"code": code, "out": told[0], "err": told[1]}


def type_at(run: dict[str, Any]) -> dict[str, Any]:
    """A person at a terminal: types when the awaited text has been drawn."""
    child, screen = pty.fork()
    if child == 0:
        os.chdir(run["cwd"])
        os.execve(run["argv"][0], run["argv"], run["environ"])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    keys, seen, since, end = list(run["keys"]), b"", 0, time.monotonic() + run["timeout"]
    drawn_at = time.monotonic()
    while time.monotonic() < end:
        if select.select([screen], [], [], 0.2)[0]:
            try:
                drawn = os.read(screen, 65536)
            except OSError:
                break
            # A cursor that blinks, or a picture that moves, draws the same again and again.
            if _DRAWING.sub(b"", drawn) not in _DRAWING.sub(b"", seen[since:]):
                drawn_at = time.monotonic()
            seen += drawn
            for question, answer in _QUESTIONS.items():
                if question in drawn:
                    os.write(screen, answer)
        # Words are drawn with moves of the cursor between them; a screen that is still being drawn takes no keys.
        there = keys and keys[0][0].replace(" ", "").encode() in _DRAWING.sub(b"", seen[since:])
        if there and time.monotonic() - drawn_at > 2:
            since = len(seen)
            _type(screen, keys.pop(0)[1])
            end = end if keys else min(end, time.monotonic() + 8)
    os.close(screen)
    return {"code": None if keys else 0, "out": seen.decode("utf-8", "replace"), "err": f"never typed: {keys}"}


def _type(screen: int, text: str) -> None:
    # A text that comes at once is a paste, and Enter in it is a line break.
    for key in text:
        time.sleep(0.3 if key == "\r" else 0.01)
        os.write(screen, key.encode())


def main(order: dict[str, Any]) -> None:
    loopback_up()
    with ModelServer(order["script"], port=order["port"]) as server:
        with ThreadPoolExecutor(len(order["runs"]) if order.get("together") else 1) as pool:
            runs = list(pool.map(lambda run: type_at(run) if run.get("keys") else play(run), order["runs"]))
        asked = [asdict(request) for request in server.requests if request.protocol]
    told = {"runs": runs, "requests": asked}
    Path(order["result"]).write_text(json.dumps(told, default=dict), encoding="utf-8")


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
