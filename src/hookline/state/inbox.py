"""Questions that wait for a person: asked by whoever runs a hook, answered by the view.

The one who asks listens on a socket of its own for as long as it waits, so a question ends with its process, an answer
arrives at once, and nothing that is written to a file can answer. Only a process of the same user that no agent started
is listened to.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.agent_processes import find_agent_at
from hookline.core.files import atomic_writer
from hookline.core.paths import private_dir

FOLDER = "inbox"
AnswerWord = Literal["allow", "deny", "always"]
_WORDS = ("allow", "deny", "always")
#: Bytes of an answer, and seconds for sending it.
_MOST, _SENDING = 65536, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxAnswer:
    """``always``: for the rest of the session."""

    word: AnswerWord
    reason: str = ""


def ask(state: str, question: Mapping[str, Any], until: float) -> InboxAnswer | None:
    """Wait for an answer until then (by ``time.monotonic``). None: nobody answered, or nobody can be asked."""
    try:
        folder = private_dir(os.path.join(state, FOLDER))
        own = tempfile.mkdtemp(prefix="hookline-ask-")  # short: the path of a socket has few characters
    except OSError:
        return None
    name = f"{int(time.time() * 1000):x}-{os.urandom(4).hex()}"
    place, file = os.path.join(own, "s"), os.path.join(folder, f"{name}.json")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        try:
            listening.bind(place)
            listening.listen(8)
            shown = {**question, "id": name, "socket": place, "pid": os.getpid(), "asked": time.time(),
                     "deadline": time.time() + until - time.monotonic()}  # fmt: skip
            with atomic_writer(file) as writer:
                writer.write(json.dumps(shown, default=str).encode())
            return _wait(listening, until)
        except OSError:
            return None
        finally:
            for path in (file, place):
                with suppress(OSError):
                    os.unlink(path)
            with suppress(OSError):
                os.rmdir(own)


def _wait(listening: socket.socket, until: float) -> InboxAnswer | None:
    while (left := until - time.monotonic()) > 0:
        listening.settimeout(left)
        try:
            client, _ = listening.accept()
        except TimeoutError:
            return None
        with client, suppress(OSError, ValueError):
            client.settimeout(_SENDING)
            answer = _read(client) if _is_person(client) else None
            client.sendall(b"refused" if answer is None else b"taken")
            if answer is not None:
                return answer
    return None


def _is_person(client: socket.socket) -> bool:
    """Of this user, and not below an agent, as far as the system says who it is."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the folder of the socket is private
    peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, user = (int.from_bytes(peer[at : at + 4], sys.byteorder) for at in (0, 4))
    return user == os.geteuid() and not find_agent_at(pid)


def _read(client: socket.socket) -> InboxAnswer | None:
    data = b""
    while not data.endswith(b"\n") and len(data) < _MOST:
        part = client.recv(_MOST)
        if not part:
            break
        data += part
    given = json.loads(data)
    word, reason = given.get("answer"), given.get("reason", "")
    if word not in _WORDS or not isinstance(reason, str):
        return None
    return InboxAnswer(word=word, reason=reason.strip()[:1000])


def questions(state: str) -> Iterator[dict[str, Any]]:
    """What waits now, the oldest first. What nobody waits for any more is removed."""
    folder = os.path.join(state, FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        with suppress(OSError, ValueError, TypeError):
            with open(path, encoding="utf-8") as file:
                question = json.load(file)
            if question["deadline"] < time.time() or not os.path.exists(question["socket"]):
                os.unlink(path)
                continue
            yield question


def answer(state: str, name: str, word: str, reason: str = "") -> bool:
    """Send an answer to whoever asked; whether it was taken."""
    for question in questions(state):
        if question["id"] != name:
            continue
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(_SENDING)
            sock.connect(question["socket"])
            sock.sendall(json.dumps({"answer": word, "reason": reason}).encode() + b"\n")
            return sock.recv(16) == b"taken"
    return False
