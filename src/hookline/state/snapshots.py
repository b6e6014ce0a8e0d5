"""Values that were computed from files, kept for the next process with everything that they were computed from.

A snapshot counts only while each of these is as it was: every file that was read (by its signature and its content),
every one that was missing, every directory that was searched, every link on the way, every variable that was read, and
the code of hookline. It belongs to us, nobody else can write it, and whatever is odd about it means that there is none.
So it saves time and decides nothing: what is approved and what runs is checked by ``state.trust`` as ever.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from hookline.core.typed import Any, TypeAlias

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first
except ImportError:
    from hashlib import blake2b

import hookline
from hookline.core import codec
from hookline.core.errors import StateError
from hookline.core.fast_json import dumps, loads

_FOLDER = "snapshots"
_FORMAT = 1
#: Bytes of a snapshot, and of a file whose content it depends on.
_LARGEST, _LARGEST_FILE = 4 << 20, 1 << 20
_MOST_FILES, _MOST_SNAPSHOTS = 8192, 64
#: Nanoseconds: what changed this shortly before it was read may change again without a trace in its signature.
_UNSETTLED = 20_000_000
_KIND, _FILE, _DIRECTORY, _LINK = 0o170000, 0o100000, 0o040000, 0o120000
#: A tree of ours that developers edit in place: the version says nothing about its code.
_LOADERS = ("core", "config", "config/syntax", "dialects", "dialects/claude_family", "dialects/native", "engine", "packs",
            "state", "state/trust")  # fmt: skip

#: What a path looks like; None where nothing is.
_Look: TypeAlias = "list[Any] | None"


class _OddError(Exception):
    """A path of which nobody can say that it is as it was."""


def load(state: str, key: str, environ: Mapping[str, str]) -> Any:
    """The value that was kept under ``key``, if it would be the same now; else None. Never raises."""
    try:
        kept = loads(_read_private(_path(state, key)).decode())
        if kept["format"] != _FORMAT or kept["key"] != key or kept["code"] != _code():
            return None
        if any(_variable(environ.get(name)) != value for name, value in kept["environ"].items()):
            return None
        if any(os.path.realpath(path) != real for path, real in kept["real"].items()):
            return None
        if any(_look(path) != then for path, then in kept["files"].items()):
            return None
        return codec.decode(kept["value"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, _OddError):
        return None


def save(
    state: str,
    key: str,
    value: Any,
    *,
    files: Iterable[str],
    real: Iterable[str],
    environ: Mapping[str, str | None],
    began_ns: int,
) -> bool:
    """Keep a value that was computed from these ``files``, ``real`` paths and variables since ``began_ns``.

    False where it cannot be kept, or could not be told from a later one.
    """
    from hookline.core.files import atomic_writer, prune
    from hookline.core.paths import private_dir

    try:
        looks = {path: _look(path) for path in files}
        if max(map(_changed_at, looks.values()), default=0) > began_ns - _UNSETTLED or len(looks) > _MOST_FILES:
            return False
        text = dumps({
            "format": _FORMAT, "key": key, "code": _code(), "files": looks,
            "environ": {name: _variable(given) for name, given in environ.items()},
            "real": {path: os.path.realpath(path) for path in real}, "value": codec.encode(value),
        })  # fmt: skip
        if len(text) > _LARGEST:
            return False
        folder = private_dir(os.path.join(state, _FOLDER))
        with atomic_writer(_path(state, key), durable=False) as file:
            file.write(text.encode())
        if len(os.listdir(folder)) > _MOST_SNAPSHOTS:
            prune(folder, keep=_MOST_SNAPSHOTS // 2, days=30, now=began_ns / 1e9)
    except (OSError, ValueError, TypeError, RecursionError, StateError, _OddError):
        return False
    return True


def _path(state: str, key: str) -> str:
    name = blake2b(key.encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(state, _FOLDER, f"{name}.json")


def _read_private(path: str) -> bytes:
    """A file of ours, in a directory of ours, that nobody else can write. Raises OSError and _OddError."""
    around = os.lstat(os.path.dirname(path))
    if around.st_mode & _KIND != _DIRECTORY or around.st_uid != os.geteuid() or around.st_mode & 0o022:
        raise _OddError(path)
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        mode = status.st_mode
        if mode & _KIND != _FILE or mode & 0o077 or status.st_uid != os.geteuid() or status.st_nlink != 1:
            raise _OddError(path)
        return _drain(handle, status.st_size, _LARGEST)
    finally:
        os.close(handle)


def _look(path: str) -> _Look:
    """Kind, times, size, number and owner; the content of a file, the names in a directory, the target of a link."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    kind = status.st_mode & _KIND
    if kind == _DIRECTORY and path.endswith("/.git"):  # every commit changes it, and only that it is there matters
        return [status.st_mode, 0]
    look = [
        status.st_mode, status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev,
        status.st_uid,
    ]  # fmt: skip
    if kind == _LINK:
        target = os.path.realpath(path)
        return [*look, os.readlink(path), None if target == path else _look(target)]
    if kind == _DIRECTORY:
        return [*look, _digest("\0".join(sorted(os.listdir(path))).encode(errors="surrogateescape"))]
    if kind != _FILE:
        raise _OddError(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return [*look, _digest(_drain(handle, status.st_size, _LARGEST_FILE))]
    finally:
        os.close(handle)


def _changed_at(look: _Look) -> int:
    """The change time, of a link also that of its target."""
    if look is None:
        return 0
    target = look[-1] if isinstance(look[-1], list) else None
    return max(int(look[1]), _changed_at(target))


def _variable(value: str | None) -> str | None:
    """A digest: the value may be a secret."""
    return None if value is None else _digest(value.encode(errors="surrogateescape"))


def _drain(handle: int, size: int, largest: int) -> bytes:
    if size > largest:
        raise _OddError("too large")
    data = os.read(handle, size + 1)
    if len(data) != size:
        raise _OddError("it changes while it is read")
    return data


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _code() -> list[Any]:
    """The version and where it is; of a tree in which somebody works, its files too."""
    own = os.path.dirname(hookline.__file__)
    status = os.stat(hookline.__file__)
    found: list[Any] = [hookline.__version__, own, status.st_mtime_ns, status.st_ino]
    if "-packages/" in own:
        return found
    newest = number = 0
    for folder in _LOADERS:
        with os.scandir(os.path.join(own, folder)) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    number += 1
                    newest = max(newest, entry.stat().st_mtime_ns)
    return [*found, number, newest]
