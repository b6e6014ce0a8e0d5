"""The plugin's side of the protocol: one JSON object per line, over a Unix socket whose path is the only argument."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: A hook's message -> its answer; None allows it.
    Answerer = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]

_ALLOW: Mapping[str, Any] = {"action": "allow"}


def deny(reason: str, **data: Any) -> Mapping[str, Any]:
    return {"action": "deny", "reason": reason, "data": data}


def modify(**data: Any) -> Mapping[str, Any]:
    return {"action": "modify", "data": data}


def serve(hooks: Sequence[Mapping[str, Any]], answer: Answerer) -> None:
    """Runs until ``terminate``. Each message gets its own thread, so a slow one does not hold up others.

    The socket is private: any user with access could send messages.
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
    send = _sender(link)
    for line in link.makefile("rb"):
        message = json.loads(line)
        kind = message.get("type")
        if kind == "handshake":
            send({"type": "handshake_ok", "version": "1.0", "hook_config": list(hooks)})
        elif kind == "terminate":
            return
        elif kind == "hook":
            threading.Thread(target=_respond, args=(message, answer, send), daemon=True).start()


def _respond(message: Mapping[str, Any], answer: Answerer, send: Callable[[Mapping[str, Any]], None]) -> None:
    reply = answer(message) or _ALLOW
    send({"type": "hook_result", "id": message["id"], **reply})


def _sender(link: socket.socket) -> Callable[[Mapping[str, Any]], None]:
    lock = threading.Lock()

    def send(message: Mapping[str, Any]) -> None:
        with lock:
            link.sendall(json.dumps(message).encode() + b"\n")

    return send
