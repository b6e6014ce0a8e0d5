"""Questions that wait for a person: asked by whoever runs a hook, answered by the view, or from afar by who is on call.

The one who asks listens on a socket of its own for as long as it waits, so a question ends with its process, an answer
arrives at once, and nothing that is written to a file can answer. Only a process of the same user, or of root, that no
agent started is listened to. What it carries from afar counts only with the signature of a person on call (``proof``).
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
from hookline.core.paths import private_dir, short_tmp
from hookline.state import proof

FOLDER = "inbox"
_AnswerWord = Literal["allow", "deny", "always"]
_WORDS = ("allow", "deny", "always")
#: Bytes of an answer, and seconds for sending it.
_MOST, _SENDING = 65536, 2.0
#: Bytes of a question; what is cut off is no JSON.
_LARGEST = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxAnswer:
    """``always``: for the rest of the session."""

    word: _AnswerWord
    reason: str = ""
    #: Who they are, if they answered from afar; two of them where two were asked.
    by: str = ""


def ask(state: str, question: Mapping[str, Any], until: float, people: int = 0) -> InboxAnswer | None:
    """Wait for an answer until then (by ``time.monotonic``). None: nobody answered, or nobody can be asked.

    ``people``: so many on call, each another one, must allow it, and nobody here can."""
    try:
        folder = private_dir(os.path.join(state, FOLDER))
        own = tempfile.mkdtemp(prefix="hookline-ask-", dir=short_tmp())
    except OSError:
        return None
    name = f"{int(time.time() * 1000):x}-{os.urandom(16).hex()}"
    place, file = os.path.join(own, "s"), os.path.join(folder, f"{name}.json")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        try:
            listening.bind(place)
            listening.listen(8)
            shown = {**question, "id": name, "socket": place, "pid": os.getpid(), "asked": time.time(),
                     "people": people, "deadline": time.time() + until - time.monotonic()}  # fmt: skip
            text = json.dumps(shown, default=str)
            with atomic_writer(file) as writer:
                writer.write(text.encode())
            return _Waiting(state, proof.digest(proof.far_form(json.loads(text))), people).wait(listening, until)
        except OSError:
            return None
        finally:
            for path in (file, place):
                with suppress(OSError):
                    os.unlink(path)
            with suppress(OSError):
                os.rmdir(own)


class _Waiting:
    def __init__(self, state: str, digest: str, people: int) -> None:
        self._state, self._digest, self._people = state, digest, people
        self._allowed: dict[str, str] = {}

    def wait(self, listening: socket.socket, until: float) -> InboxAnswer | None:
        while (left := until - time.monotonic()) > 0:
            listening.settimeout(left)
            try:
                client, _ = listening.accept()
            except TimeoutError:
                return None
            with client, suppress(OSError, ValueError):
                client.settimeout(_SENDING)
                given = _read(client) if _is_person(client) else {}
                late = time.monotonic() >= until
                word, answer = ("refused", None) if late else self._take(given)
                client.sendall(word.encode())
                if answer is not None:
                    return answer
        return None

    def _take(self, given: Mapping[str, Any]) -> tuple[str, InboxAnswer | None]:
        """What whoever brought it is told, and the answer once it is one."""
        if "signed" in given:
            signed = proof.check(given["signed"], proof.team_key(self._state), self._digest)
            if signed is None:
                return "refused", None
            if signed.word == "deny":
                return "taken", InboxAnswer(word="deny", reason=signed.reason, by=signed.by)
            self._allowed[signed.by] = signed.reason
            if len(self._allowed) < max(1, self._people):
                return "counted", None
            reason = "; ".join(filter(None, self._allowed.values()))
            return "taken", InboxAnswer(word="allow", reason=reason, by=" and ".join(self._allowed))
        word, reason = given.get("answer"), given.get("reason", "")
        if word not in _WORDS or not isinstance(reason, str) or (self._people and word != "deny"):
            return "refused", None
        return "taken", InboxAnswer(word=word, reason=reason.strip()[:1000])


def _is_person(client: socket.socket) -> bool:
    """Of this user, and not below an agent, as far as the system says who it is."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the folder of the socket is private
    peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, user = (int.from_bytes(peer[at : at + 4], sys.byteorder) for at in (0, 4))
    return user in {0, os.geteuid()} and not find_agent_at(pid)


def _read(client: socket.socket) -> dict[str, Any]:
    data = b""
    while not data.endswith(b"\n") and len(data) < _MOST:
        part = client.recv(_MOST)
        if not part:
            break
        data += part
    given = json.loads(data)
    return given if isinstance(given, dict) else {}


def questions(state: str) -> Iterator[dict[str, Any]]:
    """What waits now, the oldest first. What nobody waits for any more is removed."""
    folder = os.path.join(state, FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            # Root reads the folders of others, who may put anything there.
            with open(path, "rb", opener=_open_plainly) as file:
                question = json.loads(file.read(_LARGEST))
            if not proof.is_name(question["id"]):
                continue
            if question["deadline"] < time.time() or not os.path.exists(question["socket"]):
                os.unlink(path)
                continue
            yield question


def _open_plainly(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def answer(state: str, name: str, word: str, reason: str = "") -> bool:
    """Send an answer to whoever asked; whether it was taken."""
    found = next((one for one in questions(state) if one["id"] == name), None)
    return found is not None and deliver(found, {"answer": word, "reason": reason}) == "taken"


def deliver(question: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """``taken``, ``counted`` (others must allow it too), ``refused``, or "" if nobody waits any more."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(_SENDING)
        sock.connect(question["socket"])
        sock.sendall(json.dumps(given).encode() + b"\n")
        return sock.recv(16).decode("ascii", "replace")
    return ""
