"""The plugin of an agent that has no hooks file: it asks hookline about each event and does what it is told."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from hookline import __version__
from hookline.core.agents import LONGEST, Agent
from hookline.core.event import GUARDED
from hookline.deploy.registration import EntryCaller
from hookline.dialects.event_lookup import native_events

#: The first line of a plugin of ours.
MARK = "// Written by hookline deploy; taken away by hookline undeploy."
#: Its JavaScript. ``base`` asks hookline. ``socket`` asks the daemon itself, without a process per event, as the clients do
#: (``hookline.daemon.client.twin``); Node cannot ask the system who listens on a socket, but that the directory is ours and
#: closed to everybody else says the same. The part of a dialect is what differs: how its agent loads a plugin, what it
#: gives to it, and what it takes from it.
_FOLDER = os.path.join(os.path.dirname(__file__), "plugins")


def _part(name: str) -> str:
    with open(os.path.join(_FOLDER, f"{name}.js"), encoding="utf-8") as file:
        return file.read()


def plugin_driver(dialect: str) -> str:
    """A program that calls a plugin's own function before a tool; what it refuses with is printed."""
    return _part(f"{dialect}.driver")


def plugin_source(target: Agent, caller: EntryCaller, events: Iterable[str]) -> str:
    """The whole file."""
    known = native_events(target)
    # An agent that gives a plugin little time gets its answer before, from hookline itself.
    longest = min((target.time_limit(event) for event in target.limits), default=LONGEST)
    grace = 10.0 if longest == LONGEST else 0.2
    values = {
        "VERSION": __version__, "PROGRAM": caller.program, "AGENT": target.name,
        "REGISTRATION": f"{caller.scope}/{target.name}", "DIRECTORIES": caller.directory_words(),
        "EVENTS": {known[event]: event in GUARDED for event in events if event in known},
        "LONGEST": longest - grace, "GRACE": grace,
    }  # fmt: skip
    text = _part("base").replace("@MARK@", MARK)
    text = text.replace("@SOCKET@", _part("socket")).replace("@FACE@", _part(target.dialect))
    for name, value in values.items():
        text = text.replace(f"@{name}@", json.dumps(value))
    return text
