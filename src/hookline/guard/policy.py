"""What is allowed, asked about or denied: three ready sets, own rules over effects, and exceptions that expire."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from hookline.core._dataclass import dataclass, replace
from hookline.core.problem import Problem
from hookline.guard.effects import HARMS, KINDS, Effect, Harm
from hookline.guard.paths import PLACES

Answer = Literal["allow", "ask", "deny"]
ANSWERS: Final[tuple[Answer, ...]] = ("allow", "ask", "deny")
#: Policy -> (harm from which it asks, harm from which it denies). ``watch`` judges as ``standard`` and enforces nothing.
_LEVELS: Final[Mapping[str, tuple[Harm, Harm]]] = MappingProxyType(
    {"watch": ("high", "critical"), "standard": ("high", "critical"), "strict": ("medium", "critical")}
)
POLICIES: Final = tuple(_LEVELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRule:
    """``effect = "delete"  where = "outside project"  then = "deny"``. The last rule that matches an effect counts."""

    effect: str
    then: Answer
    where: str = ""
    harm: Harm = "low"

    def matches(self, effect: Effect, home: str) -> bool:
        return (
            self.effect in {effect.kind, "any"}
            and HARMS.index(effect.harm) >= HARMS.index(self.harm)
            and _within(effect, self.where, home)
        )


def _within(effect: Effect, where: str, home: str) -> bool:
    if not where or where == effect.where:
        return True
    if where == "outside project":
        return effect.where not in {"project", "temp", ""}
    if where in PLACES:
        return False
    pattern = where.replace("~", home, 1) if where.startswith("~") else where
    what = effect.what.replace("~", home, 1) if effect.what.startswith("~") else effect.what
    return fnmatchcase(what, pattern) or fnmatchcase(what, pattern.rstrip("/*") + "/*")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardException:
    """What a person allows for a time: one command to the letter, one path, or one kind of effect."""

    reason: str
    command: str = ""
    path: str = ""
    effect: str = ""
    until: date | None = None

    def covers(self, effect: Effect, command: str, today: date, home: str) -> bool:
        if self.until is not None and today > self.until:
            return False
        return (
            (not self.command or self.command == command)
            and (not self.effect or self.effect == effect.kind)
            and (not self.path or (bool(effect.what) and _within(replace(effect, where=""), self.path, home)))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A ready set, own rules on top of it, and exceptions. A guard of hookline's own files takes no exception."""

    name: str = "standard"
    rules: tuple[GuardRule, ...] = ()
    exceptions: tuple[GuardException, ...] = ()
    #: Commands that only read are granted, not merely let pass.
    allow_read_only: bool = False
    #: What an unknown program or an unreadable part means, if not what the set says.
    unknown: Answer | None = None

    @property
    def enforces(self) -> bool:
        return self.name != "watch"

    def answer(self, effect: Effect, *, command: str = "", today: date, home: str = "") -> Answer:
        """The verdict on one effect."""
        own = effect.kind == "guard" and effect.harm == "critical"
        if not own and any(one.covers(effect, command, today, home) for one in self.exceptions):
            return "allow"
        for rule in reversed(self.rules):
            if rule.matches(effect, home) and not (own and rule.then != "deny"):
                return rule.then
        if effect.kind == "unknown" and self.unknown is not None and effect.harm != "low":
            return self.unknown
        ask, deny = _LEVELS[self.name]
        level = HARMS.index(effect.harm)
        return "deny" if level >= HARMS.index(deny) else "ask" if level >= HARMS.index(ask) else "allow"

    @staticmethod
    def from_table(table: Mapping[str, Any], file: str = "") -> tuple[Policy, tuple[Problem, ...]]:
        """The ``[guard]`` table of hookline.toml. What is wrong in it is reported, and the rest counts."""
        return _Table(file).policy(table)


READY: Final[Mapping[str, Policy]] = MappingProxyType({name: Policy(name=name) for name in POLICIES})

_Check: TypeAlias = tuple[Callable[[object], bool], str]


def _one_of(*names: str) -> _Check:
    return (lambda value: value in names), f"use one of {', '.join(names)}"


def _date(value: object) -> date | None:
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _names_place(value: object) -> bool:
    return isinstance(value, str) and (value in {"", "outside project", *PLACES} or bool(re.search(r"[/*~.]", value)))


_TEXT: Final[_Check] = (lambda value: isinstance(value, str)), "write a text in quotes"
_ROWS: Final[_Check] = (
    lambda value: isinstance(value, list) and all(isinstance(row, Mapping) for row in value),
    "write a list of tables, as [[guard.rule]]",
)
#: Table -> its fields, and those that a row of it must have.
_FIELDS: Final[Mapping[str, tuple[Mapping[str, _Check], tuple[str, ...]]]] = MappingProxyType({
    "guard": ({"policy": _one_of(*POLICIES), "allow": _one_of("read-only", "nothing"), "unknown": _one_of(*ANSWERS), "rule": _ROWS, "exception": _ROWS}, ()),
    "rule": ({"effect": _one_of(*KINDS, "any"), "then": _one_of(*ANSWERS), "harm": _one_of(*HARMS), "where": (_names_place, f'use "outside project", one of {", ".join(PLACES)}, or a path')}, ("effect", "then")),
    "exception": ({"command": _TEXT, "path": _TEXT, "effect": _one_of(*KINDS), "reason": _TEXT, "until": ((lambda value: _date(value) is not None), "write until = 2030-12-31")}, ("reason",)),
})  # fmt: skip


class _Table:
    """Reads one table, collecting problems."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[Problem] = []

    def policy(self, table: Mapping[str, Any]) -> tuple[Policy, tuple[Problem, ...]]:
        given = self._read("guard", table, "$.guard")
        policy = Policy(
            name=given.get("policy", "standard"),
            rules=tuple(GuardRule(**row) for row in self._rows(given, "rule")),
            exceptions=tuple(GuardException(**row) for row in self._rows(given, "exception")),
            allow_read_only=given.get("allow") == "read-only",
            unknown=given.get("unknown"),
        )
        return policy, tuple(self._problems)

    def _rows(self, given: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
        """Those rows in which nothing is wrong."""
        for index, row in enumerate(given.get(name, ())):
            before, pointer = len(self._problems), f"$.guard.{name}[{index}]"
            good = self._read(name, row, pointer)
            if name == "exception" and not (row.get("command") or row.get("path") or row.get("effect")):
                self._problem(pointer, "an exception needs a command, a path or an effect", 'write path = "…"')
            if len(self._problems) == before:
                yield good

    def _read(self, name: str, table: Mapping[str, Any], pointer: str) -> Mapping[str, Any]:
        fields, required = _FIELDS[name]
        for key in (key for key in required if not table.get(key)):
            self._problem(pointer, f"{key} is required", f"write {key} = …")
        good = {}
        for key, value in table.items():
            if key not in fields:
                self._problem(f"{pointer}.{key}", "unknown field", f"use one of {', '.join(sorted(fields))}")
            elif not fields[key][0](value):
                self._problem(f"{pointer}.{key}", f"wrong value {value!r}", fields[key][1])
            else:
                good[key] = _date(value) if key == "until" else value
        return good

    def _problem(self, pointer: str, finding: str, fix: str) -> None:
        self._problems.append(Problem(file=self._file, pointer=pointer, finding=finding, fix=fix))
