"""Reading a table by its fields: every value checked, every problem with its own address."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass
from hookline.core.problem import Problem
from hookline.dialects.native.kinds import Wrong, names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hookline.core.problem import Severity
    from hookline.dialects.base import Layer
    from hookline.dialects.native.kinds import Field


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
        return Problem(
            file=self.layer.path, line=self.line, pointer=self.pointer, finding=finding, fix=fix, severity=severity
        )


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


#: What other systems call it, which no likeness of letters would find.
_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "event": "on", "events": "on", "command": "run", "cmd": "run", "exec": "run", "do": "shell", "url": "http",
        "environment": "env", "disabled": "enabled", "async": "mode", "on_error": "on_failure",
    }
)  # fmt: skip


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The word that is meant by what other systems say, or the nearest one, else all of them while they are few."""
    # Imported here: only a mistake pays for it.
    from difflib import get_close_matches

    words = list(known)
    if (meant := _ELSEWHERE.get(word.lower(), "")) in words:
        return f"did you mean {meant!r}?"
    # By lower case, because a wrong capital is the most frequent slip of all.
    lowered = {one.lower(): one for one in words}
    near = get_close_matches(word.lower()[:80], lowered, n=1, cutoff=0.6)
    if near:
        return f"did you mean {lowered[near[0]]!r}?"
    return f"known are {', '.join(words)}" if len(words) <= 30 else "see the reference for the known names"
