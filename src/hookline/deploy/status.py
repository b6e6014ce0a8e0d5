"""How the registrations stand: there or not, as they should be or not, and what is wrong with them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from hookline.dataclass import dataclass
from hookline.deploy.apply import read
from hookline.deploy.command import program_of
from hookline.deploy.json_text import JsonError
from hookline.deploy.plan import commands, ours

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hookline.deploy.plan import Plan

State = Literal["deployed", "drift", "absent", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One agent in one scope."""

    agent: str
    scope: str
    path: str
    state: State
    events: tuple[str, ...] = ()
    #: What a person should do something about.
    findings: tuple[str, ...] = ()


def standing(agent: str, scope: str, one: Plan) -> Standing:
    """From what deploying now would change."""
    text, refused = read(one.path)
    if refused or one.refused:
        reason = refused or one.refused
        return Standing(agent=agent, scope=scope, path=one.path, state="unreadable", findings=(reason,))
    events, programs = _registered(text)
    if not events:
        return Standing(agent=agent, scope=scope, path=one.path, state="absent")
    findings = [f"{program} is not there: {agent} cannot call it" for program in programs if not _runs(program)]
    if one.changes:
        findings.append("what is registered is not what hookline deploy would write now; deploy again")
    return Standing(
        agent=agent, scope=scope, path=one.path, state="drift" if one.changes else "deployed", events=events,
        findings=tuple(findings),
    )  # fmt: skip


def doubled(all_of_them: Sequence[Standing]) -> tuple[str, ...]:
    """One event that arrives twice: the same agent in two scopes, or an agent that reads another's file."""
    there = [one for one in all_of_them if one.events]
    found: list[str] = []
    for agent in dict.fromkeys(one.agent for one in there):
        scopes = [one.scope for one in there if one.agent == agent]
        if len(scopes) > 1:
            found.append(f"{agent} is registered in the scopes {' and '.join(scopes)}: every event arrives twice")
    claude = any(one.agent == "claude-code" and one.scope != "user" for one in there)
    if claude and any(one.agent == "copilot-cli" for one in there):
        found.append("copilot-cli reads the project's .claude/settings.json too: every event arrives twice")
    return tuple(found)


def _registered(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if text is None:
        return (), ()
    if text.startswith("//"):
        return _of_plugin(text)
    try:
        found = ours(text) if text.strip("\ufeff \t\r\n") else []
    except JsonError:
        return (), ()
    lines: Iterable[str] = (line for one in found for line in commands(one.value))
    return tuple(dict.fromkeys(one.event for one in found)), tuple(dict.fromkeys(map(program_of, lines)))


def _of_plugin(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    import json  # noqa: PLC0415  only a plugin needs it

    found: dict[str, str] = {}
    for line in text.splitlines():
        for name in ("PROGRAM", "EVENTS"):
            if line.startswith(f"const {name} = "):
                found[name] = line.partition(" = ")[2]
    try:
        return tuple(json.loads(found["EVENTS"])), (str(json.loads(found["PROGRAM"])),)
    except (KeyError, ValueError):
        return ("?",), ()


def _runs(program: str) -> bool:
    return bool(program) and os.path.isfile(program) and os.access(program, os.X_OK)
