"""What stands in the agents' files now: every command of ours, wherever the agent would find it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent
from hookline.core.json_edit import JsonError
from hookline.core.own_registration import is_ours
from hookline.deploy.apply import read
from hookline.deploy.own_entry import entry_commands
from hookline.deploy.plan import own_entries
from hookline.deploy.registration import command_program


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredHook:
    """One registration: the native event and the command line, as the file has them."""

    path: str
    event: str
    #: What the agent gives to its shell; "" for a plugin, which starts the program itself.
    command: str
    program: str
    #: Further words of a plugin's call: the directories, and what a failure means.
    words: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """It refuses when hookline cannot answer."""
        return "--on-failure deny" in (self.command or " ".join(self.words))


def find_registrations(path: str) -> tuple[RegisteredHook, ...]:
    """Every command of ours in one file; none in a file that is not there or cannot be read."""
    text, refused = read(path)
    return () if refused else parse_registered(path, text)


def parse_registered(path: str, text: str | None) -> tuple[RegisteredHook, ...]:
    if text is None or not text.strip("\ufeff \t\r\n"):
        return ()
    if path.endswith((".js", ".ts")):
        return tuple(_of_plugin(path, text))
    try:
        found = own_entries(text, path)
    except JsonError:
        return ()
    lines = ((one.event, line) for one in found for line in entry_commands(one.value) if is_ours(line))
    return tuple(_entry(path, event, line) for event, line in lines)


def find_other_registrations(target: Agent, path: str) -> tuple[RegisteredHook, ...]:
    """Commands of ours in other files that the agent reads beside ``path``: they make every event arrive twice."""
    folder = os.path.dirname(path)
    beside: list[str] = []
    if target.inline:
        beside.append(os.path.join(folder, target.inline))
    if target.scans:
        with suppress(OSError):
            beside += [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    # Two agents may look into one directory: an entry for the other one is its own.
    return tuple(
        entry
        for other in beside
        if other != path
        for entry in find_registrations(other)
        if f"--agent {target.name} " in f"{entry.command} " or " --agent " not in entry.command
    )


def _entry(path: str, event: str, line: str) -> RegisteredHook:
    return RegisteredHook(path=path, event=event, command=line, program=command_program(line))


def _of_plugin(path: str, text: str) -> Iterator[RegisteredHook]:
    found: dict[str, Any] = {}
    for line in text.splitlines():
        for name in ("PROGRAM", "EVENTS", "DIRECTORIES"):
            if line.startswith(f"const {name} = "):
                try:
                    found[name] = json.loads(line.partition(" = ")[2])
                except ValueError:
                    return
    events, program = found.get("EVENTS"), found.get("PROGRAM")
    if not isinstance(events, dict) or not isinstance(program, str):
        return
    more = tuple(map(str, found.get("DIRECTORIES", ())))
    for event, rule in events.items():
        closed = rule[1:2] == [True] if isinstance(rule, list) else rule is True  # a list in earlier versions
        yield RegisteredHook(
            path=path,
            event=event,
            command="",
            program=program,
            words=(*more, *(("--on-failure", "deny") if closed else ())),
        )
