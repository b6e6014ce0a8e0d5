"""The kinds of values a ``hookline.toml`` may hold: how each is read, and how its JSON Schema says it.

One source for both, so that what an editor accepts and what the loader accepts cannot drift apart. A table is read by
its fields: every value is checked, and every problem has its own address.
"""

from __future__ import annotations

import math
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from hookline.core._dataclass import dataclass
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.problem import Problem, Severity
from hookline.core.suggest import suggest
from hookline.core.typed import Any
from hookline.dialects.base import Layer

_LONGEST_PATTERN = 10_000
_DURATION = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIMPLE = lazy_pattern(r"[\w|. -]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """A value that cannot be used, and what to write instead."""

    finding: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``read`` gives the canonical value, or ``Wrong``; ``schema`` is the same rule for an editor."""

    read: Callable[[Any], Any]
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One key of a table."""

    key: str
    kind: Kind
    about: str


def names(fields: Sequence[Field]) -> tuple[str, ...]:
    return tuple(field.key for field in fields)


def show(value: Any) -> str:
    """What was found, short enough for a message. Of a list, what is odd about it."""
    if isinstance(value, list):
        odd = [one for one in value if not isinstance(one, str) or not one]
        return f"a list with {show(odd[0])} in it" if odd else "a list" if value else "an empty list"
    if isinstance(value, bool):
        return str(value).lower()
    return "a table" if isinstance(value, dict) else repr(value[:60]) if isinstance(value, str) else str(value)[:60]


def _wanted(what: str, value: Any, example: str) -> Wrong:
    return Wrong(finding=f"must be {what}; got {show(value)}", fix=f"write {example}")


# ── simple values ────────────────────────────────────────────────────────────────────────────────────


def _plain(good: Callable[[Any], bool], what: str, example: str, schema: Mapping[str, Any]) -> Kind:
    """A value that is used as it is written."""
    return Kind(read=lambda value: value if good(value) else _wanted(what, value, example), schema=schema)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def text(example: str = '"…"') -> Kind:
    return _plain(_is_text, "text that is not empty", example, {"type": "string", "minLength": 1})


def any_text() -> Kind:
    return _plain(lambda value: isinstance(value, str), "text", '"…"', {"type": "string"})


def flag() -> Kind:
    return _plain(lambda value: isinstance(value, bool), "true or false", "true or false", {"type": "boolean"})


def whole(least: int, most: int = 1 << 53) -> Kind:
    def good(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    schema = {"type": "integer", "minimum": least, "maximum": most}
    return _plain(good, f"a whole number from {least}", str(max(least, 1)), schema)


def amount() -> Kind:
    def good(value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9

    return _plain(good, "a number from 0", "2.50", {"type": "number", "minimum": 0})


def choice(*options: str) -> Kind:
    shown = " or ".join(f'"{one}"' for one in options)
    schema = {"type": "string", "enum": list(options)}
    return _plain(lambda value: value in options, f"one of {', '.join(options)}", shown, schema)


def duration(example: str = '"5s"') -> Kind:
    """Seconds, from ``"500ms"``, ``"5s"``, ``"2m"``, ``"1h"`` or a number of seconds; always above zero."""

    def read(value: Any) -> float | Wrong:
        seconds = _seconds(value)
        if seconds is None or not 0 < seconds <= 86_400 * 366:
            return _wanted("a duration above zero", value, f"{example} or a number of seconds")
        return seconds

    spelled = {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h)$"}
    return Kind(read=read, schema={"anyOf": [spelled, {"type": "number", "exclusiveMinimum": 0}]})


def days(example: str = '"90d"') -> Kind:
    """A whole number of days, from ``"90d"``."""

    def read(value: Any) -> int | Wrong:
        number = value[:-1] if isinstance(value, str) and value.endswith("d") else ""
        if not (number.isascii() and number.isdigit() and len(number) < 7 and int(number)):
            return _wanted("a number of days", value, example)
        return int(number)

    return Kind(read=read, schema={"type": "string", "pattern": r"^0*[1-9]\d{0,5}d$"})


def _seconds(value: Any) -> float | None:
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip()) if len(value) < 100 else None
        return float(found[1]) * _UNITS[found[2]] if found else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # An int may be too large for a float.
    return float(value) if abs(value) < 1e12 and math.isfinite(value) else None


def table(example: str = "{ … }") -> Kind:
    """Its keys are read one by one, so that each problem has its own address; a schema is added where they are known."""
    return _plain(lambda value: isinstance(value, dict), "a table", example, {"type": "object"})


# ── compound values ──────────────────────────────────────────────────────────────────────────────────


def texts(example: str = '["…"]') -> Kind:
    """One text or a list of them."""

    def read(value: Any) -> tuple[str, ...] | Wrong:
        given = value if isinstance(value, list) else [value]
        if given and all(isinstance(one, str) and one for one in given):
            return tuple(given)
        return _wanted("text or a list of texts", value, example)

    one = {"type": "string", "minLength": 1}
    return Kind(read=read, schema={"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})


def text_list(example: str = '["…"]') -> Kind:
    """A list of texts, possibly empty (which is not the same as none)."""

    def read(value: Any) -> tuple[str, ...] | Wrong:
        if isinstance(value, list) and all(isinstance(one, str) and one for one in value):
            return tuple(value)
        return _wanted("a list of texts", value, example)

    return Kind(read=read, schema={"type": "array", "items": {"type": "string", "minLength": 1}})


def text_table(example: str = '{ NAME = "value" }') -> Kind:
    """Names to texts; numbers and booleans become text."""

    def read(value: Any) -> tuple[tuple[str, str], ...] | Wrong:
        if isinstance(value, dict) and all(isinstance(v, (str, int, float)) for v in value.values()):
            pairs = tuple((str(key), _plainly(one)) for key, one in value.items())
            if not any("\0" in key + one or "=" in key or not key for key, one in pairs):
                return pairs
        return _wanted("a table of texts", value, example)

    scalars = {"type": ["string", "number", "boolean"]}
    return Kind(read=read, schema={"type": "object", "additionalProperties": scalars})


def _plainly(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


#: Quoted parts of a line, and what only a shell would understand in the rest of it.
_QUOTED = lazy_pattern(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
_SHELL_WORD = lazy_pattern(r"(?<!\S)(?:\|\|?|&&?|;;?|\d*[<>]{1,3}\S*)(?!\S)|;(?!\S)|\$\(|`")


def argv(example: str = '"./hooks/check.sh --fast" or ["./hooks/check.sh", "--fast"]') -> Kind:
    """A program and its arguments. Text is split into words as a shell would, but no shell ever sees it."""

    def read(value: Any) -> tuple[str, ...] | Wrong:
        try:
            words = shlex.split(value) if isinstance(value, str) else value
        except ValueError as error:
            return Wrong(finding=f"cannot be split into words: {error}", fix=f"write {example}")
        if not isinstance(words, list) or not words or not all(isinstance(one, str) for one in words) or not words[0]:
            return _wanted("a command line or a list of words", value, example)
        if isinstance(value, str) and (found := _SHELL_WORD.search(_QUOTED.sub("_", value))):
            # The program would get it as an argument, and a hook that looks like a guard would guard nothing.
            return Wrong(
                finding=f"has {found[0]!r}, which means something to a shell only",
                fix="write shell = … instead, or a list of words",
            )
        if any("\0" in one for one in words):
            return Wrong(finding="a NUL cannot be passed to a program", fix=f"write {example}")
        return tuple(words)

    listed = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    return Kind(read=read, schema={"anyOf": [{"type": "string", "minLength": 1}, listed]})


# ── regular expressions ──────────────────────────────────────────────────────────────────────────────


def patterns() -> Kind:
    def read(value: Any) -> tuple[str, ...] | Wrong:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            return _wanted("a list of regular expressions", value, '["tok_[a-z0-9]+"]')
        return next((wrong for one in value if (wrong := bad_pattern(one))), tuple(value))

    return Kind(read=read, schema={"type": "array", "items": {"type": "string", "format": "regex"}})


def bad_pattern(text: str) -> Wrong | None:
    """A pattern that cannot be compiled is a problem now, never silently a literal or a miss later."""
    if len(text) > _LONGEST_PATTERN:
        return Wrong(finding=f"a pattern of {len(text)} characters", fix=f"keep it under {_LONGEST_PATTERN}")
    if _SIMPLE.fullmatch(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        if not _regex_accepts(text):
            return Wrong(
                finding=f"is not a regular expression: {error}", fix=r"correct it; as plain text, ( is written \("
            )
    return None


def _regex_accepts(text: str) -> bool:
    # Matching is done by `regex`, which supports more (\p{L}); tried only when `re` fails, as it costs an import.
    import regex

    try:
        regex.compile(text)
    except (regex.error, RecursionError, OverflowError, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place in a file."""

    layer: Layer
    pointer: str = "$"

    def at(self, key: str | int) -> Address:
        step = f"[{key}]" if isinstance(key, int) else f".{key}"
        return Address(layer=self.layer, pointer=self.pointer + step)

    @property
    def line(self) -> int:
        return self.layer.line(self.pointer)

    def problem(self, finding: str, fix: str, severity: Severity = "error") -> Problem:
        return self.layer.origin(self.pointer).problem(finding, fix, severity)


def find_tables(layer: Layer, name: str, problems: list[Problem]) -> list[tuple[Address, dict[str, Any]]]:
    """The tables ``[[name]]`` of a file with their addresses; what is none is a problem."""
    given = layer.tree.get(name, []) if isinstance(layer.tree, dict) else []
    where = Address(layer=layer).at(name)
    if not isinstance(given, list):
        problems.append(where.problem(f"{name} is not a list of tables", f'write "[[{name}]]", with two brackets'))
        return []
    found = [(where.at(number), table) for number, table in enumerate(given)]
    problems += [
        at.problem(f"a {name} must be a table", f'write "[[{name}]]"') for at, one in found if type(one) is not dict
    ]
    return [(at, table) for at, table in found if type(table) is dict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The good values of a table, and what is wrong with the others."""

    values: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    #: Every value that is there is good. A key that nobody knows does not spoil the others.
    usable: bool = True


def read_table(table: dict[str, Any], fields: Sequence[Field], where: Address) -> Read:
    """An unknown key is an error, since a misspelt ``on_failure`` would weaken a guard unseen; the rest still counts."""
    known = {field.key: field for field in fields}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    usable = True
    for key, given in table.items():
        if key not in known:
            problems.append(where.at(key).problem(f"unknown key {key!r}", did_you_mean(key, names(fields))))
            continue
        value = known[key].kind.read(given)
        if isinstance(value, Wrong):
            problems.append(where.at(key).problem(f"{key} {value.finding}", value.fix))
            usable = False
        else:
            values[key] = value
    return Read(values=values, problems=tuple(problems), usable=usable)


#: Names in other systems, which no similarity of letters would find.
_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "event": "on", "events": "on", "command": "run", "cmd": "run", "exec": "run", "do": "shell", "url": "http",
        "environment": "env", "disabled": "enabled", "async": "mode", "on_error": "on_failure",
    }
)  # fmt: skip


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The name for what other systems call it, or the nearest one."""
    words = list(known)
    known_as = _ELSEWHERE.get(word.lower(), "")
    return f"did you mean {known_as!r}?" if known_as in words else suggest(word, words)
