"""What goes over the socket: one request, then one answer, both with their length in front.

Request: ``HKL1``, the length of the text, the length of the input (two 32-bit numbers, the most significant byte
first), the text, the input. The text is a row of words, each ended by a zero byte, which no argument and no variable
can contain: version, kind, directory, number of arguments, the arguments, the environment.

Answer: any number of ``A`` (accepted: it may take a while), then ``R``, exit code, length of the output, length of the
error output, both; or ``N``, length, and why this daemon does not answer: the client then does without it.
"""

from __future__ import annotations

import struct
from typing import Final

from hookline.dataclass import dataclass

MAGIC: Final = b"HKL1"
HEAD: Final = struct.Struct(">4sII")
RESULT: Final = struct.Struct(">cIII")
REFUSAL: Final = struct.Struct(">cI")
ACCEPTED: Final = b"A"

#: Bytes of words, and of input, that a request may have. A larger one is better served by a process of its own.
MOST_TEXT: Final = 8 << 20
MOST_INPUT: Final = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    version: str
    kind: str
    cwd: str
    argv: tuple[str, ...]
    environ: dict[str, str]
    stdin: bytes


class BadFrame(Exception):  # noqa: N818  a thing, not a fault of ours
    """These bytes are no request."""


def sizes(head: bytes | bytearray) -> tuple[int, int]:
    """The lengths of text and input that the first bytes announce."""
    magic, text, stdin = HEAD.unpack_from(head)
    if magic != MAGIC:
        raise BadFrame("not a hookline client")
    if text > MOST_TEXT or stdin > MOST_INPUT:
        raise BadFrame("too large")
    return text, stdin


def parsed(body: bytes | bytearray | memoryview, text: int) -> Request:
    """The request in a whole body, whose first ``text`` bytes are words."""
    words = str(body[:text], "utf-8", "surrogateescape").split("\0")
    if len(words) < 5 or words.pop():
        raise BadFrame("its words do not end")
    version, kind, cwd, number = words[:4]
    if not number.isascii() or not number.isdigit() or int(number) > len(words) - 4:
        raise BadFrame("its arguments do not add up")
    end = 4 + int(number)
    environ: dict[str, str] = {}
    for word in words[end:]:
        name, equals, value = word.partition("=")
        if equals and name:
            environ.setdefault(name, value)
    return Request(
        version=version,
        kind=kind,
        cwd=cwd,
        argv=tuple(words[4:end]),
        environ=environ,
        stdin=bytes(body[text:]),
    )


def packed(request: Request) -> bytes:
    """The bytes of a request, for clients that have Python anyway."""
    words = [request.version, request.kind, request.cwd, str(len(request.argv)), *request.argv]
    words += [f"{name}={value}" for name, value in request.environ.items()]
    text = "".join(f"{word}\0" for word in words).encode("utf-8", "surrogateescape")
    return HEAD.pack(MAGIC, len(text), len(request.stdin)) + text + request.stdin


def result(exit_code: int, stdout: bytes, stderr: bytes) -> bytes:
    return RESULT.pack(b"R", exit_code, len(stdout), len(stderr)) + stdout + stderr


def refusal(why: str) -> bytes:
    said = why.encode("utf-8", "replace")
    return REFUSAL.pack(b"N", len(said)) + said


def newer(one: str, other: str) -> bool:
    """Whether version ``one`` comes after ``other``; what cannot be compared does not."""
    return _numbers(one) > _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isascii() and part.isdigit() else 0 for part in version.split("."))
