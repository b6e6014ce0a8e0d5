"""A plugin's side of the protocol: JSON, one object per line, over a Unix socket whose path is its only argument."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: The whole message of a hook -> its answer; None: allow, nothing to say.
    Answerer = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]

_ALLOW: Mapping[str, Any] = {"action": "allow"}


def deny(reason: str, **data: Any) -> Mapping[str, Any]:
    return {"action": "deny", "reason": reason, "data": data}


def modify(**data: Any) -> Mapping[str, Any]:
    return {"action": "modify", "data": data}


def serve(hooks: Sequence[Mapping[str, Any]], answer: Answerer) -> None:
    """Until we are told to end. A question that takes long holds up no other: each has a thread of its own.

    Who leaves the socket open to others lets them ask, so it is made for our own user alone.
    """
    path = sys.argv[1]
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(before)
    listener.listen(1)
    link, _ = listener.accept()
    listener.close()
    say = _speaker(link)
    for line in link.makefile("rb"):
        message = json.loads(line)
        kind = message.get("type")
        if kind == "handshake":
            say({"type": "handshake_ok", "version": "1.0", "hook_config": list(hooks)})
        elif kind == "terminate":
            return
        elif kind == "hook":
            threading.Thread(target=_answered, args=(message, answer, say), daemon=True).start()


def _answered(message: Mapping[str, Any], answer: Answerer, say: Callable[[Mapping[str, Any]], None]) -> None:
    said = answer(message) or _ALLOW
    say({"type": "hook_result", "id": message["id"], **said})


def _speaker(link: socket.socket) -> Callable[[Mapping[str, Any]], None]:
    lock = threading.Lock()

    def say(message: Mapping[str, Any]) -> None:
        with lock:
            link.sendall(json.dumps(message).encode() + b"\n")

    return say
