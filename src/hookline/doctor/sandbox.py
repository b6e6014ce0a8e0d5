"""Runs an agent with a scripted model, where there is no network but loopback.

``python -m hookline.doctor.sandbox ORDER.json``: ``{"port", "script", "runs": [{"argv", "environ", "cwd", "timeout"}],
"result"}``; the answers and the model's requests are written into the file ``result``.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from typing import Any

from hookline.llm.scripted import ModelServer

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 0x1


def _loopback_up() -> None:
    """A new network namespace starts with every interface down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        told = fcntl.ioctl(door, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        (flags,) = struct.unpack_from("h", told, 16)
        fcntl.ioctl(door, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def play(run: dict[str, Any]) -> dict[str, Any]:
    """Run one command line and kill everything it leaves behind, even if we are interrupted."""
    child = subprocess.Popen(
        run["argv"], cwd=run["cwd"], env=run["environ"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    code: int | None
    try:
        out, err = child.communicate(timeout=run["timeout"])
        code = child.returncode
    except subprocess.TimeoutExpired:
        _end(child)
        out, err = child.communicate()
        code = None
    finally:
        _end(child)
    return {"code": code, "out": out, "err": err}


def _end(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def main(order: dict[str, Any]) -> None:
    _loopback_up()
    with ModelServer(order["script"], port=order["port"]) as server:
        runs = [play(run) for run in order["runs"]]
        asked = [json.dumps(request.body, ensure_ascii=False, default=dict) for request in server.requests]
    with open(order["result"], "w", encoding="utf-8") as file:
        json.dump({"runs": runs, "requests": asked}, file)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as told:
        main(json.load(told))
