"""What was approved, kept as bytes: so that who approves a changed hook again sees what has changed.

Private, by digest: a copy that is not what its name says is not shown. Only what some approval still names is kept, and
only so much of it. Nothing that runs depends on it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.files import replace_atomically
from hookline.core.paths import private_dir

#: Of one file, and of all together; a script of a hook has some kilobytes.
_LARGEST, _MOST = 256 << 10, 32 << 20
_LINES = 400
_NOT_KEPT = "(the approved version was not kept: a larger file, or approved by an older hookline)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustChange:
    """A file that is not as it was approved, or the ``definition``; its lines as ``diff -u`` shows them, without the header."""

    path: str
    lines: tuple[str, ...]


class Copies:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def keep(self, contents: Iterable[bytes], wanted: set[str]) -> None:
        """These, if they are wanted; whatever is not, goes. Raises StateError."""
        held = {name: self._size(name) for name in os.listdir(private_dir(self._folder))}
        for name in held.keys() - wanted:
            with suppress(OSError):
                os.unlink(os.path.join(self._folder, name))
        left = _MOST - sum(size for name, size in held.items() if name in wanted)
        for data in contents:
            name = sha256(data).hexdigest()
            if name in wanted and name not in held and len(data) <= min(left, _LARGEST):
                with suppress(OSError):  # an approval does not depend on it
                    replace_atomically(os.path.join(self._folder, name), data, durable=False)
                    held[name], left = len(data), left - len(data)

    def read(self, digest: str) -> bytes | None:
        data = read_bytes(os.path.join(self._folder, digest)) if digest else None
        return data if data is not None and sha256(data).hexdigest() == digest else None

    def _size(self, name: str) -> int:
        with suppress(OSError):
            return os.stat(os.path.join(self._folder, name)).st_size
        return 0

    def compare(self, path: str, digest: str, now: bytes | None, show: Callable[[bytes], bytes] = bytes) -> TrustChange:
        """With the approved bytes of that digest; "" where the file is new."""
        was = self.read(digest) if digest else b""
        if was is None:
            return TrustChange(path=path, lines=(_NOT_KEPT,))
        now = now or b""
        return TrustChange(path=path, lines=tuple(_diff(show(was), show(now))) or tuple(_diff(was, now)))


def read_bytes(path: str) -> bytes | None:
    """Of a regular file that is small enough to be kept."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError:
        return None
    return data if len(data) <= _LARGEST else None


#: What a part of a definition is called in hookline.toml.
_WRITTEN = {"gates": "when", "matcher": "match", "match.subject": "match"}


def definition_lines(text: bytes) -> bytes:
    """The canonical text of a definition with one value in each line, named as in hookline.toml, without defaults."""
    return "".join(f"{line}\n" for line in _values(json.loads(text), "")).encode(errors="surrogateescape")


def _values(tree: Any, pointer: str, *, whole: bool = False) -> Iterator[str]:
    kind = tree.get("") if isinstance(tree, dict) else ""
    if kind == "Pattern":
        yield from _pattern(tree, pointer)
    elif kind == "FieldTest":
        path = f"match.{'not ' if tree['negate'] else ''}{tree['path']}"
        yield from _pattern(tree["pattern"], path) if tree["pattern"] else _values(tree["equals"], path, whole=True)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key or whole:
                name = f"{pointer}.{key}" if pointer else key
                yield from _values(value, _WRITTEN.get(name, name), whole=whole)
    elif isinstance(tree, list) and not all(isinstance(one, str) for one in tree):
        for index, value in enumerate(tree):
            yield from _values(value, f"{pointer}[{index}]", whole=whole)
    elif pointer == "extra.besides" and isinstance(tree, str):  # what a file holds besides its hooks
        yield from _values(json.loads(tree), "", whole=True)
    elif tree or whole:
        first, *more = tree.split("\n") if isinstance(tree, str) else [json.dumps(tree, ensure_ascii=False)]
        yield f"{pointer} = {first}"
        yield from (f"    {line}" for line in more)


def _pattern(pattern: dict[str, Any], pointer: str) -> Iterator[str]:
    if pattern["style"] != "any":
        style = {"command": " (programs of a command)", "glob": " (glob)"}.get(pattern["style"], "")
        missing = " (or missing)" if pattern["when_missing"] else ""
        yield f"{pointer} = {pattern['text'] or '|'.join(pattern['options'])}{style}{missing}"


def _diff(before: bytes, after: bytes) -> Iterator[str]:
    from difflib import unified_diff  # only who is asked again sees it

    if b"\0" in before + after:
        yield "(a binary file, with other bytes)"
        return
    was, now = (data.decode(errors="replace").splitlines() for data in (before, after))
    lines = list(unified_diff(was, now, n=2, lineterm=""))[2:]
    yield from lines[:_LINES]
    if len(lines) > _LINES:
        yield f"({len(lines) - _LINES} more lines)"
