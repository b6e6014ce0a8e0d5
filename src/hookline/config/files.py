"""Reading a file that a person, an agent or an accident may have put there: text, or why not. Never raises."""

from __future__ import annotations

import os
import stat
from errno import EISDIR, ELOOP, ENOENT, ENOTDIR

from hookline.core._dataclass import dataclass
from hookline.core.files import note
from hookline.core.problem import Problem

#: Far above any configuration, far below what would hurt to hold in memory.
LARGEST = 8 << 20

# O_NONBLOCK: a FIFO put in the file's place between stat and open must not hang us.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Why there is no text. ``missing`` is told apart, because a file that nobody named may be missing."""

    problem: Problem
    missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bytes:
    data: bytes
    settled: bool


class _RefusedError(Exception):
    def __init__(self, finding: str, fix: str) -> None:
        super().__init__(finding)
        self.finding = finding
        self.fix = fix


def read_text(path: str, largest: int = LARGEST) -> str | Unread:
    """The text of a regular file of bounded size in UTF-8, as it was at one moment."""
    note(path)
    try:
        seen = _read_once(path, largest)
        if not seen.settled:
            seen = _read_once(path, largest)
        if not seen.settled:
            raise _RefusedError("the file kept changing while it was read", "wait until it is written, then try again")
        return _decode(seen.data)
    except _RefusedError as refused:
        return Unread(problem=Problem(file=path, finding=refused.finding, fix=refused.fix))
    except OSError as error:
        return _from_os(path, error)
    except ValueError as error:  # a NUL or a lone surrogate in the path itself
        return Unread(problem=Problem(file=repr(path), finding=f"not a usable path: {error}", fix="name a file"))


def _read_once(path: str, largest: int) -> _Bytes:
    _require_regular(os.stat(path), largest)
    descriptor = os.open(path, _FLAGS)
    try:
        before = os.fstat(descriptor)
        _require_regular(before, largest)
        data = _drain(descriptor, largest)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    unchanged = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    return _Bytes(data=data, settled=unchanged and len(data) == after.st_size)


def _require_regular(status: os.stat_result, largest: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _RefusedError(f"this is {_kind(status.st_mode)}, not a file", "name a regular file")
    if status.st_size > largest:
        raise _too_large(largest)


def _drain(descriptor: int, largest: int) -> bytes:
    pieces: list[bytes] = []
    left = largest + 1
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    if left <= 0:
        raise _too_large(largest)
    return b"".join(pieces)


def _too_large(largest: int) -> _RefusedError:
    return _RefusedError(f"the file is too large (over {largest >> 10} KiB)", "keep configuration small; split it")


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _RefusedError("the file is UTF-16 (its first byte is not UTF-8)", "save it as UTF-8")
    zero = data.find(b"\0")
    if zero >= 0:
        raise _RefusedError(f"the file is binary (a NUL byte {_position(data, zero)})", "name a text file in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec drops the mark before it counts.
        at = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise _RefusedError(f"not UTF-8 (a bad byte {_position(data, at)})", "save the file as UTF-8") from None


def _position(data: bytes, at: int) -> str:
    line = data.count(b"\n", 0, at) + 1
    return f"at offset {at}, line {line}"


def _from_os(path: str, error: OSError) -> Unread:
    if error.errno == ENOENT and os.path.islink(path):
        # Somebody meant a file to be here: its guards must not be off in silence.
        finding = f"this link leads to {os.path.realpath(path)}, which does not exist"
        return Unread(problem=Problem(file=path, finding=finding, fix="correct the link, or remove it"))
    if error.errno in {ENOENT, ENOTDIR}:
        gone = Problem(file=path, finding="there is no such file", fix="create it, or name another")
        return Unread(problem=gone, missing=True)
    reason = {ELOOP: "its symbolic links go round in a circle", EISDIR: "this is a directory, not a file"}
    finding = reason.get(error.errno or 0, f"cannot be read: {error.strerror or error}")
    return Unread(problem=Problem(file=path, finding=finding, fix="make it a file that you can read"))
