"""What is registered with an agent: the file, the events, and one entry for each.

The text of an entry depends on the agent, the event, the scope, the program and the directories, and never on hooks: an
agent that approves entries by their content (Codex) is asked once, and a hook that changes needs no new entry.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, Scope
from hookline.core.event import GUARDED
from hookline.core.paths import Directories, find_paths
from hookline.deploy.own_entry import Registration
from hookline.dialects.event_lookup import native_events

_SH = ("/bin/sh", "-c")
#: Before a program whose output is held back until it has ended well.
_HELD = "o=$("
_EXEC = "exec "

_TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryCaller:
    """Whom the entries of one file call, and what they say about the person's files."""

    program: str
    scope: Scope | Literal["managed"] = "user"
    #: It never asks the daemon of whoever runs the agent.
    cold: bool = False
    #: None in a project's file, which is the same for everybody.
    directories: Directories | None = None
    #: The directory of the daemon's socket, if it is not in the state directory.
    runtime_dir: str = ""
    #: The file itself, as a person should read it in a refusal.
    file: str = ""

    def words(self, agent: str, event: str) -> list[str]:
        """The command line, without what a failure means."""
        call = [self.program, "hook", "--agent", agent, "--event", event, "--registration", f"{self.scope}/{agent}"]
        return call + self.directory_words() + (["--cold"] if self.cold else [])

    def directory_words(self) -> list[str]:
        own = self.directories
        if own is None:
            return []
        words = ["--home", own.home, "--config-dir", own.paths.config, "--state-dir", own.paths.state]
        if own.paths.data != find_paths({}, own.home).data:
            words += ["--data-dir", own.paths.data]
        return [*words, "--runtime-dir", self.runtime_dir] if self.runtime_dir else words


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """What one entry runs."""

    agent: Agent
    #: Canonical.
    event: str
    caller: EntryCaller
    native: str

    @property
    def closed(self) -> bool:
        """A hookline that cannot answer refuses; otherwise it decides nothing."""
        return self.event in GUARDED

    def text(self) -> str:
        words = self.caller.words(self.agent.name, self.native)
        if not self.closed:
            neutral = self.agent.neutral
            if self.agent.run_with == "nothing":
                return shlex.join(words)
            return _EXEC + shlex.join(words) if neutral is None else f"{shlex.join(words)} || exit {neutral}"
        line = self._blocking(shlex.join([*words, "--on-failure", "deny"]))
        # The person's own shell may be one that reads no such lines (fish).
        return shlex.join([*_SH, line]) if self.agent.run_with in {"$SHELL", "login", "nothing"} else line

    def refusal(self) -> str:
        where = self.caller.file or "the agent's settings"
        return (
            f"hookline failed on {self.native}, so this is refused. If hookline is gone, install it again"
            f" (pip install hookline; from a clone: pip install CLONE) or remove its entries from {where}"
        )

    def _blocking(self, call: str) -> str:
        """Every end that is no answer becomes the agent's own form of a block: the program is broken or gone.

        Where the block is printed, nothing of what the program printed may stand before it: two objects are none.
        """
        block = self.agent.blocks.get(self.event)
        answers = self.agent.answers.get(self.event, (2,))
        passing = "".join(f"[ $c = {code} ] && exit {code}; " for code in answers)
        if block is None:
            return f"{call} || {{ c=$?; {passing}echo {shlex.quote(self.refusal())} >&2; exit 2; }}"
        reason = json.dumps(self.refusal())[1:-1]
        refusal = json.dumps(block).replace("{event}", self.native).replace("{reason}", reason)
        return f'{_HELD}{call}) || {{ c=$?; {passing}o={shlex.quote(refusal)}; }}; printf %s "$o"'


def command_program(command: str) -> str:
    """The program of a registered command; "" if it cannot be read."""
    try:
        if command.startswith(shlex.join(_SH)):
            command = shlex.split(command)[2]
        return shlex.split(command.removeprefix(_HELD).removeprefix(_EXEC).partition(" || ")[0])[0]
    except (ValueError, IndexError):
        return ""


def registrations(agent: Agent, caller: EntryCaller, events: Iterable[str]) -> tuple[Registration, ...]:
    """One for each event, in order; one for each of its own events, where an agent has several for it."""
    known = native_events(agent)
    lines = [
        CommandLine(agent=agent, event=event, caller=caller, native=native)
        for event in events if event in known
        for native in agent.several.get(event, (known[event],))
    ]  # fmt: skip
    return tuple(_entry(line) for line in lines)


def _entry(line: CommandLine) -> Registration:
    agent, event = line.agent, line.event
    timeout = agent.time_limit(event)
    if agent.entries:
        values = {
            "{command}": line.text(), "{timeout}": int(timeout * agent.per_second), "{event}": line.native,
            "{name}": f"hookline-{line.native}",
        }  # fmt: skip
        return Registration(event=line.native, entry=_filled(agent.entries.get(event, agent.entries[""]), values))
    if agent.form == "flat":
        entry: dict[str, Any] = {"type": "command", "bash": line.text(), "timeoutSec": int(timeout)}
        return Registration(event=line.native, entry=entry)
    hook = {"type": "command", "command": line.text(), "timeout": int(timeout * agent.per_second), **agent.extra}
    matcher = {"matcher": agent.everything} if agent.everything and event in _TOOL_EVENTS else {}
    return Registration(event=line.native, entry={**matcher, "hooks": [hook]})


def _filled(form: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(form, Mapping):
        return {key: _filled(value, values) for key, value in form.items()}
    if isinstance(form, list):
        return [_filled(value, values) for value in form]
    return values.get(form, form) if isinstance(form, str) else form
