"""The wire: one request, then one answer, both with their length in front.

Request: ``HKL1``, the length of the text, the length of the input (two 32-bit numbers, the most significant byte
first), the text, the input. The text is a row of words, each ended by a zero byte, which no argument and no variable
can contain: version, kind, directory, number of arguments, the arguments, the environment. The kind is ``hook``, or
``direct`` where the agent itself connects without a client, or one of our own commands (``status``, ``stop``).

Answer: any number of ``A`` (accepted: it may take a while), then ``R``, exit code, length of the output, length of the
error output, both; or ``N``, length, and why this daemon does not answer: the client then runs without it.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from typing import Final

from hookline.core._dataclass import dataclass, fast_constructor
from hookline.core.errors import StateError
from hookline.core.paths import find_paths, home_directory, private_dir

#: Bytes of a path that every system takes as the name of a socket.
LONGEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonPaths:
    """The files of one daemon."""

    directory: str

    @property
    def socket(self) -> str:
        return os.path.join(self.directory, "daemon.sock")

    @property
    def lock(self) -> str:
        return os.path.join(self.directory, "daemon.lock")

    @property
    def starting(self) -> str:
        """Exists while a client starts a daemon."""
        return os.path.join(self.directory, "daemon.starting")

    @property
    def hung(self) -> str:
        """What the latest hung daemons were doing."""
        return os.path.join(self.directory, "daemon.hung")

    @property
    def log(self) -> str:
        return os.path.join(self.directory, "daemon.log")


def find_daemon_paths(environ: Mapping[str, str]) -> DaemonPaths:
    """In the runtime directory if there is one that is ours alone, else in the state directory."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _ours_alone(runtime):
        return DaemonPaths(directory=os.path.join(runtime, "hookline"))
    home = home_directory(environ)
    state = find_paths({name: value for name, value in environ.items() if name.startswith("XDG_")}, home).state
    return DaemonPaths(directory=os.path.join(state, "run"))


def create_directory(place: DaemonPaths) -> DaemonPaths:
    """The same paths, with their directory created. Raises ``StateError``."""
    if len(os.fsencode(place.socket)) > LONGEST:
        raise StateError(f"the path of the socket is too long ({place.socket}); set XDG_RUNTIME_DIR to a shorter one")
    private_dir(place.directory)
    return place


def _ours_alone(path: str) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


MAGIC: Final = b"HKL1"
HEAD: Final = struct.Struct(">4sII")
RESULT: Final = struct.Struct(">cIII")
_REFUSAL: Final = struct.Struct(">cI")
ACCEPTED: Final = b"A"
_BEGIN: Final = HEAD.size

#: Bytes of words, and of input, that a request may have. A larger one is better served by its own process: searching 30
#: megabytes for secrets kept everybody else waiting for ten seconds.
_MOST_TEXT: Final = 8 << 20
_MOST_INPUT: Final = 4 << 20


#: Callers that are remembered, and the bytes of words up to which one is: an environment is a few thousand.
_MOST_CALLERS: Final = 256
_REMEMBERED: Final = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The words of a request: who calls, where, and with which variables. Mostly the same ones, again and again."""

    version: str
    kind: str
    cwd: str
    argv: tuple[str, ...] = ()
    environ: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonRequest:
    """One request as it came over the socket."""

    caller: Caller
    stdin: bytes = b""


_make_request = fast_constructor(DaemonRequest)


class BadFrame(Exception):  # the client's fault
    """These bytes are not a request."""


def sizes(head: bytes | bytearray) -> tuple[int, int]:
    """The lengths of text and input that the first bytes announce."""
    magic, text, stdin = HEAD.unpack_from(head)
    if magic != MAGIC:
        raise BadFrame("not a hookline client")
    if text > _MOST_TEXT or stdin > _MOST_INPUT:
        raise BadFrame("too large")
    return text, stdin


class Callers:
    """Reads requests. Words that were read before are not parsed again: the same bytes give the same ``Caller``, so that
    caches keyed by its identity keep working."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, Caller] = {}

    def request(self, frame: bytes | bytearray) -> DaemonRequest | None:
        """The request that a frame begins with; None while it is not whole. Raises ``BadFrame``."""
        if len(frame) < _BEGIN:
            return None
        text, stdin = sizes(frame)
        end = _BEGIN + text
        if len(frame) < end + stdin:
            return None
        return _make_request(caller=self._caller(bytes(frame[_BEGIN:end])), stdin=bytes(frame[end : end + stdin]))

    def _caller(self, words: bytes) -> Caller:
        known = self._known.get(words)
        if known is not None:
            return known
        caller = _caller_of(words)
        if len(words) <= _REMEMBERED:
            if len(self._known) >= _MOST_CALLERS:
                self._known.clear()
            self._known[words] = caller
        return caller


def _caller_of(text: bytes) -> Caller:
    words = str(text, "utf-8", "surrogateescape").split("\0")
    if len(words) < 5 or words.pop():
        raise BadFrame("its words do not end")
    version, kind, cwd, number = words[:4]
    if len(number) > 8 or not number.isascii() or not number.isdigit() or int(number) > len(words) - 4:
        raise BadFrame("its arguments do not add up")
    end = 4 + int(number)
    environ: dict[str, str] = {}
    for word in words[end:]:
        name, equals, value = word.partition("=")
        if equals and name:
            environ.setdefault(name, value)
    return Caller(version=version, kind=kind, cwd=cwd, argv=tuple(words[4:end]), environ=environ)


def pack_request(request: DaemonRequest) -> bytes:
    """The bytes of a request, for clients that have Python anyway."""
    caller = request.caller
    words = [caller.version, caller.kind, caller.cwd, str(len(caller.argv)), *caller.argv]
    words += [f"{name}={value}" for name, value in caller.environ.items()]
    text = "".join(f"{word}\0" for word in words).encode("utf-8", "surrogateescape")
    return HEAD.pack(MAGIC, len(text), len(request.stdin)) + text + request.stdin


def pack_result(exit_code: int, stdout: bytes, stderr: bytes) -> bytes:
    return RESULT.pack(b"R", exit_code, len(stdout), len(stderr)) + stdout + stderr


def pack_refusal(why: str) -> bytes:
    text_bytes = why.encode("utf-8", "replace")
    return _REFUSAL.pack(b"N", len(text_bytes)) + text_bytes


def is_newer(one: str, other: str) -> bool:
    """Whether version ``one`` comes after ``other``; False where they cannot be compared."""
    return _numbers(one) > _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isascii() and part.isdigit() else 0 for part in version.split("."))
