"""How well a policy does on a file of judged commands: one JSON object a line, ``{"command": …, "expect": …}``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from hookline.core._dataclass import dataclass, field
from hookline.guard.policy import Policy
from hookline.guard.verdict import Surroundings, judge

_EXPECTATIONS = ("deny", "pass", "allow", "ask")
#: The machine that a corpus speaks of: its authors had their own, and this one is nobody's.
IMAGINED = Surroundings(
    cwd="/workspace/project",
    home="/home/user",
    environment={
        "HOME": "/home/user",
        "TMPDIR": "/tmp",  # noqa: S108 (a name only)
        "USER": "user",
        "PWD": "/workspace/project",
    },
)


@dataclass(slots=True, kw_only=True)
class Score:
    """Commands by what became of them; ``problems`` are lines that are no case."""

    cases: int = 0
    must_deny: int = 0
    must_pass: int = 0
    caught: int = 0
    missed: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)
    grantable: int = 0
    granted: int = 0
    granted_wrongly: list[str] = field(default_factory=list)
    not_granted: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def count(self, command: str, expect: str, policy: Policy) -> None:
        verdict = judge(command, policy=policy, around=IMAGINED)
        refused = verdict.verdict in {"ask", "deny"}
        self.cases += 1
        match expect:
            case "deny":
                self.must_deny += 1
                self.caught += refused
                if not refused:
                    self.missed.append(command)
            case "pass":
                self.must_pass += 1
                if verdict.verdict == "deny":
                    self.false_alarms.append(command)
                elif verdict.verdict == "ask":
                    self.asked.append(command)
            case "allow":
                self.grantable += 1
                self.granted += verdict.verdict == "allow"
                if verdict.verdict != "allow":
                    self.not_granted.append(command)
            case _:
                if verdict.verdict == "allow":
                    self.granted_wrongly.append(command)


def score(lines: Iterable[str], policy: Policy) -> Score:
    result = Score()
    for number, line in enumerate(lines, 1):
        case = _case(line)
        if case is not None:
            result.count(*case, policy)
        elif line.strip():
            result.problems.append(f'line {number}: no case; write {{"command": …, "expect": "deny"}}')
    return result


def _case(line: str) -> tuple[str, str] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("command"), str) or row.get("expect") not in _EXPECTATIONS:
        return None
    return row["command"], row["expect"]


def rates(result: Score) -> Iterator[tuple[str, int, int]]:
    """What is counted, how many, and of how many; with asking as denying too, for agents that cannot ask."""
    if result.must_deny:
        yield "must be refused: refused", result.caught, result.must_deny
    if result.must_pass:
        yield "must pass: denied", len(result.false_alarms), result.must_pass
        yield "must pass: asked about", len(result.asked), result.must_pass
        yield "must pass: denied if nobody can be asked", len(result.asked) + len(result.false_alarms), result.must_pass
    if result.grantable:
        yield "harmless: granted", result.granted, result.grantable
    wrong = result.cases - result.must_deny - result.must_pass - result.grantable
    if wrong:
        yield "must not be granted: granted", len(result.granted_wrongly), wrong
