"""What is allowed, asked about or denied: three ready sets, own rules over effects, and exceptions that expire."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final, Literal

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


class _Table:
    """Reads one table, collecting problems."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[Problem] = []

    def policy(self, table: Mapping[str, Any]) -> tuple[Policy, tuple[Problem, ...]]:
        self._known(table, "$.guard", {"policy", "allow", "unknown", "rule", "exception"})
        name = self._choice(table, "policy", POLICIES, "$.guard", "standard")
        allow = self._choice(table, "allow", ("read-only", "nothing"), "$.guard", "nothing")
        unknown = self._choice(table, "unknown", ANSWERS, "$.guard", "")
        rules = (self._rule(row, f"$.guard.rule[{index}]") for index, row in self._rows(table, "rule"))
        exceptions = (
            self._exception(row, f"$.guard.exception[{index}]") for index, row in self._rows(table, "exception")
        )
        policy = Policy(
            name=name,
            rules=tuple(rule for rule in rules if rule is not None),
            exceptions=tuple(one for one in exceptions if one is not None),
            allow_read_only=allow == "read-only",
            unknown=_answer(unknown),
        )
        return policy, tuple(self._problems)

    def _problem(self, pointer: str, finding: str, fix: str) -> None:
        self._problems.append(Problem(file=self._file, pointer=pointer, finding=finding, fix=fix))

    def _known(self, table: Mapping[str, Any], pointer: str, names: Iterable[str]) -> None:
        for key in sorted(set(table) - set(names)):
            self._problem(f"{pointer}.{key}", "unknown field", f"use one of {', '.join(sorted(names))}")

    def _rows(self, table: Mapping[str, Any], name: str) -> list[tuple[int, Mapping[str, Any]]]:
        rows = table.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            self._problem(f"$.guard.{name}", "must be a list of tables", f"write [[guard.{name}]]")
            return []
        return list(enumerate(rows))

    def _choice(self, table: Mapping[str, Any], key: str, choices: Iterable[str], pointer: str, default: str) -> str:
        value = table.get(key, default)
        if value == default or value in choices:
            return str(value)
        self._problem(
            f"{pointer}.{key}",
            f"must be one of {', '.join(choices)}; got {value!r}",
            f'write {key} = "{next(iter(choices))}"',
        )
        return default

    def _rule(self, row: Mapping[str, Any], pointer: str) -> GuardRule | None:
        self._known(row, pointer, {"effect", "where", "then", "harm"})
        before = len(self._problems)
        effect = self._choice(row, "effect", (*KINDS, "any"), pointer, "")
        then = _answer(self._choice(row, "then", ANSWERS, pointer, ""))
        harm = self._choice(row, "harm", HARMS, pointer, "low")
        where = row.get("where", "")
        if not isinstance(where, str) or (
            where and where not in PLACES and where != "outside project" and not re.search(r"[/*~.]", where)
        ):
            self._problem(
                f"{pointer}.where",
                f"no such place: {where!r}",
                f'use "outside project", one of {", ".join(PLACES)}, or a path',
            )
        if len(self._problems) == before and (not effect or then is None):
            self._problem(pointer, "effect and then are required", 'write effect = "delete" and then = "deny"')
        if len(self._problems) > before or then is None:
            return None
        return GuardRule(effect=effect, then=then, where=str(where), harm=next(one for one in HARMS if one == harm))

    def _exception(self, row: Mapping[str, Any], pointer: str) -> GuardException | None:
        self._known(row, pointer, {"command", "path", "effect", "until", "reason"})
        before = len(self._problems)
        until = row.get("until")
        if isinstance(until, str):
            until = _date(until)
        if (until is not None and not isinstance(until, date)) or ("until" in row and until is None):
            self._problem(f"{pointer}.until", f"not a date: {row['until']!r}", "write until = 2030-12-31")
        texts = {key: row.get(key, "") for key in ("command", "path", "effect", "reason")}
        if not all(isinstance(text, str) for text in texts.values()):
            self._problem(pointer, "command, path, effect and reason must be text", 'write reason = "…"')
        elif not texts["reason"] or not (texts["command"] or texts["path"] or texts["effect"]):
            self._problem(
                pointer,
                "an exception needs a reason, and a command, a path or an effect",
                'write reason = "…" and path = "…"',
            )
        elif texts["effect"] and texts["effect"] not in KINDS:
            self._problem(f"{pointer}.effect", f"no such effect: {texts['effect']!r}", f"use one of {', '.join(KINDS)}")
        if len(self._problems) > before:
            return None
        return GuardException(until=until if isinstance(until, date) else None, **texts)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _answer(text: str) -> Answer | None:
    return next((one for one in ANSWERS if one == text), None)
