"""How the registrations stand: there or not, as they should be or not, and what is wrong with them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import hookline
from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, Scope, all_agents
from hookline.deploy.apply import DeployedFile
from hookline.deploy.installed import RegisteredHook, find_other_registrations, parse_registered
from hookline.deploy.plan import FilePlan

#: Seconds that an agent may take to tell its version. Some load everything they have first.
_TIMEOUT = 20.0

_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


def agent_program(target: Agent, environ: Mapping[str, str]) -> str:
    """Where its program is; "" where it is not found."""
    return shutil.which(target.program, path=environ.get("PATH")) or ""


def _version_of(program: str, environ: Mapping[str, str], cwd: str) -> str:
    """What ``program --version`` says; "" where it says nothing in time.

    Asked in ``cwd``, which should not be a project's: some agents read its settings before anything else.
    """
    try:
        done = subprocess.run(
            [program, "--version"], cwd=cwd, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=_TIMEOUT, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout) or _VERSION.search(done.stderr)
    return found[0].rstrip(".") if found else ""


def agent_versions(targets: Sequence[Agent], environ: Mapping[str, str], cwd: str) -> dict[str, str]:
    """Agent -> version, of those whose program is found; all are asked at once."""
    found = {target.name: program for target in targets if (program := agent_program(target, environ))}
    if not found:
        return {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        versions = pool.map(lambda program: _version_of(program, environ, cwd), found.values())
        return dict(zip(found, versions, strict=True))


_State = Literal["deployed", "not approved", "drift", "absent", "unreadable"]

_AGAIN = "hookline deploy"

_LAZY = re.compile(r"\"command\"\s*:\s*\"(?:[^\"\s]*/)?lh hook ")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationStatus:
    """One agent in one scope."""

    agent: str
    scope: Scope
    path: str
    state: _State
    events: tuple[str, ...] = ()
    #: What a person should do something about.
    findings: tuple[str, ...] = ()
    #: Further files that the agent reads and that call hookline too.
    also: tuple[str, ...] = ()


def registration_status(
    target: Agent, scope: Scope, one: FilePlan, kept: DeployedFile | None = None, version: str = ""
) -> RegistrationStatus:
    """From what deploying now would change; ``version`` is the agent's of today, "" when it is not known."""
    agent = target.name
    if one.refused:
        return RegistrationStatus(agent=agent, scope=scope, path=one.path, state="unreadable", findings=(one.refused,))
    there, beside = parse_registered(one.path, one.before), find_other_registrations(target, one.path)
    also = tuple(dict.fromkeys(entry.path for entry in beside))
    if not there:
        lost = () if kept is None else _lost(agent, scope, one)
        return RegistrationStatus(agent=agent, scope=scope, path=one.path, state="absent", findings=lost, also=also)
    findings = [*_gone(agent, (*there, *beside)), *_twice(agent, there), *_lazy(one)]
    if one.changes:
        findings += _differs(agent, scope, there, parse_registered(one.path, one.after))
    findings += _versions(agent, kept, version)
    return RegistrationStatus(
        agent=agent, scope=scope, path=one.path, state="drift" if one.changes else "deployed", also=also,
        events=tuple(dict.fromkeys(entry.event for entry in there)), findings=tuple(findings),
    )  # fmt: skip


def duplicate_registrations(all_of_them: Sequence[RegistrationStatus]) -> tuple[str, ...]:
    """One event that arrives twice: the same agent in two scopes or two files, or an agent that reads another's file."""
    there = [one for one in all_of_them if one.events]
    found: list[str] = []
    for agent in dict.fromkeys(one.agent for one in there):
        scopes = list(dict.fromkeys(one.scope for one in there if one.agent == agent))  # profiles are all of one scope
        if len(scopes) > 1:
            found.append(
                f"{agent} is registered in the scopes {' and '.join(scopes)}: every event arrives twice; remove one: "
                f"hookline undeploy --agent {agent} --scope {scopes[-1]}"
            )
    for one in all_of_them:
        verb = "too: every event arrives twice" if one.events else "instead"
        found += [f"{one.agent} calls hookline from {path} {verb}; remove it from that file" for path in one.also]
    found += _through_others(there)
    return tuple(found)


def _through_others(there: Sequence[RegistrationStatus]) -> Iterator[str]:
    """An agent that reads another's file, and is registered itself."""
    for agent in dict.fromkeys(one.agent for one in there):
        host = all_agents()[agent].also_reads if agent in all_agents() else ""
        # Copilot CLI reads the project's file only; what is known of the others is that they read all.
        scopes = [one.scope for one in there if one.agent == host and (one.scope != "user" or agent != "copilot-cli")]
        if scopes:
            file = "the project's .claude/settings.json" if scopes[0] != "user" else "~/.claude/settings.json"
            yield (
                f"{agent} reads {file} too: every event arrives twice; remove one: hookline undeploy --agent {agent}"
            )


def _lost(agent: str, scope: str, one: FilePlan) -> tuple[str, ...]:
    again = f"{_AGAIN} --agent {agent} --scope {scope}"
    return (f"hookline was registered in {one.path}, and was removed from it; to register it again: {again}",)


def _gone(agent: str, there: Sequence[RegisteredHook]) -> Iterator[str]:
    for program in dict.fromkeys(entry.program for entry in there if not posts(entry)):
        if not _is_program(program):
            yield f"{program or 'the program'} does not exist, so {agent} cannot call it; deploy again: {_AGAIN} --agent {agent}"


def _twice(agent: str, there: Sequence[RegisteredHook]) -> Iterator[str]:
    """Two entries of ours for one event in one file."""
    events = [entry.event for entry in there]
    twice = sorted({event for event in events if events.count(event) > 1})
    if twice:
        yield f"{agent}: {', '.join(twice)} is registered twice in one file; deploy again: {_AGAIN} --agent {agent}"


def _lazy(one: FilePlan) -> Iterator[str]:
    """What lazy-harness has registered itself, beside us who read the same file of hooks."""
    if _LAZY.search(one.before or ""):
        yield (
            f"{one.path} also calls lh: hookline runs the hooks of its config.toml itself, so they run twice; remove the"
            " lines with 'lh hook'"
        )


def _differs(
    agent: str, scope: str, there: Sequence[RegisteredHook], wanted: Sequence[RegisteredHook]
) -> Iterator[str]:
    """Where what is registered is not what would be written now, the dangerous differences first."""
    now, then = _by_event(there), _by_event(wanted)
    again = f"{_AGAIN} --agent {agent} --scope {scope}"
    both = [(event, now[event], then[event]) for event in now if event in then]
    if opened := [event for event, old, new in both if new.closed and not old.closed]:
        yield (
            f"{agent}: a hook of {', '.join(opened)} must not be skipped, but the registration lets the call go on when"
            f" hookline is missing: {again}"
        )
    if missing := [event for event in then if event not in now]:
        yield f"{agent}: {', '.join(missing)} is not registered: {again}"
    if needless := [event for event in now if event not in then]:
        yield f"{agent}: {', '.join(needless)} is registered, but no hook needs it: {again}"
    rest = [event for event, old, new in both if old.closed == new.closed and old != new]
    if rest or not (opened or missing or needless):
        about = f" for {', '.join(rest)}" if rest else ""
        # Another program may well be at the same path: a client of the version before.
        replaced = any(now[event].program != then[event].program for event in rest)
        what = "starts a program that hookline deploy replaces" if replaced else "is not what hookline deploy writes"
        yield f"{agent}: the registration{about} {what} now; deploy again: {again}"


def _by_event(all_of_them: Sequence[RegisteredHook]) -> Mapping[str, RegisteredHook]:
    return {entry.event: entry for entry in all_of_them}


def _versions(agent: str, kept: DeployedFile | None, version: str) -> Iterator[str]:
    """What was written was tried with the versions of then."""
    if kept is None:
        return
    if kept.version and version and kept.version != version:
        yield (
            f"{agent} was {kept.version} when hookline was registered and is {version} now; to check that its hooks still "
            f"fire: hookline doctor --agent {agent}; then: {_AGAIN} --agent {agent}"
        )
    if kept.hookline and kept.hookline != hookline.__version__:
        yield (
            f"{agent} was registered by hookline {kept.hookline}, and this is {hookline.__version__}: "
            f"{_AGAIN} --agent {agent}"
        )


def posts(entry: RegisteredHook) -> bool:
    """An entry for the HTTP door that hookline had once: nobody listens there, and deploying again replaces it."""
    return entry.command.startswith("http://")


def _is_program(program: str) -> bool:
    path = program if os.sep in program else shutil.which(program) or ""
    return bool(path) and os.path.isfile(path) and os.access(path, os.X_OK)
