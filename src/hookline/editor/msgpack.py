"""As much of MessagePack as Neovim's RPC needs: both directions, strings as UTF-8."""

from __future__ import annotations

import struct
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Deeper than any answer; a hostile peer must not exhaust our stack.
_DEEPEST = 64


class IncompleteError(Exception):
    """More bytes are needed."""


class NotMessagePackError(Exception):
    """These bytes are no MessagePack that we understand."""


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def pack(value: Any) -> bytes:
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _packed_int(value)
        case float():
            return b"\xcb" + struct.pack(">d", value)
        case str():
            data = value.encode("utf-8", "replace")
            return _head(len(data), (31, 0xA0), (0xD9, 0xDA, 0xDB)) + data
        case list() | tuple():
            return _head(len(value), (15, 0x90), (None, 0xDC, 0xDD)) + b"".join(map(pack, value))
        case dict():
            pairs = b"".join(pack(key) + pack(one) for key, one in value.items())
            return _head(len(value), (15, 0x80), (None, 0xDE, 0xDF)) + pairs
        case _:
            raise TypeError(f"cannot pack {type(value).__name__}")


def _packed_int(value: int) -> bytes:
    if 0 <= value < 128 or -32 <= value < 0:
        return struct.pack(">B", value & 0xFF)
    return b"\xcf" + struct.pack(">Q", value) if value >= 0 else b"\xd3" + struct.pack(">q", value)


def _head(size: int, small: tuple[int, int], codes: tuple[int | None, int, int]) -> bytes:
    if size <= small[0]:
        return bytes([small[1] | size])
    if codes[0] is not None and size < 1 << 8:
        return struct.pack(">BB", codes[0], size)
    return struct.pack(">BH", codes[1], size) if size < 1 << 16 else struct.pack(">BI", codes[2], size)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────

#: Code -> how the number behind it is written.
_NUMBERS: Mapping[int, str] = MappingProxyType(
    {
        0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
        0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
    }
)  # fmt: skip
#: Code -> (how its length is written, what it is the length of).
_SIZED: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        0xC4: (">B", "bytes"), 0xC5: (">H", "bytes"), 0xC6: (">I", "bytes"),
        0xC7: (">B", "ext"), 0xC8: (">H", "ext"), 0xC9: (">I", "ext"),
        0xD9: (">B", "text"), 0xDA: (">H", "text"), 0xDB: (">I", "text"),
        0xDC: (">H", "list"), 0xDD: (">I", "list"), 0xDE: (">H", "map"), 0xDF: (">I", "map"),
    }
)  # fmt: skip


def unpack(data: bytes) -> tuple[Any, int]:
    """The first value and where it ends. Raises ``IncompleteError`` or ``NotMessagePackError``."""
    reader = _Reader(data)
    return reader.value(0), reader.at


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def _take(self, size: int) -> bytes:
        if len(self._data) - self.at < size:
            raise IncompleteError
        self.at += size
        return self._data[self.at - size : self.at]

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise NotMessagePackError("nested too deeply")
        code = self._take(1)[0]
        if code < 0x80 or code >= 0xE0:
            return code if code < 0x80 else code - 256
        if code < 0xC0:
            kind, size = (
                ("map", code & 15) if code < 0x90 else ("list", code & 15) if code < 0xA0 else ("text", code & 31)
            )
            return self._sized(kind, size, depth)
        if code in _NUMBERS:
            return self._number(_NUMBERS[code])
        if code in _SIZED:
            form, kind = _SIZED[code]
            return self._sized(kind, self._number(form), depth)
        if 0xD4 <= code <= 0xD8:
            return self._sized("ext", 1 << (code - 0xD4), depth)
        plain = {0xC0: None, 0xC2: False, 0xC3: True}
        if code not in plain:
            raise NotMessagePackError(f"unknown code {code:#x}")
        return plain[code]

    def _sized(self, kind: str, size: int, depth: int) -> Any:
        read: Mapping[str, Callable[[], Any]] = {
            "text": lambda: self._take(size).decode("utf-8", "replace"),
            "bytes": lambda: self._take(size),
            # Buffers, windows and tabs: a type and a number that only Neovim understands.
            "ext": lambda: self._take(size + 1)[1:],
            "list": lambda: [self.value(depth + 1) for _ in range(self._bounded(size))],
            "map": lambda: dict(self._pair(depth) for _ in range(self._bounded(size))),
        }
        return read[kind]()

    def _bounded(self, size: int) -> int:
        """Every element takes a byte at least: a length of four billion in nine bytes is not worth trying."""
        if size > len(self._data) - self.at:
            raise IncompleteError
        return size

    def _pair(self, depth: int) -> tuple[Any, Any]:
        key = self.value(depth + 1)
        return (key if isinstance(key, (str, int, bytes)) else repr(key)), self.value(depth + 1)
