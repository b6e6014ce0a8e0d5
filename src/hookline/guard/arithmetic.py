"""``$((…))`` on numbers and variables that are known. Assignments in it make their variables unknown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9A-Fa-f]+|\d+#\w+|\d+)|([A-Za-z_]\w*)|(<<|>>|\*\*|&&|\|\||[<>=!]=|[-+*/%&|^~!<>()?:,]))", re.ASCII
)
_CHANGES = re.compile(
    r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)", re.ASCII
)


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << (b % 64), ">>": lambda a, b: a >> (b % 64)},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b)},
)


class _Unknown(Exception):
    pass


def changes(text: str) -> set[str]:
    """The names of the variables that the expression sets."""
    return {found[1] or found[2] for found in _CHANGES.finditer(text)}


def evaluate(text: str, lookup: Callable[[str], str | None]) -> int | None:
    """The number, or None where something in it is not known. ``lookup`` gives a variable's text, None if unknown."""
    if len(text) > 500 or changes(text):
        return None
    try:
        return _Expression(text, lookup).value()
    except (_Unknown, ValueError, ZeroDivisionError, RecursionError):
        return None


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


class _Expression:
    def __init__(self, text: str, lookup: Callable[[str], str | None]) -> None:
        self._tokens, self._lookup, self._at, at = list[str](), lookup, 0, 0
        text = text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if not found:
                raise _Unknown
            self._tokens.append(found[0].strip())
            at = found.end()

    def value(self) -> int:
        if not self._tokens:
            return 0
        result = self._comma()
        if self._at < len(self._tokens):
            raise _Unknown
        return result

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        taken = self._next() == token
        self._at += taken
        return taken

    def _comma(self) -> int:
        result = self._choice()
        while self._take(","):
            result = self._choice()
        return result

    def _choice(self) -> int:
        condition = self._level(0)
        if not self._take("?"):
            return condition
        first = self._comma()
        if not self._take(":"):
            raise _Unknown
        second = self._choice()
        return first if condition else second

    def _level(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._power()
        left = self._level(level + 1)
        while (sign := self._next()) in _LEVELS[level]:
            self._at += 1
            left = _wrap(_LEVELS[level][sign](left, self._level(level + 1)))
        return left

    def _power(self) -> int:
        base = self._unary()
        if not self._take("**"):
            return base
        exponent = self._power()
        if exponent < 0 or exponent > 64:
            raise _Unknown
        return _wrap(base**exponent)

    def _unary(self) -> int:
        for sign, apply in (("-", operator.neg), ("+", operator.pos), ("~", operator.invert), ("!", operator.not_)):
            if self._take(sign):
                return int(apply(self._unary()))
        return self._atom()

    def _atom(self) -> int:
        if self._take("("):
            inner = self._comma()
            if not self._take(")"):
                raise _Unknown
            return inner
        token = self._next()
        self._at += 1
        if token[:1].isdigit():
            return _number(token)
        if not token or not (token[0].isalpha() or token[0] == "_"):
            raise _Unknown
        text = self._lookup(token)
        if text is None:
            raise _Unknown
        return _number(text.strip() or "0")


def _number(text: str) -> int:
    base, mark, digits = text.partition("#")
    if mark:
        if not 2 <= int(base) <= 36:
            raise _Unknown
        return int(digits, int(base))
    sign = -1 if text.startswith("-") else 1
    text = text.lstrip("-")
    return _wrap(sign * int(text, 16 if text[:2] in {"0x", "0X"} else 8 if text.startswith("0") else 10))
