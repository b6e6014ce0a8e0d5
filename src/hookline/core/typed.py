"""What ``typing`` offers, for modules that every cold call loads: at run time its names only have to exist.

To import ``typing`` takes two milliseconds, a quarter of a bare Python. Checkers see the standard names.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import (
        IO,
        Any,
        BinaryIO,
        Literal,
        NoReturn,
        Protocol,
        Self,
        TextIO,
        TypeAlias,
        TypeGuard,
        TypeVar,
        assert_never,
        cast,
        get_args,
    )  # fmt: skip
else:
    from types import GenericAlias

    Any = IO = BinaryIO = NoReturn = Self = TextIO = TypeAlias = TypeGuard = object

    class Protocol:
        __slots__ = ()

    class Literal:
        def __class_getitem__(cls, words: Any) -> Any:
            return GenericAlias(cls, words)  # typing.get_args gives the words

    def TypeVar(name: str, *kinds: Any, bound: Any = None) -> Any:  # noqa: N802  the standard's own name
        return object

    def cast(kind: Any, value: Any) -> Any:
        return value

    def assert_never(value: Any) -> Any:
        raise AssertionError(f"expected to be unreachable: {value!r}")

    def get_args(kind: Any) -> tuple[Any, ...]:
        return kind.__args__


__all__ = [
    "IO", "TYPE_CHECKING", "Any", "BinaryIO", "Literal", "NoReturn", "Protocol", "Self", "TextIO", "TypeAlias", "TypeGuard",
    "TypeVar", "assert_never", "cast", "get_args",
]  # fmt: skip
