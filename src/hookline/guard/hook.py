"""The guard as a hook: what an event is about to do, judged by the policy of one ``[guard]`` table."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from hookline.core.errors import ConfigError
from hookline.core.event import Event
from hookline.core.paths import find_paths, home_directory, project_root
from hookline.core.result import Reply
from hookline.guard.paths import expand_home
from hookline.guard.policy import Policy
from hookline.guard.scripts import SessionFiles
from hookline.guard.tools import judge_tool
from hookline.guard.verdict import Surroundings, Verdict, judge

_T = TypeVar("_T")
#: Lines of a shell whose verdicts are remembered.
_REMEMBERED = 64
#: Characters of a command that a refusal repeats.
_SHOWN = 160
#: ``env GUARD=off COMMAND``: the person at the shell means it. No agent's call is a line of that shell.
_OFF = ("GUARD=off ", "env GUARD=off ")
#: A call that names no tool is judged by its command, too.
_RUNS_COMMANDS = ("Bash", "")


def guard(given: str) -> Callable[[Event], Reply | None]:
    """The hook of a table, in JSON. Raises ConfigError; a guard that cannot be made refuses (``on_failure``)."""
    policy, problems = Policy.from_table(json.loads(given))
    if problems:
        raise ConfigError(str(problems[0]))
    return _Guard(policy)


class _Looks:
    """What was looked at for a verdict: where paths lead, what is in scripts, and whose command it is. All else that it
    depends on is in the command, the policy, the directories and the environment."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[tuple[Callable[[str], object], str], object] = {}

    def __call__(self, look: Callable[[str], _T], path: str = "") -> _T:
        if (look, path) not in self._found:
            self._found[look, path] = look(path)
        return cast("_T", self._found[look, path])

    def hold(self) -> bool:
        """Everything is found again as it was."""
        return all(look(path) == found for (look, path), found in self._found.items())


class _Guard:
    """Remembers the programs of the last line of a shell that may run: one of them alone is not judged again. Nor is a
    line that comes again, while nothing has changed that its verdict depends on."""

    __slots__ = ("_known", "_line", "_policy")

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._line: tuple[object, frozenset[tuple[str, ...]]] = (None, frozenset())
        self._known: dict[object, tuple[Verdict, _Looks, Mapping[str, str]]] = {}

    def __call__(self, event: Event) -> Reply | None:
        if event.kind.family != "shell":
            return _answer(self._policy, event, _judge(self._policy, event))
        data = event.data
        line = (event.session, event.cwd, data.get("pipeline_id"))
        spawns = event.kind.name == "process.pre_spawn"
        if _is_meant(data) or (spawns and self._line[0] == line and _program(data) in self._line[1]):
            return None
        verdict = self._judge_line(event)
        if not spawns and verdict is not None:
            self._line = (line, verdict.programs if verdict.would == "allow" else frozenset())
        return _answer(self._policy, event, verdict)

    def _judge_line(self, event: Event) -> Verdict | None:
        places = (event.cwd, project_root(event.cwd, _home(event)), event.session)
        same = (_command(event), places, time.localtime()[:3])
        known = self._known.pop(same, None)
        if known is None or known[2] is not event.environ or not known[1].hold():
            looks = _Looks()
            verdict = _judge(self._policy, event, looks)
            if verdict is None or verdict.would != "allow":
                return verdict
            known = verdict, looks, event.environ
        self._known[same] = known
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        return known[0]


def _program(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Its words; none if it gets variables of its own, which may matter."""
    own = set(data.get("env") or ()) - {"LASH_DISPLAY"}
    return () if own else (str(data.get("command", "")), *map(str, data.get("args") or ()))


def _answer(policy: Policy, event: Event, verdict: Verdict | None) -> Reply | None:
    shell = event.kind.family == "shell"
    if verdict is None or (verdict.would == "allow" and (shell or verdict.verdict != "allow")):
        return None
    found = {"guard": _record(verdict, policy)}
    asking = event.kind.name == "PermissionRequest"  # the agent asks the person anyway
    if verdict.verdict == "none" or (verdict.verdict == "ask" and asking):
        return Reply(attributes=found)
    reason = f"{_reason(verdict)} If you mean it: hookline help how-to/guard" if shell else _reason(verdict)
    return Reply(effect=verdict.verdict, reason=reason, attributes=found)


def _judge(policy: Policy, event: Event, looks: _Looks | None = None) -> Verdict | None:
    """None for a line without a command."""
    looks = looks or _Looks()
    home = _home(event)
    project = project_root(event.cwd, home)
    elsewhere = _tool_input(event.data).get("cwd")  # a shell that the agent starts in another directory
    around = Surroundings(
        cwd=os.path.join(event.cwd, expand_home(elsewhere, home)) if isinstance(elsewhere, str) else event.cwd,
        home=home,
        project=project,
        environment=event.environ,
        resolve=partial(looks, os.path.realpath),
    )
    files = SessionFiles(_state(event, home), event.session)
    command = _command(event)
    if command is not None and not command.strip():
        return None
    if command is not None:
        is_owner = partial(looks, partial(_is_person, event.environ)) if event.kind.family == "shell" else None
        return judge(command, policy=policy, around=around, script=partial(looks, files.read), is_owner=is_owner)
    return judge_tool(_tool(event.data), _tool_input(event.data), policy=policy, around=around)


def _tool(data: Mapping[str, Any]) -> str:
    """The tool's name; "" where the agent sends none, or what is no text."""
    name = data.get("tool_name")
    return name if isinstance(name, str) else ""


def _command(event: Event) -> str | None:
    """The text that a shell would run; None for a tool that is none."""
    data = event.data
    if event.kind.name == "process.pre_spawn":
        words = shlex.join((str(data.get("command", "")), *map(str, data.get("args") or ())))
        # With patterns as they were typed, where an alias hid the program. A hook may have changed the words since.
        return f"{data['text']}\n{words}" if isinstance(data.get("text"), str) else words
    if event.kind.family == "shell":
        return str(data.get("text", ""))
    command = _tool_input(data).get("command") if _tool(data) in _RUNS_COMMANDS else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return shlex.join(command)
    return command if isinstance(command, str) else None


def _tool_input(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object; where an agent sends text, the object that it spells, or a command by itself."""
    given = data.get("tool_input")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"command": given}
    return given if isinstance(given, Mapping) else {}


def _is_meant(data: Mapping[str, Any]) -> bool:
    environ = data.get("env")
    spawned = (data.get("command"), *(data.get("args") or ())[:1]) == ("env", "GUARD=off")
    given = isinstance(environ, Mapping) and environ.get("GUARD") == "off"
    return spawned or given or str(data.get("text", "")).lstrip().startswith(_OFF)


def _is_person(environ: Mapping[str, str], _path: str) -> bool:
    from hookline.core.agent_processes import is_person  # only a line that changes the guard needs it

    return is_person(environ)


def _home(event: Event) -> str:
    known = event.directories
    return known.home if known is not None else home_directory(event.environ)


def _state(event: Event, home: str) -> str:
    known = event.directories
    return known.paths.state if known is not None else find_paths(event.environ, home).state


def _record(verdict: Verdict, policy: Policy) -> dict[str, str]:
    """What ``hookline guard report`` counts."""
    kind = verdict.cause.kind if verdict.cause is not None else ""
    return {"policy": policy.name, "would": verdict.would, "kind": kind, "reason": _reason(verdict)}


def _reason(verdict: Verdict) -> str:
    cause = verdict.cause
    if cause is None:
        return "guard: it only reads"
    words = " ".join(cause.cause.split())
    shown = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
    return f"guard: {shown}: {verdict.reason}" if shown else f"guard: {verdict.reason}"
