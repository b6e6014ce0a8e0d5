"""Runs inside a network namespace that has nothing but loopback: the scripted model, and one real agent against it.

``python inside.py ORDER.json``: ``{"port", "script", "runs": [{"argv", "environ", "cwd", "timeout"}], "result"}``.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hookline.testing.model_server import ModelServer

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 0x1


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        told = fcntl.ioctl(door, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        (flags,) = struct.unpack_from("h", told, 16)
        fcntl.ioctl(door, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def play(run: dict[str, Any]) -> dict[str, Any]:
    try:
        done = subprocess.run(
            run["argv"], cwd=run["cwd"], env=run["environ"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=run["timeout"], check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return {"code": None, "out": str(late.stdout), "err": str(late.stderr)}
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}


def main(order: dict[str, Any]) -> None:
    loopback_up()
    with ModelServer(order["script"], port=order["port"]) as server:
        runs = [play(run) for run in order["runs"]]
        asked = [asdict(request) for request in server.requests if request.protocol]
    told = {"runs": runs, "requests": asked}
    Path(order["result"]).write_text(json.dumps(told, default=dict), encoding="utf-8")


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
